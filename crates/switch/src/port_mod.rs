//! PORT_MOD, and what a port's change means to the pipeline and to controllers.

use crate::core::Core;
use crate::events::Event;
use crate::port::SwitchPort;
use flowgauge_datapath::PortRule;
use flowgauge_openflow::{ErrorCode, PortConfig, PortFeatures, PortMod, PortStatusReason, Version};

/// The bits that 1.3 and its successors define.
const SINCE_1_3: PortConfig = PortConfig(
    PortConfig::PORT_DOWN.0 | PortConfig::NO_RECV.0 | PortConfig::NO_FWD.0 | PortConfig::NO_PACKET_IN.0,
);
/// The bits that 1.0 defines.
const IN_1_0: PortConfig =
    PortConfig(SINCE_1_3.0 | PortConfig::NO_STP.0 | PortConfig::NO_RECV_STP.0 | PortConfig::NO_FLOOD.0);

impl Core {
    /// Checks a PORT_MOD; gives the port's index.
    ///
    /// # Errors
    /// No such port; another address than the port's; bits or speeds that the port can't have.
    pub fn check_port_mod(&self, request: &PortMod, version: Version) -> Result<usize, ErrorCode> {
        let index = self.outlet.index_of(request.port_no.0).ok_or(ErrorCode::PortModBadPort)?;
        let port = &self.outlet.ports[index];
        if port.address() != request.hw_addr {
            return Err(ErrorCode::PortModBadHwAddr);
        }
        let known = if version == Version::V1_0 { IN_1_0 } else { SINCE_1_3 };
        if (request.mask.0 | request.config.0) & !known.0 != 0 && version != Version::V1_0 {
            return Err(ErrorCode::PortModBadConfig);
        }
        let advertised = request.advertise;
        let is_possible = advertised == PortFeatures::NONE || advertised == port.describe(version).supported;
        if !is_possible && version != Version::V1_0 {
            return Err(ErrorCode::PortModBadAdvertise);
        }
        Ok(index)
    }

    /// PORT_MOD.
    ///
    /// # Errors
    /// As [`Core::check_port_mod`].
    pub fn port_mod(&mut self, request: &PortMod, version: Version) -> Result<(), ErrorCode> {
        let index = self.check_port_mod(request, version)?;
        let port = &mut self.outlet.ports[index];
        let before = port.config;
        port.change(request, version);
        if port.config != before {
            self.port_changed(index);
        }
        Ok(())
    }

    /// A port's link or configuration has changed: the pipeline and the controllers learn of it.
    pub fn port_changed(&mut self, index: usize) {
        let mut rule = self.outlet.ports[index].rule();
        if self.outlet.tray.is_some() {
            // Somebody else moves the frames.
            rule = self.outlet.ports[index].whole_rule();
        }
        self.pipeline.set_port(rule);
        self.outlet.announce(index, PortStatusReason::Modify);
    }
}

impl Core {
    /// A port's link came up or went down.
    pub fn link_changed(&mut self, index: usize) {
        let port = &self.outlet.ports[index];
        let (number, name, is_up) = (port.number, port.name().to_owned(), port.is_up());
        self.events.push(Event::Port { number, name, is_up });
        self.port_changed(index);
    }
}

impl SwitchPort {
    /// Does what a PORT_MOD that was checked asks.
    pub fn change(&mut self, request: &PortMod, version: Version) {
        let mask = request.mask.0 & IN_1_0.0;
        self.config = PortConfig(self.config.0 & !mask | request.config.0 & mask);
        if request.mask.contains(PortConfig::NO_RECV) {
            self.spares_stp = version == Version::V1_0;
        }
    }

    /// The port as the pipeline sees it that drops what the port must not receive or send.
    pub fn whole_rule(&self) -> PortRule {
        let is_down = self.config.contains(PortConfig::PORT_DOWN);
        PortRule {
            no_recv: is_down || self.config.contains(PortConfig::NO_RECV),
            no_fwd: is_down || self.config.contains(PortConfig::NO_FWD),
            ..self.rule()
        }
    }

    /// The port as the pipeline sees it. What it must not receive or send is dropped here, so that it is counted.
    pub fn rule(&self) -> PortRule {
        PortRule {
            flood: !self.config.contains(PortConfig::NO_FLOOD),
            live: self.is_live(),
            no_packet_in: self.config.contains(PortConfig::NO_PACKET_IN),
            ..PortRule::new(self.number)
        }
    }
}
