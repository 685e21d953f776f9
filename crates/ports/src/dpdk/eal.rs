//! DPDK's environment: started once per process, when the first device is opened, without any device.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::options::{EalOptions, Hugepages};
use super::shim::Shim;
use crate::PortError;

#[derive(Clone, Copy)]
enum State {
    Idle,
    Started,
    /// DPDK can't be started again after a failure.
    Failed,
}

/// Starts DPDK unless it runs.
pub(super) fn start(shim: &'static Shim, options: &EalOptions) -> Result<(), PortError> {
    static STATE: Mutex<State> = Mutex::new(State::Idle);
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    match *state {
        State::Started => return Ok(()),
        State::Failed => {
            let reason = "it failed before in this process, and can be tried once only".into();
            return Err(PortError::DpdkStart { reason });
        }
        State::Idle => {}
    }
    let huge = use_hugepages(options, free_hugepages_mib(Path::new("/sys/kernel/mm/hugepages")))?;
    let pci = Path::new("/sys/bus/pci/devices").exists();
    let cores = if options.cores.is_empty() { own_cores() } else { options.cores.clone() };
    let arguments = arguments(options, huge, pci, &cores, std::process::id());
    *state = State::Failed;
    // It binds its thread to the cores it gets; on a thread of its own, nobody else's is bound.
    let code = std::thread::scope(|scope| scope.spawn(move || run(shim, &arguments)).join());
    match code {
        Ok(0) => {
            *state = State::Started;
            Ok(())
        }
        Ok(_) => Err(PortError::DpdkStart { reason: shim.last_words() }),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn run(shim: &'static Shim, arguments: &[String]) -> i32 {
    let echo = std::env::var_os("FLOWGAUGE_DEBUG").is_some_and(|value| !value.is_empty());
    let strings = arguments.iter().map(|text| CString::new(text.as_str()).expect("no zero bytes in options"));
    // DPDK keeps the pointers: the strings stay for ever.
    let mut pointers: Vec<*mut c_char> = strings.map(CString::into_raw).collect();
    // SAFETY: as many strings as it is told, that outlive the process's use of them.
    unsafe {
        (shim.log_echo)(echo as i32);
        (shim.start)(pointers.len() as i32, pointers.as_mut_ptr())
    }
}

/// The command line that DPDK gets: no files that others could stumble over, memory that a vhost-user peer can map, no
/// devices yet.
fn arguments(options: &EalOptions, huge: bool, pci: bool, cores: &[usize], process: u32) -> Vec<String> {
    let prefix = options.file_prefix.clone().unwrap_or_else(|| format!("flowgauge-{process}"));
    let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
    let mut all = vec![
        "flowgauge".to_owned(),
        format!("--lcores=0@({})", cores.join(",")),
        format!("--file-prefix={prefix}"),
        "--no-telemetry".to_owned(),
        "-m".to_owned(),
        options.memory_mib.to_string(),
    ];
    let memory: &[&str] =
        if huge { &["--in-memory", "--single-file-segments"] } else { &["--no-huge", "--no-shconf"] };
    // With --no-pci no card could be added later: so one is allowed that nothing drives.
    let devices: &[&str] = if pci { &["-a", "0000:00:00.0"] } else { &["--no-pci"] };
    all.extend(memory.iter().chain(devices).map(|text| text.to_string()));
    all
}

/// Whether memory is to lie in hugepages, given how much of it is free.
fn use_hugepages(options: &EalOptions, free_mib: u64) -> Result<bool, PortError> {
    let enough = free_mib >= options.memory_mib as u64;
    match options.hugepages {
        Hugepages::No => Ok(false),
        Hugepages::Auto => Ok(enough),
        Hugepages::Yes if enough => Ok(true),
        Hugepages::Yes => Err(PortError::Hugepages { needed_mib: options.memory_mib as u64, free_mib }),
    }
}

/// Free hugepages of all sizes, in MiB.
fn free_hugepages_mib(sizes: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(sizes) else { return 0 };
    let free = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let pages: u64 =
            std::fs::read_to_string(entry.path().join("free_hugepages")).ok()?.trim().parse().ok()?;
        Some(kib * pages / 1024)
    });
    free.sum()
}

/// The cores that this process may run on.
fn own_cores() -> Vec<usize> {
    // SAFETY: all zeros is an empty set, and the call writes no more than its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of_val(&set), &mut set) != 0 {
            return vec![0];
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hugepages_are_used_when_enough_are_free() {
        let want = |hugepages, free| use_hugepages(&EalOptions { hugepages, ..Default::default() }, free);
        assert!(want(Hugepages::Auto, 256).unwrap() && !want(Hugepages::Auto, 255).unwrap());
        assert!(!want(Hugepages::No, 9999).unwrap());
        let error = want(Hugepages::Yes, 10).unwrap_err();
        assert_eq!(error.name(), "hugepages");
        assert_eq!(error.to_string(), "DPDK needs 256 MiB of hugepages; 10 MiB are free");
        assert!(error.advice().contains("nr_hugepages"), "{}", error.advice());
    }

    #[test]
    fn starts_without_devices_and_beside_others() {
        let options = EalOptions::default();
        let with = arguments(&options, true, true, &[0, 1], 7).join(" ");
        assert_eq!(
            with,
            "flowgauge --lcores=0@(0,1) --file-prefix=flowgauge-7 --no-telemetry -m 256 \
             --in-memory --single-file-segments -a 0000:00:00.0"
        );
        let without = arguments(&options, false, false, &[3], 7).join(" ");
        assert!(without.ends_with("--no-huge --no-shconf --no-pci"), "{without}");
    }

    #[test]
    fn counts_free_hugepages_of_all_sizes() {
        let root = std::env::temp_dir().join(format!("fg-hugepages-{}", std::process::id()));
        for (size, free) in [("hugepages-2048kB", "3\n"), ("hugepages-1048576kB", "1\n"), ("other", "9")] {
            std::fs::create_dir_all(root.join(size)).unwrap();
            std::fs::write(root.join(size).join("free_hugepages"), free).unwrap();
        }
        assert_eq!(free_hugepages_mib(&root), 1024 + 6);
        std::fs::remove_dir_all(root).unwrap();
        assert_eq!(free_hugepages_mib(Path::new("/nowhere")), 0);
    }
}
