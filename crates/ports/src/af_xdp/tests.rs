//! On veth pairs in namespaces of their own. Skipped, saying so, without root.

use std::time::{Duration, Instant};

use super::*;
use crate::linux::Lab;

/// `None`, with the reason printed, also where the kernel has no AF_XDP.
fn lab(test: &str) -> Option<Lab> {
    let lab = Lab::new(&format!("xdp-{test}"), 2)?;
    match open_with(&lab, "va", small()) {
        Err(error @ (PortError::Unsupported { .. } | PortError::PermissionNeeded { .. })) => {
            eprintln!("skipped: {test}: {error}");
            None
        }
        Ok(_) | Err(_) => Some(lab),
    }
}

fn open_with(lab: &Lab, interface: &str, options: AfXdpOptions) -> Result<AfXdpPort, PortError> {
    open(interface, Some(lab.netns()), options)
}

fn open_one(lab: &Lab, interface: &str) -> AfXdpPort {
    open_with(lab, interface, small()).unwrap()
}

fn pair(lab: &Lab) -> (AfXdpPort, AfXdpPort) {
    (open_one(lab, "va"), open_one(lab, "vb"))
}

/// Little memory, and little patience.
fn small() -> AfXdpOptions {
    AfXdpOptions {
        rx_frames: 1024,
        tx_frames: 256,
        carrier_wait: Duration::from_millis(300),
        ..Default::default()
    }
}

const MARK: [u8; 14] = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5];

/// Sends `n` frames numbered from `first` on.
fn send(port: &mut AfXdpPort, first: usize, n: usize, len: usize) {
    let mut burst = Burst::new();
    assert_eq!(port.alloc(&mut burst, n), n);
    for (i, slot) in burst.iter_mut().enumerate() {
        slot.set_len(len);
        slot.bytes_mut().fill((first + i) as u8);
        slot.bytes_mut()[..14].copy_from_slice(&MARK);
    }
    assert_eq!(port.tx(&mut burst).unwrap(), n);
    port.flush().unwrap();
}

fn is_ours(slot: &crate::Slot) -> bool {
    slot.bytes().starts_with(&MARK[..12])
}

/// Our frames among what arrives within 200 ms; the kernel's own chatter is left out.
fn receive(port: &mut AfXdpPort, n: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut burst = Burst::new();
    let started = Instant::now();
    while frames.len() < n && started.elapsed() < Duration::from_millis(200) {
        port.rx(&mut burst, 64).unwrap();
        let ours = burst.iter().filter(|slot| is_ours(slot));
        frames.extend(ours.map(|slot| slot.bytes().to_vec()));
        port.free(&mut burst);
    }
    frames
}

#[test]
fn frames_pass_in_order_and_are_counted_many_times_around_the_rings() {
    let Some(lab) = lab("pass") else { return };
    let (mut a, mut b) = pair(&lab);
    assert_eq!((a.native(), a.copies()), (Some(true), true), "a veth runs the program, and copies");
    assert_eq!(a.capabilities().rx_capacity, RxCapacity::Frames(1024));
    let mut sent = 0;
    for round in 0..200 {
        let n = 1 + round % 64;
        send(&mut a, sent, n, 60);
        let frames = receive(&mut b, n);
        assert_eq!(frames.len(), n, "round {round}");
        for (i, frame) in frames.iter().enumerate() {
            assert_eq!((frame.len(), frame[59]), (60, (sent + i) as u8));
        }
        sent += n;
        send(&mut b, 0, 1, 60);
        assert_eq!(receive(&mut a, 1).len(), 1, "the other way too");
    }
    let (out, into) = (a.stats(), b.stats());
    assert_eq!((out.tx_frames, out.tx_errors, out.link_up), (sent as u64, 0, true));
    assert!(into.rx_frames >= sent as u64 && into.rx_dropped == 0, "{into:?}");
    assert_eq!(into.tx_frames, 200);
}

