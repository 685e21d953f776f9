//! On virtual devices, in ordinary pages. Skipped, saying so, where libdpdk is not installed.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::*;
use crate::linux::Lab;

/// How long anything may take on a host that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tests take turns: they share DPDK's memory, its table of devices and its one interrupt thread.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shim, built once; `None`, with the reason printed, without libdpdk.
fn shim_for(test: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        if let Some(path) = std::env::var_os("FLOWGAUGE_DPDK_SHIM") {
            return Some(path.into());
        }
        let path = std::env::current_exe().ok()?.with_file_name(format!("shim-{}.so", std::process::id()));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/dpdk/shim/build.sh");
        let built = Command::new(script).arg(&path).status().ok()?;
        built.success().then_some(path)
    };
    let shim = BUILT.get_or_init(build).clone();
    if shim.is_none() {
        eprintln!(
            "skipped: {test} needs libdpdk and a C compiler (apt-get install libdpdk-dev pkg-config gcc)"
        );
    }
    shim
}

fn options(device: impl Into<String>, shim: PathBuf) -> DpdkOptions {
    let eal = EalOptions { hugepages: Hugepages::No, memory_mib: 384, ..Default::default() };
    DpdkOptions { shim: Some(shim), eal, ..DpdkOptions::new(device) }
}

fn open_here(device: Device, test: &str) -> Option<DpdkPort> {
    Some(open(&options(device, shim_for(test)?)).unwrap())
}

/// Frames of `len` bytes that number themselves in bytes 14 and 15.
fn send(port: &mut dyn Port, numbers: std::ops::Range<u16>, len: usize) {
    let mut burst = Burst::new();
    let deadline = Instant::now() + PATIENCE;
    for number in numbers {
        assert_eq!(port.alloc(&mut burst, 1), 1);
        let slot = burst.last_mut().unwrap();
        slot.set_len(len);
        slot.bytes_mut().fill(0x5a);
        slot.bytes_mut()[12..16].copy_from_slice(&[0x88, 0xb5, (number >> 8) as u8, number as u8]);
        while burst.room() == 0 && Instant::now() < deadline {
            port.tx(&mut burst).unwrap();
        }
    }
    while !burst.is_empty() && Instant::now() < deadline {
        port.tx(&mut burst).unwrap();
    }
    assert!(burst.is_empty(), "the port does not take them");
}

/// The numbers of our frames that arrive until there are `n`, or patience ends.
fn receive(port: &mut dyn Port, n: usize, len: usize) -> Vec<u16> {
    let (mut numbers, mut burst) = (Vec::new(), Burst::new());
    let deadline = Instant::now() + PATIENCE;
    while numbers.len() < n && Instant::now() < deadline {
        port.rx(&mut burst, 64).unwrap();
        for slot in burst.iter().filter(|slot| slot.bytes()[12..14] == [0x88, 0xb5]) {
            assert_eq!(slot.len(), len);
            numbers.push(u16::from_be_bytes([slot.bytes()[14], slot.bytes()[15]]));
        }
        port.free(&mut burst);
    }
    numbers
}

/// A directory of the test's own.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("fg-dpdk-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_ring_brings_frames_back_in_order() {
    let _turn = turn();
    let Some(mut port) = open_here(Device::ring(), "ring") else { return };
    assert_eq!(port.capabilities().link_mbps, None);
    for len in [60, 64, 1518] {
        send(&mut port, 0..500, len);
        assert_eq!(receive(&mut port, 500, len), (0..500).collect::<Vec<_>>());
    }
    let stats = port.stats();
    assert_eq!((stats.tx_frames, stats.rx_frames, stats.rx_dropped, stats.link_up), (1500, 1500, 0, true));
    port.check().unwrap();
    let mut burst = Burst::new();
    port.alloc(&mut burst, 2);
    burst.iter_mut().for_each(|slot| slot.set_len(1519));
    let error = port.tx(&mut burst).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("port {} takes frames of 1518 bytes without FCS, not 1519", port.describe())
    );
    port.free(&mut burst);
    assert!(burst.is_empty());
}

#[test]
fn a_device_opens_again_and_again_and_leaves_no_memory_behind() {
    let _turn = turn();
    let Some(shim) = shim_for("again") else { return };
    // More in all than DPDK has memory.
    for round in 0..60 {
        let mut port = open(&options(format!("net_ring_again{}", round % 2), shim.clone())).unwrap();
        // Each trial has a thread of its own.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                send(&mut port, 0..100, 60);
                let n = receive(&mut port, 90, 60).len();
                assert!(n >= 90, "{n}");
            });
        });
    }
}

