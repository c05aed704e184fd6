//! Peak memory of the process, where the system tells.

/// Most memory that the process has held at once [bytes]: `VmHWM` on Linux, absent elsewhere.
pub(crate) fn peak() -> Option<u64> {
    read(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Starts the peak anew, where the system allows it.
pub(crate) fn reset_peak() {
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

fn read(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_high_water_mark() {
        let status = "Name:\tgusset\nVmPeak:\t  99 kB\nVmHWM:\t   1234 kB\n";
        assert_eq!(read(status), Some(1234 * 1024));
        assert_eq!(read("VmHWM:\tmany\n"), None);
        assert_eq!(read(""), None);
    }
}