#[test]
fn frames_of_every_size_pass_whole() {
    let Some(lab) = lab("sizes") else { return };
    for mtu in [1500, 3000] {
        lab.ip(&format!("link set va mtu {mtu}"));
        lab.ip(&format!("link set vb mtu {mtu}"));
        let (mut a, mut b) = pair(&lab);
        assert_eq!(a.capabilities().longest_frame, mtu + 18);
        // The tag's four bytes pass when there is a tag.
        for len in (14..=mtu + 14).step_by(if mtu == 1500 { 1 } else { 97 }) {
            send(&mut a, len, 1, len);
            let frames = receive(&mut b, 1);
            assert_eq!(frames.len(), 1, "{len} bytes");
            assert_eq!(frames[0].len(), len);
            assert!(frames[0][14..].iter().all(|&byte| byte == len as u8), "{len} bytes");
        }
        let mut burst = Burst::new();
        for (len, error) in [(mtu + 19, "frame-too-long"), (13, "port-system")] {
            a.alloc(&mut burst, 1);
            burst[0].set_len(len);
            assert_eq!(a.tx(&mut burst).unwrap_err().name(), error);
            a.free(&mut burst);
        }
    }
}

#[test]
fn an_mtu_beyond_the_drivers_is_served_behind_it_up_to_a_page() {
    let Some(lab) = lab("jumbo") else { return };
    lab.ip("link set va mtu 9000");
    lab.ip("link set vb mtu 9000");
    let (mut a, mut b) = pair(&lab);
    assert_eq!((b.native(), b.capabilities().longest_frame), (Some(false), 3840));
    for len in [60, 1514, 3840] {
        send(&mut a, len, 1, len);
        assert_eq!(receive(&mut b, 1)[0].len(), len);
    }
}

#[test]
fn tags_stay_in_the_frame() {
    let Some(lab) = lab("tags") else { return };
    let (mut a, mut b) = pair(&lab);
    for tpid in [[0x81, 0x00], [0x88, 0xa8]] {
        let mut burst = Burst::new();
        a.alloc(&mut burst, 1);
        burst[0].set_len(1518);
        burst[0].bytes_mut().fill(7);
        burst[0].bytes_mut()[..12].copy_from_slice(&MARK[..12]);
        burst[0].bytes_mut()[12..18].copy_from_slice(&[tpid[0], tpid[1], 0x60, 0x2a, 0x88, 0xb5]);
        let sent = burst[0].bytes().to_vec();
        assert_eq!(a.tx(&mut burst).unwrap(), 1);
        assert_eq!(receive(&mut b, 1)[0], sent);
    }
}

#[test]
fn a_full_port_drops_and_counts_and_goes_on() {
    let Some(lab) = lab("full") else { return };
    let (mut a, mut b) = pair(&lab);
    // A frame of the kernel's own may be among them, so that a few of ours less fit.
    (0..40).for_each(|_| send(&mut a, 0, 64, 60));
    let (counters, out) = (b.counters(), a.stats());
    assert!(counters.rx_dropped >= 40 * 64 - 1024, "{counters:?}");
    assert_eq!((out.tx_frames + out.tx_errors, out.tx_errors), (40 * 64, 0));
    let mut loans = Vec::new();
    loop {
        let mut burst = Burst::new();
        if b.rx(&mut burst, 64).unwrap() == 0 {
            break;
        }
        loans.push(burst);
    }
    let lent: usize = loans.iter().map(|burst| burst.len()).sum();
    // The kernel may send frames of its own, on other queues too: each queue has its 1024.
    let strays = loans.iter().flat_map(|burst| burst.iter()).filter(|slot| !is_ours(slot)).count();
    assert!((1024..=1024 + strays).contains(&lent), "{lent}, {strays} of them not ours");
    assert_eq!(b.stats().rx_frames, lent as u64);
    send(&mut a, 0, 3, 60);
    assert_eq!(receive(&mut b, 1).len(), 0, "every frame is on loan");
    loans.iter_mut().for_each(|burst| b.free(burst));
    send(&mut a, 0, 5, 60);
    assert_eq!(receive(&mut b, 5).len(), 5);
}

#[test]
fn slots_outlive_their_port_and_unused_ones_come_back() {
    let Some(lab) = lab("loan") else { return };
    let (mut a, mut b) = pair(&lab);
    let mut burst = Burst::new();
    for _ in 0..20 {
        assert_eq!(a.alloc(&mut burst, 64), 64);
        a.free(&mut burst);
    }
    send(&mut a, 42, 1, 60);
    while burst.is_empty() {
        b.rx(&mut burst, 1).unwrap();
    }
    let before = burst[0].bytes().to_vec();
    drop(b);
    assert_eq!(burst[0].bytes(), before);
}

