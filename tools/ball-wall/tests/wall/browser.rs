//! Node and Chromium, where the machine has them.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Tells that a test could not run, where nobody can miss it.
fn skip(test: &str, program: &str) {
    // Not `eprintln!`, which the test harness captures.
    let _ = writeln!(io::stderr(), "SKIPPED {test}: `{program}` was not found");
}

/// What a script prints in node; `None` where there is no node.
pub(crate) fn node(test: &str, script: &str) -> Option<String> {
    let child = Command::new("node")
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        skip(test, "node");
        return None;
    };
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The document that a page has become after its scripts ran; `None` where there is no Chromium.
pub(crate) fn chromium(test: &str, page: &Path, profile: &Path) -> Option<String> {
    for program in ["chromium", "chromium-browser", "google-chrome"] {
        let output = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
            ])
            .args(["--window-size=1280,1900", "--virtual-time-budget=20000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", page.display()))
            .output();
        if let Ok(output) = output {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            return Some(String::from_utf8(output.stdout).unwrap());
        }
    }
    skip(test, "chromium");
    None
}
