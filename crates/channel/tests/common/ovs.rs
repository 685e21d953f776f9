//! A private Open vSwitch for live tests: own directory, own database, own network namespace, user-space datapath.
//! Everything is removed on drop.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Why live tests can't run here, if they can't: printed by tests that skip themselves.
pub fn missing() -> Option<String> {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        return Some("not root".to_owned());
    }
    let found = |tool: &&str| {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|d| PathBuf::from(d).join(tool).exists())
    };
    let tools = ["ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl", "ip"];
    if let Some(tool) = tools.iter().find(|tool| !found(tool)) {
        return Some(format!("no {tool}"));
    }
    let others = [SCHEMA, "/dev/net/tun"];
    others.iter().find(|path| !PathBuf::from(path).exists()).map(|path| format!("no {path}"))
}

/// A running Open vSwitch with one bridge, `br0`.
pub struct Ovs {
    /// Name of its network namespace.
    pub netns: String,
    directory: PathBuf,
    children: Vec<Child>,
}

impl Ovs {
    /// Starts it. `name` must be unique among tests that run at once.
    pub fn start(name: &str) -> Ovs {
        let netns = format!("fg-ch-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(&netns);
        std::fs::create_dir(&directory).unwrap();
        run("ip", &["netns", "add", &netns]);
        // From here on, drop removes what has been made.
        let mut ovs = Ovs { netns, directory, children: Vec::new() };
        run("ip", &["-n", &ovs.netns, "link", "set", "lo", "up"]);
        let (database, socket) = (ovs.path("conf.db"), ovs.path("db.sock"));
        run("ovsdb-tool", &["create", &database, SCHEMA]);
        ovs.spawn("ovsdb-server", &[&database, &format!("--remote=punix:{socket}")]);
        ovs.spawn("ovs-vswitchd", &[&format!("unix:{socket}"), "--disable-system"]);
        ovs.vsctl(&[
            "add-br",
            "br0",
            "--",
            "set",
            "bridge",
            "br0",
            "datapath_type=netdev",
            "fail_mode=secure",
        ]);
        ovs
    }

    /// A file in its directory.
    pub fn path(&self, file: &str) -> String {
        self.directory.join(file).display().to_string()
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let pidfile = self.path(&format!("{program}.pid"));
        let child = Command::new("ip")
            .args(["netns", "exec", &self.netns, program])
            .args(arguments)
            .args([
                format!("--pidfile={pidfile}"),
                format!("--unixctl={}", self.path(&format!("{program}.ctl"))),
            ])
            .arg(format!("--log-file={}", self.path(&format!("{program}.log"))))
            .env("OVS_RUNDIR", &self.directory)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.children.push(child);
        let start = Instant::now();
        while !PathBuf::from(&pidfile).exists() {
            assert!(start.elapsed() < Duration::from_secs(20), "{program} does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Runs ovs-vsctl on the private database, waiting for the switch to follow.
    pub fn vsctl(&self, arguments: &[&str]) {
        let database = format!("--db=unix:{}", self.path("db.sock"));
        run("ovs-vsctl", &[&[&*database, "--timeout=20"], arguments].concat());
    }

    /// Sends a signal to ovs-vswitchd.
    pub fn signal_vswitchd(&self, signal: i32) {
        // SAFETY: the process is our own child and has not been waited for.
        unsafe { libc::kill(self.children[1].id() as i32, signal) };
    }
}

impl Drop for Ovs {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = Command::new("ip").args(["netns", "del", &self.netns]).status();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
