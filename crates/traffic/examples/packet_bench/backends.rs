//! The port backends that `--backend` chooses from.

use flowgauge_ports::{Port, af_packet, af_xdp, dpdk};

use crate::arguments::{Arguments, Result};
use crate::null::NullPort;

/// Opens a port; `name` is the interface.
pub fn open(arguments: &Arguments, name: &str, receive: bool) -> Result<Box<dyn Port>> {
    let netns = arguments.netns.as_deref();
    match arguments.backend.as_str() {
        "af_packet" => {
            let qdisc_bypass = arguments.bypass;
            let options = af_packet::AfPacketOptions { receive, qdisc_bypass, ..Default::default() };
            Ok(Box::new(af_packet::open(name, netns, options)?))
        }
        "af_xdp" => {
            let options = af_xdp::AfXdpOptions { receive, ..Default::default() };
            Ok(Box::new(af_xdp::open(name, netns, options)?))
        }
        "dpdk" => Ok(Box::new(dpdk::open(&dpdk::DpdkOptions::new(name))?)),
        "null" => Ok(Box::new(NullPort::new())),
        other => Err(format!("no backend {other:?}: af_packet, af_xdp, dpdk or null").into()),
    }
}
