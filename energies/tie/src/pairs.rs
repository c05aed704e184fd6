//! Which vertices are tied together.

use crate::Tie;
use gusset_energy::{BuildError, Selection, Site};
use gusset_mesh::Body;

/// Threads along a ring of vertices: from every vertex to the one `step` places further, past the end of the list back
/// to its beginning.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// The vertices of the ring, in order.
    ring: Selection,
    /// How many places further a thread ends; half the ring gives each diameter once.
    step: u32,
    /// Place in the ring where the first thread starts.
    #[serde(default)]
    first: u32,
    /// Threads start at every so many places.
    #[serde(default = "one")]
    every: u32,
}

fn one() -> u32 {
    1
}

/// Threads between two lists of vertices, place by place.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Across {
    /// First end of each thread.
    from: Selection,
    /// Second end of each thread, of the body `other` where that is given.
    to: Selection,
}

impl Around {
    fn pairs(&self, body: &Body, site: &Site<'_>) -> Result<Vec<[u32; 2]>, BuildError> {
        let ring = self.ring.resolve(body, site.units, "around")?;
        let (count, step) = (ring.len(), self.step as usize);
        if step == 0 || step >= count || self.every == 0 {
            return Err(BuildError::value(
                "around",
                format!(
                    "has step = {step} and every = {} on a ring of {count}; step lies between 1 and {}, every is 1 or more",
                    self.every,
                    count - 1
                ),
            ));
        }
        // From both ends of a diameter starts the same thread.
        let starts = if 2 * step == count { step } else { count };
        let starts = (self.first as usize..starts).step_by(self.every as usize);
        Ok(starts.map(|k| [ring[k], ring[(k + step) % count]]).collect())
    }
}

impl Tie {
    /// World indices of both ends of every thread.
    pub(crate) fn world_pairs(&self, site: &Site<'_>) -> Result<Vec<[u32; 2]>, BuildError> {
        let body = site.body()?;
        let other = match &self.other {
            None => body,
            Some(_) if !self.around.is_empty() => {
                return Err(BuildError::value("around", "lies within one body; leave out `other`"));
            }
            Some(name) => site
                .world
                .body(name)
                .ok_or_else(|| BuildError::value("other", format!("there is no body `{name}`")))?,
        };
        let mut pairs = self.pairs.clone();
        for around in &self.around {
            pairs.extend(around.pairs(body, site)?);
        }
        for across in &self.across {
            let from = across.from.resolve(body, site.units, "across")?;
            let to = across.to.resolve(other, site.units, "across")?;
            if from.len() != to.len() {
                let found =
                    format!("goes from {} vertices to {}; it needs as many", from.len(), to.len());
                return Err(BuildError::value("across", found));
            }
            pairs.extend(from.into_iter().zip(to).map(|(i, j)| [i, j]));
        }
        if pairs.is_empty() {
            return Err(BuildError::value(
                "pairs",
                "no thread is tied: give `pairs`, `around` or `across`",
            ));
        }
        let world = |body: &Body, v: u32| {
            if (v as usize) < body.vertex_count() {
                return Ok(v + body.first);
            }
            let count = body.vertex_count();
            let found = format!("vertex {v} does not exist: `{}` has {count} vertices", body.name);
            Err(BuildError::value("pairs", found))
        };
        let pairs: Vec<[u32; 2]> = pairs
            .into_iter()
            .map(|[i, j]| Ok([world(body, i)?, world(other, j)?]))
            .collect::<Result<_, BuildError>>()?;
        if let Some([i, _]) = pairs.iter().find(|[i, j]| i == j) {
            let found = format!("ties {} to itself", site.world.describe(*i));
            return Err(BuildError::value("pairs", found));
        }
        Ok(pairs)
    }
}
