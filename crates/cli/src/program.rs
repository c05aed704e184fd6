//! Which build of the program this is: a run that another one made may differ.

use std::sync::OnceLock;

/// The checksum of this program's file, in hexadecimal digits; `None` where the file can't be read.
pub(crate) fn identity() -> Option<&'static str> {
    static IDENTITY: OnceLock<Option<String>> = OnceLock::new();
    let of_file = || {
        let bytes = std::fs::read(std::env::current_exe().ok()?).ok()?;
        Some(format!("{:08x}", crc32fast::hash(&bytes)))
    };
    IDENTITY.get_or_init(of_file).as_deref()
}
