//! Open vSwitch's own tool against our switch: skipped, with the reason, where it isn't installed.

mod common;

use common::{Bench, PATIENCE, Peer, udp_frame};
use flowgauge_switch::Switch;
use std::io::Write;
use std::process::Command;

/// A switch that waits for controllers, and its address in Open vSwitch's notation.
fn listening() -> (Switch, Vec<flowgauge_ports::ring::RingPort>, String) {
    let (switch, far) = common::listening(|config| config.datapath_id = 0xabc);
    let at = switch.controls()[0].at();
    (switch, far, format!("tcp:{at}"))
}

fn is_installed() -> bool {
    let found = Command::new("ovs-ofctl").arg("--version").output().is_ok();
    if !found {
        println!("skipped: ovs-ofctl is not installed");
    }
    found
}

/// Runs `ovs-ofctl -O VERSION ARGUMENTS`; gives its output, or fails with what it says.
fn ofctl(version: &str, arguments: &[&str]) -> String {
    let out =
        Command::new("ovs-ofctl").args(["-O", version, "--timeout=10"]).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.is_empty(), "{version} {arguments:?}: {said}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn count(version: &str, at: &str) -> usize {
    ofctl(version, &["dump-flows", at]).lines().filter(|l| l.contains("actions=")).count()
}

#[test]
fn shows_changes_and_dumps() {
    if !is_installed() {
        return;
    }
    for version in ["OpenFlow10", "OpenFlow13"] {
        let (_switch, _far, at) = listening();
        let show = ofctl(version, &["show", &at]);
        assert!(show.contains("dpid:0000000000000abc") && show.contains("2(p2): addr:02:"), "{show}");
        let dump_ports = ofctl(version, &["dump-ports", &at]);
        assert_eq!(dump_ports.matches("rx pkts=0").count(), 3, "{dump_ports}");
        ofctl(
            version,
            &[
                "add-flow",
                &at,
                "priority=7,udp,nw_dst=10.0.0.0/8,tp_dst=53,actions=mod_nw_src:1.2.3.4,output:2",
            ],
        );
        ofctl(version, &["add-flow", &at, "idle_timeout=60,cookie=0x5,in_port=1,actions=CONTROLLER:128"]);
        let dump = ofctl(version, &["dump-flows", &at]);
        assert!(dump.contains("priority=7,udp,nw_dst=10.0.0.0/8,tp_dst=53 actions="), "{dump}");
        assert!(dump.contains("cookie=0x5") && dump.contains("actions=CONTROLLER:128"), "{dump}");
        ofctl(version, &["mod-flows", &at, "in_port=1,actions=output:3"]);
        let aggregate = ofctl(version, &["dump-aggregate", &at]);
        assert!(aggregate.contains("flow_count=2"), "{aggregate}");
        ofctl(version, &["--strict", "del-flows", &at, "priority=7,udp,nw_dst=10.0.0.0/8,tp_dst=53"]);
        assert_eq!(count(version, &at), 1);
        ofctl(version, &["del-flows", &at]);
        assert_eq!(count(version, &at), 0);
        ofctl(version, &["dump-tables", &at]);
        ofctl(version, &["dump-desc", &at]);
        let what = if version == "OpenFlow10" { "no-flood" } else { "no-forward" };
        ofctl(version, &["mod-port", &at, "2", what]);
    }
}

#[test]
fn takes_a_thousand_entries_from_a_file() {
    if !is_installed() {
        return;
    }
    for version in ["OpenFlow10", "OpenFlow13"] {
        let (_switch, _far, at) = listening();
        let path = std::env::temp_dir().join(format!("fg-flows-{}-{version}", std::process::id()));
        let mut file = std::fs::File::create(&path).unwrap();
        for host in 0..1000 {
            let (high, low) = (host / 250, host % 250);
            writeln!(file, "priority={},ip,nw_dst=10.1.{high}.{low},actions=output:2", 100 + host % 7)
                .unwrap();
        }
        drop(file);
        ofctl(version, &["add-flows", &at, path.to_str().unwrap()]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(count(version, &at), 1000, "{version}");
    }
}

#[test]
fn sends_packets_out() {
    if !is_installed() {
        return;
    }
    let (switch, far, at) = listening();
    let peer = Peer::of(&switch, flowgauge_openflow::Version::V1_3);
    let mut bench = Bench { switch, testers: far, peer };
    let frame = udp_frame([10, 0, 0, 2], 53);
    let hex: String = frame.iter().map(|b| format!("{b:02x}")).collect();
    for version in ["OpenFlow10", "OpenFlow13"] {
        ofctl(version, &["packet-out", &at, &format!("in_port=1,packet={hex},actions=output:3")]);
        assert_eq!(bench.expect(3, PATIENCE), Some(frame.clone()));
    }
}
