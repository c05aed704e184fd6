//! Threads between pairs of vertices:
//!
//! ```text
//! E = 1/2 k (d - L)^2,    d = |x_1 - x_0|
//! ```
//!
//! with a length `L` that may be shortened over time (bag article, section 5). The assembled Hessian is
//! `k [n n^T + max(0, 1 - L/d) (I - n n^T)]` for the difference of the two points, with `n = (x_1 - x_0)/d`: exact for a
//! stretched thread, without the negative part of a compressed one. A thread that may hang slack has no energy where
//! `d < L`: it pulls, but doesn't push.

mod pairs;

use gusset_energy::{
    At, Batch, Blocks, BuildError, Curve, Element, Energy, Interpolation, Mat3, OneOrEach, Scalar,
    Site, Terms, Vec3, Window, fields, non_negative, register,
};
use gusset_units::{Length, Stiffness, Time};
pub use pairs::{Across, Around};

/// Threads that pull pairs of vertices to a length.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    /// Pairs of vertices; the second index is one of `other` where that is given.
    #[serde(default)]
    pairs: Vec<[u32; 2]>,
    /// Threads along a ring of vertices.
    #[serde(default)]
    around: Vec<Around>,
    /// Threads from each vertex of one list to the same place in another.
    #[serde(default)]
    across: Vec<Across>,
    /// Body of each pair's second vertex; the same body when absent.
    #[serde(default)]
    other: Option<String>,
    /// Stiffness of a thread, 250 N/m when absent.
    #[serde(default = "default_stiffness")]
    stiffness: Stiffness,
    /// Length of the threads: one for all, or a list in the order of `pairs`, `around`, `across`; the distance at the
    /// start when absent.
    #[serde(default)]
    length: Option<OneOrEach<Length>>,
    /// Length over time; straight lines between the keys.
    #[serde(default)]
    shorten: Vec<LengthKey>,
    /// Whether the threads may hang slack, as real ones do: then they pull but don't push. false where absent, as in
    /// the bag article.
    #[serde(default)]
    slack: bool,
    /// When the threads are tied.
    #[serde(default)]
    from: Option<Time>,
    /// When they are cut.
    #[serde(default)]
    release: Option<Time>,
}

/// The length of the threads at one time: `length` for all, or a `factor` of the length they have otherwise.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthKey {
    /// When.
    time: Time,
    /// Length of every thread.
    #[serde(default)]
    length: Option<Length>,
    /// Length over the one that the thread has without `shorten`.
    #[serde(default)]
    factor: Option<f64>,
}

fn default_stiffness() -> Stiffness {
    Stiffness::new_si(250.0)
}

fields! {
    /// A thread.
    pub struct Thread<S> {
        /// `k` (N/m).
        pub stiffness: S,
        /// `L` (m).
        pub length: S,
        /// 1 for a thread that also pushes, 0 for one that may hang slack.
        pub push: S,
    }
}

impl<S: Scalar> Thread<S> {
    /// The share of its stiffness that a thread has at a stretch (m).
    fn share(&self, stretch: S) -> S {
        S::select_lt(stretch, S::lit(0.0), self.push, S::lit(1.0))
    }
}

impl Element<2> for Tie {
    type Params<S: Scalar> = Thread<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 2>, p: &Thread<S>) -> S {
        let stretch = (at.x[1] - at.x[0]).norm() - p.length;
        p.stiffness * 0.5 * stretch * stretch * p.share(stretch)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 2>, p: &Thread<S>, out: &mut Blocks<2, S>) {
        let r = at.x[1] - at.x[0];
        let d = r.norm();
        // A thread between two vertices in one place has no direction and no force.
        let (zero, one) = (S::lit(0.0), S::lit(1.0));
        let n = Vec3::select_lt(zero, d, r / d, r);
        let slack = S::select_lt(zero, p.length, zero, one);
        let sideways = S::select_lt(p.length, d, one - p.length / d, slack);
        let share = p.share(d - p.length);
        let force = n * (p.stiffness * (d - p.length) * share);
        let along = n.outer(n);
        let block = (along * share + (Mat3::identity() - along) * sideways) * p.stiffness;
        out.gradient = [-force, force];
        out.hessian = [[block, -block], [-block, block]];
    }
}

/// How the lengths change with time.
enum Shortening {
    /// One length for all threads (m).
    Length(Curve<1>),
    /// A factor on each thread's own length.
    Factor(Curve<1>, Vec<f64>),
}

impl Energy for Tie {
    const KIND: &'static str = "tie";
    const ABOUT: &'static str = "Threads that pull pairs of vertices to a length";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let body = site.body()?;
        let pairs = self.world_pairs(site)?;
        let window = Window::new(self.from, self.release, site.units, "release")?;
        let stiffness = non_negative(self.stiffness.si(site.units), "stiffness", "N/m")?;
        let start = |v: u32| {
            let holder = site.world.body_of(v).unwrap_or(body);
            holder.start[(v - holder.first) as usize]
        };
        let length = match self.length.as_ref() {
            Some(given) => given.clone().map(|l| l.si(site.units)).each(pairs.len(), "length")?,
            None => pairs.iter().map(|&[i, j]| start(i).distance(start(j))).collect(),
        };
        for &l in &length {
            non_negative(l, "length", "m")?;
        }
        let shortening = self.shortening(&length, site)?;
        let push = if self.slack { 0.0 } else { 1.0 };
        let thread = |(&pair, &length)| (pair, Thread { stiffness, length, push });
        let threads = pairs.iter().zip(&length).map(thread);
        let batch = Batch::<Self, 2>::new(Self::KIND, site.label(), threads);
        out.push(batch.with_schedule(window, move |t, k, thread| match &shortening {
            Some(Shortening::Length(length)) => thread.length = length.at(t)[0],
            Some(Shortening::Factor(factor, length)) => thread.length = factor.at(t)[0] * length[k],
            None => {}
        }));
        Ok(())
    }
}

impl Tie {
    fn shortening(
        &self,
        length: &[f64],
        site: &Site<'_>,
    ) -> Result<Option<Shortening>, BuildError> {
        if self.shorten.is_empty() {
            return Ok(None);
        }
        let curve = |value: &dyn Fn(&LengthKey) -> Option<f64>| {
            let keys = self.shorten.iter().map(|k| Some((k.time.si(site.units), [value(k)?])));
            let keys: Option<Vec<_>> = keys.collect();
            keys.map(|keys| Curve::new(keys, Interpolation::Linear, "shorten"))
        };
        let lengths = curve(&|key| key.length.map(|l| l.si(site.units)));
        let factors = curve(&|key| key.factor);
        match (lengths, factors) {
            (Some(curve), None) => Ok(Some(Shortening::Length(curve?))),
            (None, Some(curve)) => Ok(Some(Shortening::Factor(curve?, length.to_vec()))),
            _ => {
                Err(BuildError::value("shorten", "its keys all have a `length`, or all a `factor`"))
            }
        }
    }
}

register!(Tie);

#[cfg(test)]
mod tests;