#[test]
fn opens_again_at_once_and_leaves_nothing_behind() {
    let Some(lab) = lab("again") else { return };
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mut counts = Vec::new();
    for _ in 0..5 {
        let (mut a, mut b) = pair(&lab);
        assert!(lab.ip("link show vb").contains("xdp"));
        assert!(lab.ip("-d link show vb").contains("promiscuity 1"));
        send(&mut a, 0, 9, 60);
        assert_eq!(receive(&mut b, 9).len(), 9);
        drop((a, b));
        counts.push(descriptors());
    }
    // Other tests open and close beside this one: no growth with the rounds is what can be asked.
    assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() < 60, "{counts:?}");
    assert!(!lab.ip("link show vb").contains("xdp"));
    assert!(lab.ip("-d link show vb").contains("promiscuity 0"));
}

#[test]
fn an_interface_that_goes_down_ends_it_with_the_reason() {
    let Some(lab) = lab("down") else { return };
    let (mut a, mut b) = pair(&lab);
    send(&mut a, 0, 1, 60);
    assert_eq!(receive(&mut b, 1).len(), 1);
    assert!(a.check().is_ok() && a.stats().link_up);
    lab.cut();
    assert!(a.check().unwrap_err().to_string().contains("carrier"));
    assert!(b.check().unwrap_err().to_string().contains("taken down"));
    let mut burst = Burst::new();
    assert_eq!(a.alloc(&mut burst, 3), 3);
    burst.iter_mut().for_each(|slot| slot.set_len(60));
    a.tx(&mut burst).unwrap();
    a.flush().unwrap();
    let stats = a.stats();
    assert_eq!((stats.tx_frames, stats.tx_errors), (1, 3), "without a carrier, frames don't leave");
    b.alloc(&mut burst, 1);
    burst[0].set_len(60);
    assert_eq!(b.tx(&mut burst).unwrap_err().name(), "link-down");
    b.free(&mut burst);
    lab.ip("link set vb up");
    let ready = Instant::now();
    while a.check().is_err() || b.check().is_err() {
        assert!(ready.elapsed() < Duration::from_secs(1), "the link comes back");
    }
    send(&mut a, 0, 5, 60);
    assert_eq!(receive(&mut b, 5).len(), 5, "the port lives on");
    lab.ip("link del va");
    assert!(a.check().unwrap_err().to_string().contains("removed"));
    a.alloc(&mut burst, 1);
    burst[0].set_len(60);
    assert_eq!(a.tx(&mut burst).unwrap_err().name(), "link-down");
    a.free(&mut burst);
}

