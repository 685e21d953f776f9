//! The channel against a real Open vSwitch, privately started. Needs root; skips itself with a printed reason.

mod common;

use std::time::Duration;

use common::ovs::{self, Ovs};
use flowgauge_channel::{
    Address, Channel, ChannelError, Config, Connection, KeepAlive, Timestamps, Tls, TlsFiles, Versions, wire,
};
use flowgauge_openflow::{Body, FlowMod, MultipartRequest, RequestBody};

const PATIENCE: Duration = Duration::from_secs(20);

fn start(name: &str) -> Option<Ovs> {
    match ovs::missing() {
        Some(reason) => {
            println!("skipped: {reason}");
            None
        }
        None => Some(Ovs::start(name)),
    }
}

fn config(ovs: &Ovs, versions: &[u8]) -> Config {
    Config {
        versions: Versions::new(versions).unwrap(),
        netns: Some((&ovs.netns).into()),
        ..Config::controller()
    }
}

/// What any connection to a switch should be able to do.
fn exercise(connection: &Connection) {
    let version = connection.version();
    assert!(connection.datapath_id().is_some());
    connection.barrier(PATIENCE).unwrap();
    assert_eq!(connection.switch_features().unwrap().datapath_id, connection.datapath_id().unwrap());
    let request = MultipartRequest::new(RequestBody::Desc);
    let replies = connection.transact(Body::MultipartRequest(request), PATIENCE).unwrap();
    let text = format!("{replies:?}");
    assert!(text.contains("Nicira") && text.contains("Open vSwitch"), "{text}");
    connection.apply(vec![Body::FlowMod(FlowMod::delete_all())], PATIENCE).unwrap();
    // A FLOW_MOD that is too short is refused.
    let error = connection
        .apply_raw(&mut [wire::message(version, wire::FLOW_MOD, 0, &[0; 8])], PATIENCE)
        .unwrap_err();
    assert!(matches!(error, ChannelError::Rejected { error_type: 1, code: 6, .. }), "{error}");
    // On a connection that we opened, HELLO may have come before the option was set.
    let stamps = connection.timestamps();
    assert!(matches!(stamps, Timestamps::Kernel | Timestamps::Mixed { read: 1 }), "{stamps:?}");
}

#[test]
fn a_switch_connects_to_us_in_its_namespace() {
    let Some(ovs) = start("in") else { return };
    ovs.vsctl(&["set", "bridge", "br0", "protocols=OpenFlow10,OpenFlow13"]);
    let at = "127.0.0.1:6653".parse().unwrap();
    let channel = Channel::listen(at, config(&ovs, &[1, 4])).unwrap();
    let busy = Channel::listen(at, config(&ovs, &[4])).err().unwrap();
    assert!(busy.to_string().contains(&ovs.netns), "{busy}");
    let ChannelError::PortBusy { advice, .. } = busy else { panic!("{busy:?}") };
    assert!(advice.starts_with(&format!("nsenter --net=/run/netns/{}", ovs.netns)), "{advice}");
    ovs.vsctl(&["set-controller", "br0", "tcp:127.0.0.1:6653"]);
    let connection = channel.wait_connected(PATIENCE).unwrap();
    assert_eq!(connection.version(), 4);
    exercise(&connection);
}

#[test]
fn we_connect_to_a_switch_in_either_version() {
    let Some(ovs) = start("out") else { return };
    ovs.vsctl(&["set", "bridge", "br0", "protocols=OpenFlow10,OpenFlow13"]);
    ovs.vsctl(&["set-controller", "br0", "ptcp:6653:127.0.0.1"]);
    for version in [1, 4] {
        let channel = Channel::connect("127.0.0.1:6653".parse().unwrap(), config(&ovs, &[version])).unwrap();
        let connection = channel.wait_connected(PATIENCE).unwrap();
        assert_eq!(connection.version(), version);
        exercise(&connection);
    }
}

/// Keys by `ovs-pki`, in the switch's own directory: the controller's files.
fn ovs_pki(ovs: &Ovs) -> Option<TlsFiles> {
    for command in ["init", "req+sign ctl controller", "req+sign sc switch"] {
        let made = std::process::Command::new("ovs-pki")
            .current_dir(ovs.path(""))
            .args([
                "--batch",
                &format!("--dir={}", ovs.path("pki")),
                &format!("--log={}", ovs.path("pki.log")),
            ])
            .args(command.split(' '))
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            println!("skipped: ovs-pki {command} does not work");
            return None;
        }
    }
    let controllerca = ovs.path("pki/controllerca/cacert.pem");
    ovs.vsctl(&["set-ssl", &ovs.path("sc-privkey.pem"), &ovs.path("sc-cert.pem"), &controllerca]);
    Some(TlsFiles {
        private_key: ovs.path("ctl-privkey.pem").into(),
        certificate: ovs.path("ctl-cert.pem").into(),
        ca: ovs.path("pki/switchca/cacert.pem").into(),
    })
}

