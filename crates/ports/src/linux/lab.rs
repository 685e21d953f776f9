//! Where the tests of the backends play: a veth pair in a network namespace of its own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A namespace with a veth pair `va`, `vb` in it, both up, each with as many queues as asked for; removed at the end.
pub(crate) struct Lab(String);

impl Lab {
    /// `None`, with the reason printed, when this process may not. `test` is unique within the process.
    pub(crate) fn new(test: &str, queues: u32) -> Option<Lab> {
        // SAFETY: no memory is involved.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("skipped: {test} makes a network namespace, which needs root");
            return None;
        }
        let lab = Lab(format!("fg-ports-{}-{test}", std::process::id()));
        let made = Command::new("ip").args(["netns", "add", &lab.0]).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: {test} could not make a network namespace with `ip netns add`");
            return None;
        }
        let end = format!("numrxqueues {queues} numtxqueues {queues}");
        lab.ip(&format!("link add name va {end} type veth peer name vb {end}"));
        lab.ip("link set va up");
        lab.ip("link set vb up");
        Some(lab)
    }

    /// The namespace.
    pub(crate) fn netns(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Takes `vb` down, and waits until the kernel has told `va`, which it does in its own time.
    pub(crate) fn cut(&self) {
        self.ip("link set vb down");
        let deadline = Instant::now() + Duration::from_secs(5);
        while !self.ip("link show va").contains("NO-CARRIER") {
            assert!(Instant::now() < deadline, "va has lost its carrier");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// `ip` inside the namespace; what it printed.
    pub(crate) fn ip(&self, arguments: &str) -> String {
        let output = Command::new("ip").args(["-n", &self.0]).args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}