#[test]
fn frames_on_loan_when_the_port_closes_stay_readable() {
    let _turn = turn();
    let Some(mut port) = open_here(Device::ring(), "loan") else { return };
    let mut burst = Burst::new();
    port.alloc(&mut burst, 3);
    burst.iter_mut().for_each(|slot| slot.set_len(60));
    burst[1].bytes_mut().fill(7);
    drop(port);
    assert_eq!(burst[1].bytes(), [7; 60]);
}

#[test]
fn a_null_device_takes_all_and_gives_nothing() {
    let _turn = turn();
    let Some(mut port) = open_here(Device::null(), "null") else { return };
    for _ in 0..1000 {
        send(&mut port, 0..64, 60);
    }
    let mut burst = Burst::new();
    assert_eq!(port.rx(&mut burst, 64).unwrap(), 0);
    assert_eq!((port.stats().tx_frames, port.stats().tx_errors), (64_000, 0));
}

#[test]
fn files_hold_what_was_sent_and_are_received() {
    let _turn = turn();
    let Some(shim) = shim_for("pcap") else { return };
    let scratch = Scratch::new("pcap");
    let (first, second, third) = (scratch.0.join("1"), scratch.0.join("2"), scratch.0.join("3"));
    // An empty capture to receive from.
    let mut empty = Vec::new();
    crate::pcap::Format::Pcap.start(&[], 0, &mut empty);
    std::fs::write(&first, empty).unwrap();
    let mut port = open(&options(Device::pcap(&first, &second), shim.clone())).unwrap();
    send(&mut port, 0..50, 200);
    drop(port);
    let mut port = open(&options(Device::pcap(&second, &third), shim)).unwrap();
    assert_eq!(receive(&mut port, 50, 200), (0..50).collect::<Vec<_>>());
    assert_eq!(port.capabilities().rx_stamps, StampSource::User, "a file's times are not the tester's");
}

#[test]
fn memif_joins_two_ports() {
    let _turn = turn();
    let Some(shim) = shim_for("memif") else { return };
    let scratch = Scratch::new("memif");
    let socket = scratch.0.join("socket");
    let side =
        |server| DpdkOptions { link_wait: PATIENCE, ..options(Device::memif(&socket, server), shim.clone()) };
    // The server has no link before the client is there.
    let hasty = DpdkOptions { link_wait: Duration::from_millis(1), ..side(true) };
    assert_eq!(open(&hasty).err().unwrap().name(), "dpdk-device");
    let both = || {
        let server = std::thread::spawn({
            let options = side(true);
            move || open(&options)
        });
        // A client is refused where no server listens.
        until(|| socket.exists());
        let client = open(&side(false));
        (server.join().unwrap().unwrap(), client.unwrap())
    };
    let (mut a, mut b) = both();
    // The client's receive side offers its buffers when it is first polled.
    b.rx(&mut Burst::new(), 1).unwrap();
    send(&mut a, 0..300, 60);
    assert_eq!(receive(&mut b, 300, 60), (0..300).collect::<Vec<_>>());
    send(&mut b, 0..300, 128);
    assert_eq!(receive(&mut a, 300, 128), (0..300).collect::<Vec<_>>());
    drop(b);
    let error = until_down(&mut a);
    assert!(error.to_string().contains("the link is down"), "{error}");
    drop(a);
    // One closes while DPDK learns that the other has.
    for _ in 0..20 {
        drop(both());
    }
}

