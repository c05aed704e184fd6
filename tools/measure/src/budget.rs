//! The time that a measurement may take.

use std::time::Instant;

/// A clock with an end.
pub(crate) struct Budget {
    begin: Instant,
    seconds: f64,
}

impl Budget {
    pub(crate) fn new(seconds: f64) -> Self {
        Self { begin: Instant::now(), seconds }
    }

    pub(crate) fn spent(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Seconds that are left.
    pub(crate) fn left(&self) -> f64 {
        (self.seconds - self.spent()).max(0.0)
    }

    /// Whether something that probably takes so many seconds may begin, else why not.
    pub(crate) fn allows(&self, what: &str, seconds: f64) -> Result<(), String> {
        let left = self.left();
        if seconds <= left {
            return Ok(());
        }
        Err(format!("{what}: would take some {seconds:.0} s, and {left:.0} s are left"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let budget = Budget::new(100.0);
        assert!(budget.allows("a sheet", 99.0).is_ok());
        let why = budget.allows("a sheet", 200.0).unwrap_err();
        assert!(why.starts_with("a sheet: would take some 200 s, and "), "{why}");
        assert!(Budget::new(0.0).left() == 0.0);
    }
}
