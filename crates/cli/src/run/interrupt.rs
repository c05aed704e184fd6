//! Ctrl-C and the system's request to end: finish the step, leave a checkpoint.

use std::io::Write as _;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static REQUESTS: AtomicU32 = AtomicU32::new(0);
static INSTALL: Once = Once::new();

/// From now on the first Ctrl-C asks for an end after the step, the second ends the process.
pub(crate) fn watch() {
    REQUESTS.store(0, Ordering::Relaxed);
    INSTALL.call_once(|| {
        // Where a handler can't be installed, Ctrl-C kills as ever and the last checkpoint stays.
        ctrlc::set_handler(|| {
            if REQUESTS.fetch_add(1, Ordering::Relaxed) == 0 {
                let text = "\nstopping after this step; once more stops at once";
                writeln!(std::io::stderr(), "{text}").ok();
            } else {
                std::process::exit(1);
            }
        })
        .ok();
    });
}

/// Whether an end was asked for.
pub(crate) fn requested() -> bool {
    REQUESTS.load(Ordering::Relaxed) > 0
}