#[test]
fn steers_only_udp_to_its_port_and_leaves_the_rest_to_the_kernel() {
    let Some(lab) = lab("steer") else { return };
    lab.ip("link set vb addr 02:00:00:00:00:09");
    let mut a = open_one(&lab, "va");
    let mut b = open_with(&lab, "vb", AfXdpOptions { steer: Steer::UdpPort(4000), ..small() }).unwrap();
    let sniffer =
        crate::af_packet::open("vb", Some(lab.netns()), crate::af_packet::AfPacketOptions::default());
    let mut sniffer = sniffer.unwrap();
    let mut burst = Burst::new();
    for port in [4000u16, 4001, 4000] {
        a.alloc(&mut burst, 1);
        burst[0].set_len(60);
        burst[0].bytes_mut().fill(0);
        burst[0].bytes_mut()[..12].copy_from_slice(&MARK[..12]);
        burst[0].bytes_mut()[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
        burst[0].bytes_mut()[36..38].copy_from_slice(&port.to_be_bytes());
        a.tx(&mut burst).unwrap();
    }
    assert_eq!(
        receive(&mut b, 3).iter().map(|f| f[37] as u16 + 256 * f[36] as u16).collect::<Vec<_>>(),
        [4000, 4000]
    );
    let mut theirs = 0;
    while sniffer.rx(&mut burst, 64).unwrap() > 0 {
        theirs += burst.iter().filter(|slot| slot.bytes()[36..38] == 4001u16.to_be_bytes()).count();
        sniffer.free(&mut burst);
    }
    assert_eq!(theirs, 1);
}

#[test]
fn receives_from_all_queues_and_sends_on_each() {
    let Some(lab) = lab("queues") else { return };
    let (va, options) = (lab.netns(), AfXdpOptions { queues: Some(2), ..small() });
    set_channels(&lab, 2);
    let mut senders = open_each("va", Some(va), options).unwrap();
    assert_eq!(senders.len(), 2);
    assert!(
        senders.iter().all(|port| port.describe().contains("(2 queues, native")),
        "each tells of the port"
    );
    let mut b = open_one(&lab, "vb");
    assert_eq!(b.queues.len(), 2, "all that there are");
    for round in 0..20 {
        send(&mut senders[round % 2], round, 64, 60);
        assert_eq!(receive(&mut b, 64).len(), 64, "by queue {}", round % 2);
    }
    drop(senders.remove(0));
    send(&mut senders[0], 0, 7, 60);
    assert_eq!(receive(&mut b, 7).len(), 7, "the other queue's port lives on");
}

/// Turns on that many queues of both ends; a veth starts with one.
fn set_channels(lab: &Lab, n: u32) {
    let enter = || crate::linux::within(Some(lab.netns()), || Socket::packet("test"));
    let socket = enter().unwrap();
    for name in ["va", "vb"] {
        assert_eq!(channels::set_receive_queues(socket.fd(), name, n), 0, "ethtool -L {name}");
    }
}

#[test]
fn options_that_every_interface_can_serve() {
    let Some(lab) = lab("options") else { return };
    let mut a = open_with(&lab, "va", AfXdpOptions { receive: false, ..small() }).unwrap();
    assert_eq!((a.native(), lab.ip("link show va").contains("xdp")), (None, false));
    for options in [
        AfXdpOptions { attach: Attach::Generic, ..small() },
        AfXdpOptions { attach: Attach::Native, copy: CopyMode::Copy, ..small() },
        AfXdpOptions { busy_poll: Some(BusyPoll::default()), ..small() },
    ] {
        let generic = options.attach == Attach::Generic;
        let mut b = open_with(&lab, "vb", options).unwrap();
        assert_eq!(b.native(), Some(!generic));
        send(&mut a, 0, 50, 60);
        assert_eq!(receive(&mut b, 50).len(), 50, "{generic}");
        send(&mut b, 0, 50, 60);
        assert_eq!(b.stats().tx_frames, 50);
    }
    assert_eq!(a.rx(&mut Burst::new(), 64).unwrap(), 0);
}

#[test]
fn says_what_is_wrong() {
    let Some(lab) = lab("wrong") else { return };
    let text = |error: &PortError| format!("{}: {error}; {}", error.name(), error.advice());
    let wrong = |interface: &str, options| text(&open_with(&lab, interface, options).err().unwrap());
    assert!(wrong("zz", small()).starts_with("interface-missing"));
    let zero_copy = wrong("va", AfXdpOptions { copy: CopyMode::ZeroCopy, ..small() });
    assert!(zero_copy.starts_with("port-unsupported") && zero_copy.contains("zero-copy"), "{zero_copy}");
    let queue = wrong("va", AfXdpOptions { first_queue: 7, ..small() });
    assert!(queue.starts_with("port-system"), "{queue}");
    let many = wrong("va", AfXdpOptions { queues: Some(3), ..small() });
    assert!(many.starts_with("too-few-queues") && many.contains("does not have 3 queues, but 2"), "{many}");
    assert!(
        many.contains("give it more with `ip netns exec ") && many.contains("ethtool -L va combined 3`"),
        "{many}"
    );
    let sending = AfXdpOptions { queues: Some(3), receive: false, ..small() };
    let many = text(&open_each("va", Some(lab.netns()), sending).err().unwrap());
    assert!(many.starts_with("too-few-queues"), "{many}");
    let holder = open_one(&lab, "va");
    let busy = wrong("va", small());
    assert!(busy.starts_with("interface-busy") && busy.contains("XDP program"), "{busy}");
    let busy = wrong("va", AfXdpOptions { receive: false, ..small() });
    assert!(busy.starts_with("interface-busy") && busy.contains("queue 0"), "{busy}");
    drop(holder);
    lab.cut();
    assert!(wrong("vb", small()).contains(&format!("`ip -n {} link set vb up`", lab.netns().display())));
    assert!(wrong("va", small()).contains("no carrier"));
    let missing = open("va", Some(Path::new("fg-no-such")), small()).err().unwrap();
    assert_eq!(missing.name(), "namespace");
}