/// Waits for something to happen, while patience lasts.
fn until(mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "it did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What the port says when its link went, while patience lasts.
fn until_down(port: &mut DpdkPort) -> PortError {
    let mut error = None;
    until(|| {
        error = port.check().err();
        error.is_some()
    });
    error.unwrap()
}

#[test]
fn an_interface_in_another_namespace_by_af_packet() {
    let _turn = turn();
    let Some(shim) = shim_for("af_packet") else { return };
    let Some(lab) = Lab::new("dpdk-afp", 1) else { return };
    let side = |interface| DpdkOptions {
        netns: Some(lab.netns().into()),
        ..options(Device::af_packet(interface), shim.clone())
    };
    let (mut a, mut b) = (open(&side("va")).unwrap(), open(&side("vb")).unwrap());
    send(&mut a, 0..200, 60);
    assert_eq!(receive(&mut b, 200, 60), (0..200).collect::<Vec<_>>());
    assert_eq!(a.stats().tx_frames, 200);
    let error = open(&side("zz")).err().unwrap();
    assert_eq!(error.name(), "dpdk-device");
}

#[test]
fn several_queues_by_one_thread_and_by_several() {
    let _turn = turn();
    let Some(shim) = shim_for("queues") else { return };
    let two = |device: Device| DpdkOptions { queues: 2, ..options(device, shim.clone()) };
    // One port: it sends by the first queue, and receives from both.
    let mut port = open(&two(Device::ring())).unwrap();
    send(&mut port, 0..100, 60);
    assert_eq!(receive(&mut port, 100, 60).len(), 100);
    drop(port);
    // A port per queue, each on a thread; each queue of this device leads back to itself.
    let ports = open_each(&two(Device::ring())).unwrap();
    assert_eq!(ports.len(), 2);
    assert!(ports[1].describe().ends_with(" (2 queues)"), "{}", ports[1].describe());
    std::thread::scope(|scope| {
        for (i, mut port) in (0u16..).zip(ports) {
            scope.spawn(move || {
                let numbers = i * 1000..i * 1000 + 300;
                send(&mut port, numbers.clone(), 60);
                assert_eq!(receive(&mut port, 300, 60), numbers.collect::<Vec<_>>());
                assert_eq!(port.stats().tx_frames, 300);
            });
        }
    });
}

#[test]
fn a_refusal_says_why_and_what_to_do() {
    let _turn = turn();
    let Some(shim) = shim_for("refusal") else { return };
    let error =
        |device: &str, queues| open(&DpdkOptions { queues, ..options(device, shim.clone()) }).err().unwrap();
    let unknown = error("net_nonsense0", 1);
    assert_eq!(unknown.name(), "dpdk-device");
    assert!(unknown.to_string().contains("net_nonsense0"), "{unknown}");
    assert!(unknown.advice().contains("dpdk-devbind.py"), "{}", unknown.advice());
    let many = error("net_null_many", 17);
    assert_eq!((many.name(), many.to_string().contains("17 queues")), ("too-few-queues", true), "{many}");
    assert!(many.advice().contains("queues=17"), "{}", many.advice());
    let missing = shim::load(std::path::Path::new("/nowhere/x.so"));
    // Another test may have loaded it already; then the path no longer matters.
    if let Err(missing) = missing {
        assert_eq!(missing.name(), "dpdk-missing");
    }
}

/// Another DPDK program, whose port is the client of a vhost-user socket and sends back what it gets. It ends with the
/// test, however that ends.
struct Echo(Child);

impl Echo {
    fn start(socket: &std::path::Path) -> Option<Echo> {
        let device = format!("--vdev=net_vhost0,iface={},client=1", socket.display());
        let arguments = ["--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "--file-prefix"];
        let prefix = format!("fg-echo-{}", std::process::id());
        let end = ["--", "--forward-mode=io", "--auto-start", "--total-num-mbufs=4096", "--stats-period=9"];
        let mut command = Command::new("dpdk-testpmd");
        command
            .args(arguments)
            .arg(prefix)
            .arg("--no-shconf")
            .args(["--lcores", "0@0,1@0"])
            .arg(device)
            .args(end);
        // SAFETY: only a system call between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            })
        };
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if child.is_err() {
            eprintln!("skipped: no dpdk-testpmd (apt-get install dpdk-dev)");
        }
        child.ok().map(Echo)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn vhost_user_beside_another_dpdk_process_which_dies() {
    let _turn = turn();
    let Some(shim) = shim_for("vhost") else { return };
    let scratch = Scratch::new("vhost");
    let socket = scratch.0.join("socket");
    let hasty = DpdkOptions {
        link_wait: Duration::from_millis(300),
        ..options(Device::virtio_user(&socket, 1), shim.clone())
    };
    let error = open(&hasty).err().unwrap();
    assert!(error.to_string().contains("nobody connected to its socket within 0.3 s"), "{error}");
    let Some(echo) = Echo::start(&socket) else { return };
    let mut port = open(&options(Device::virtio_user(&socket, 1), shim)).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    send(&mut port, 0..200, 60);
    assert_eq!(receive(&mut port, 200, 60), (0..200).collect::<Vec<_>>());
    drop(echo);
    let error = until_down(&mut port);
    assert_eq!(error.name(), "link-down");
    assert!(error.to_string().contains("closed the vhost-user socket"), "{error}");
    // The next switch finds the same socket, and the port works again.
    let Some(echo) = Echo::start(&socket) else { return };
    until(|| port.check().is_ok());
    std::thread::sleep(Duration::from_millis(1500));
    // What the first switch had not taken may come back from the second.
    let mut burst = Burst::new();
    while port.rx(&mut burst, 64).unwrap() > 0 {
        port.free(&mut burst);
    }
    send(&mut port, 0..200, 60);
    assert_eq!(receive(&mut port, 200, 60), (0..200).collect::<Vec<_>>());
    // DPDK learns that the other side has gone while the port closes.
    drop(echo);
    drop(port);
    assert!(!socket.exists(), "the socket goes with the port");
}
