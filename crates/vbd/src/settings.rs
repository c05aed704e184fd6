//! How steps of block descent are made.

/// Where the sweeps of a step begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Where inertia and forces on single vertices lead, as in the article.
    #[default]
    Inertial,
    /// There, with the share of those forces that the vertex followed in the step before.
    Adaptive,
}

/// When pairs are looked for in a step of [`Method::Penalty`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// At the start of the step.
    PreInit,
    /// At the start of the step, and again after the inertial start.
    #[default]
    PrePostInit,
    /// At the start of the step, and before every so many iterations after the first.
    Iterations(u32),
}

/// How far [`Method::Alm`] lets a vertex go from a detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    /// Into a ball: motion back is always free.
    #[default]
    Ball,
    /// Along a path no longer than the budget, as in the article: once it is spent, nothing moves the vertex any more.
    PathLength,
}

/// What keeps surfaces apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Penalty forces; every colour's motion is divided and truncated (`penalty_dat`).
    Penalty {
        /// When pairs are looked for.
        schedule: Schedule,
    },
    /// Contact rows with multipliers; trial positions are free and committed in rounds (`alm_dat`).
    Alm(Alm),
}

/// Settings of [`Method::Alm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alm {
    /// Iterations from one round within the loop to the next; 0: none.
    pub interval: u32,
    /// Rounds after the iterations.
    pub rounds: u32,
    /// More rounds for as long as they commit something.
    pub auto_rounds: bool,
    /// How the budget of a detection is spent.
    pub budget: Budget,
    /// A detection reaches as far as the step wants to go, within half the smallest rest edge.
    pub adaptive_reach: bool,
    /// Looks for pairs anew at a commit where the budget cut something short.
    pub redetect: bool,
    /// Factor on the inertial support of a row's multiplier update.
    pub support: f64,
    /// Share of a normal multiplier that the next step starts with.
    pub normal_memory: f64,
    /// The same for tangential multipliers.
    pub tangential_memory: f64,
}

impl Default for Alm {
    fn default() -> Self {
        Self {
            interval: 1,
            rounds: 1,
            auto_rounds: true,
            budget: Budget::Ball,
            adaptive_reach: true,
            redetect: true,
            support: 1.0,
            normal_memory: 0.999,
            tangential_memory: 1.0,
        }
    }
}

impl Alm {
    /// The settings that reproduce the article's solver with its known failure.
    pub fn article() -> Self {
        Self {
            auto_rounds: false,
            budget: Budget::PathLength,
            adaptive_reach: false,
            redetect: false,
            ..Self::default()
        }
    }
}

/// Contact of block descent, beside what every solver reads from the scene: `dhat` is the margin, the distance at which
/// forces begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRule {
    /// What keeps surfaces apart.
    pub method: Method,
    /// Pairs are looked for this much further than the margin (m).
    pub gap: f64,
    /// Damping of closing motion within the margin (N s/m).
    pub damping: f64,
    /// Share of the way to a separating plane, and of half the reach of a detection, that a vertex may go.
    pub relaxation: f64,
    /// Pairs closer than so many edges on the mesh exert no force on each other.
    pub rings: u32,
    /// Whether motion that a plane stops may go on along it ([`Method::Penalty`]); else all of a vertex's motion is shortened,
    /// as in the article.
    pub slide: bool,
    /// Whether such pairs may also pass through each other, as in the article's solver.
    pub filter_truncation: bool,
}

impl Default for ContactRule {
    fn default() -> Self {
        Self {
            method: Method::Penalty { schedule: Schedule::PrePostInit },
            gap: 0.0,
            damping: 0.0,
            relaxation: 0.85,
            rings: 2,
            slide: false,
            filter_truncation: false,
        }
    }
}

/// Settings of block descent.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Length of a step (s).
    pub dt: f64,
    /// Sweeps over all colours a step.
    pub iterations: u32,
    /// The sweeps end early once no coordinate of any step is larger (m); 0: never.
    pub tolerance: f64,
    /// Where the sweeps begin.
    pub start: Start,
    /// Factor on the step of every vertex.
    pub ratio: f64,
    /// Contact; it acts where the model has contact at all.
    pub contact: ContactRule,
    /// Whether step records hold the energy of every term.
    pub record_energies: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 0.01,
            iterations: 10,
            tolerance: 0.0,
            start: Start::default(),
            ratio: 1.0,
            contact: ContactRule::default(),
            record_energies: false,
        }
    }
}
