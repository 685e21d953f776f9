//! PORT_MOD, and what a port's change means to the pipeline and to controllers.

use crate::core::Core;
use flowgauge_datapath::PortRule;
use flowgauge_openflow::{ErrorCode, PortConfig, PortFeatures, PortMod, PortStatusReason, Version};

/// The bits that 1.3 and its successors define.
const SINCE_1_3: PortConfig = PortConfig(
    PortConfig::PORT_DOWN.0 | PortConfig::NO_RECV.0 | PortConfig::NO_FWD.0 | PortConfig::NO_PACKET_IN.0,
);
/// The bits that 1.0 defines.
const IN_1_0: PortConfig = PortConfig(
    SINCE_1_3.0 | PortConfig::NO_STP.0 | PortConfig::NO_RECV_STP.0 | PortConfig::NO_FLOOD.0,
);

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
        let mask = request.mask.0 & IN_1_0.0;
        let config = PortConfig(port.config.0 & !mask | request.config.0 & mask);
        if request.mask.contains(PortConfig::NO_RECV) {
            port.spares_stp = version == Version::V1_0;
        }
        self.configure_port(index, config);
        Ok(())
    }

    /// Gives a port a configuration, and tells everyone if that is news.
    pub fn configure_port(&mut self, index: usize, config: PortConfig) {
        let port = &mut self.outlet.ports[index];
        if std::mem::replace(&mut port.config, config) != config {
            self.port_changed(index);
        }
    }

    /// A port's link or configuration has changed: the pipeline and the controllers learn of it.
    pub fn port_changed(&mut self, index: usize) {
        let rule = self.outlet.ports[index].rule();
        self.pipeline.set_port(rule);
        self.outlet.announce(index, PortStatusReason::Modify);
    }
}

impl crate::port::SwitchPort {
    /// The port as the pipeline sees it. What it must not receive or send is dropped here, so that it is counted.
    pub fn rule(&self) -> PortRule {
        PortRule { number: self.number, flood: !self.config.contains(PortConfig::NO_FLOOD) }
    }
}