#[test]
fn tls_with_keys_by_ovs_pki_both_ways() {
    let Some(ovs) = start("tls") else { return };
    let Some(files) = ovs_pki(&ovs) else { return };
    ovs.vsctl(&["set", "bridge", "br0", "protocols=OpenFlow13"]);
    let at = "127.0.0.1:6653".parse().unwrap();
    let tls = Some(Tls::load(&files).unwrap());
    let secure = Config { tls, ..config(&ovs, &[4]) };
    let channel = Channel::open(Address::ListenTls(at), secure.clone()).unwrap();
    ovs.vsctl(&["set-controller", "br0", "ssl:127.0.0.1:6653"]);
    let connection = channel.wait_connected(PATIENCE).unwrap();
    assert!(connection.peer_name().unwrap().starts_with("sc id:"), "{:?}", connection.peer_name());
    exercise_tls(&connection);
    drop(channel);
    ovs.vsctl(&["set-controller", "br0", "pssl:6653:127.0.0.1"]);
    let channel = Channel::open(Address::ConnectTls(at), secure).unwrap();
    exercise_tls(&channel.wait_until_connected(PATIENCE).unwrap());
    drop(channel);
    // Without TLS to its TLS port: it closes, or says so in TLS.
    let channel = Channel::connect(at, config(&ovs, &[4])).unwrap();
    let error = channel.wait_until_connected(std::time::Duration::from_millis(500)).unwrap_err();
    assert_eq!(error, ChannelError::ClosedEarly);
    // With a certificate that its authority has not signed.
    let stranger = TlsFiles {
        private_key: ovs.path("sc-privkey.pem").into(),
        certificate: ovs.path("sc-cert.pem").into(),
        ..files
    };
    let tls = Some(Tls::load(&stranger).unwrap());
    let channel = Channel::open(Address::ConnectTls(at), Config { tls, ..config(&ovs, &[4]) }).unwrap();
    let error = channel.wait_connected(PATIENCE).unwrap_err();
    assert!(error.to_string().contains("the peer does not know the authority of our certificate"), "{error}");
    drop(channel);
    // And a switch without TLS to our TLS port.
    let tls = Some(Tls::load(&stranger).unwrap());
    ovs.vsctl(&["set-controller", "br0", "tcp:127.0.0.1:6653"]);
    let channel = Channel::open(Address::ListenTls(at), Config { tls, ..config(&ovs, &[4]) });
    let error = channel.unwrap().wait_connected(PATIENCE).unwrap_err();
    assert!(error.to_string().contains("plain OpenFlow"), "{error}");
}

fn exercise_tls(connection: &Connection) {
    assert!(connection.is_tls());
    connection.barrier(PATIENCE).unwrap();
    connection.apply(vec![Body::FlowMod(FlowMod::delete_all())], PATIENCE).unwrap();
    let request = MultipartRequest::new(RequestBody::Desc);
    connection.transact(Body::MultipartRequest(request), PATIENCE).unwrap();
    assert_eq!(connection.timestamps(), Timestamps::Read);
}

#[test]
fn a_switch_of_another_version_says_so() {
    let Some(ovs) = start("ver") else { return };
    ovs.vsctl(&["set", "bridge", "br0", "protocols=OpenFlow10"]);
    let channel = Channel::listen("127.0.0.1:6653".parse().unwrap(), config(&ovs, &[4])).unwrap();
    ovs.vsctl(&["set-controller", "br0", "tcp:127.0.0.1:6653"]);
    let error = channel.wait_connected(PATIENCE).unwrap_err();
    assert_eq!(error, ChannelError::VersionMismatch { ours: vec![4], theirs: vec![1] });
}

#[test]
fn a_switch_that_is_killed_ends_the_channel() {
    let Some(ovs) = start("kill") else { return };
    let channel = Channel::listen("127.0.0.1:6653".parse().unwrap(), config(&ovs, &[1, 4])).unwrap();
    ovs.vsctl(&["set-controller", "br0", "tcp:127.0.0.1:6653"]);
    let connection = channel.wait_connected(PATIENCE).unwrap();
    ovs.signal_vswitchd(libc::SIGKILL);
    let why = connection.wait_ended(PATIENCE).unwrap();
    assert_eq!(why.name(), "channel-closed");
    assert_eq!(connection.barrier(PATIENCE), Err(why));
}

#[test]
fn a_switch_that_hangs_is_found_by_keep_alive() {
    let Some(ovs) = start("hang") else { return };
    let config = Config {
        keep_alive: Some(KeepAlive { idle: Duration::from_millis(200), misses: 1 }),
        ..config(&ovs, &[1, 4])
    };
    let channel = Channel::listen("127.0.0.1:6653".parse().unwrap(), config).unwrap();
    ovs.vsctl(&["set-controller", "br0", "tcp:127.0.0.1:6653"]);
    let connection = channel.wait_connected(PATIENCE).unwrap();
    ovs.signal_vswitchd(libc::SIGSTOP);
    let why = connection.wait_ended(PATIENCE);
    ovs.signal_vswitchd(libc::SIGCONT);
    assert!(matches!(why, Some(ChannelError::Timeout { .. })), "{why:?}");
}
