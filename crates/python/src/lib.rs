//! Python bindings of Flowgauge's packet side: `flowgauge._core`. No logic lives here.

mod capture;
mod channel;
mod connection;
mod errors;
mod flow_mods;
mod frames;
mod line;
mod loopback;
mod model;
mod openflow;
mod outcome;
mod play;
mod port;
mod punts;
mod recording;
mod schedule;
mod simulation;
mod stream_spec;
mod switch;
mod traffic;
mod transmission;
mod values;

use pyo3::prelude::*;

/// The tester's clock: nanoseconds since an arbitrary epoch.
#[pyfunction]
fn now() -> u64 {
    flowgauge_clock::Clock.now().0
}

/// The Rust half of Flowgauge.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<capture::Capture>()?;
    module.add_class::<channel::Channel>()?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<flow_mods::FlowMods>()?;
    module.add_class::<openflow::OpenflowDecoder>()?;
    module.add_class::<openflow::OpenflowEncoder>()?;
    module.add_class::<play::Play>()?;
    module.add_class::<port::Port>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<switch::Switch>()?;
    module.add_class::<switch::SwitchOptions>()?;
    module.add_class::<stream_spec::StreamSpec>()?;
    module.add_class::<transmission::Transmission>()?;
    module.add_function(wrap_pyfunction!(now, module)?)?;
    module.add_function(wrap_pyfunction!(errors::error_classes, module)?)?;
    module.add_function(wrap_pyfunction!(frames::build_frame, module)?)?;
    module.add_function(wrap_pyfunction!(frames::exchange, module)?)?;
    module.add_function(wrap_pyfunction!(frames::frame_layers, module)?)?;
    module.add_function(wrap_pyfunction!(flow_mods::encode_flow, module)?)?;
    module.add_function(wrap_pyfunction!(flow_mods::encode_group, module)?)?;
    module.add_function(wrap_pyfunction!(flow_mods::encode_meter, module)?)?;
    module.add_function(wrap_pyfunction!(capture::judge_capture, module)?)?;
    module.add_function(wrap_pyfunction!(recording::read_capture, module)?)?;
    module.add_function(wrap_pyfunction!(loopback::measure_loopback, module)?)?;
    module.add_function(wrap_pyfunction!(model::check_model, module)?)?;
    module.add_function(wrap_pyfunction!(openflow::decode_message, module)?)?;
    module.add_function(wrap_pyfunction!(openflow::encode_message, module)?)?;
    module.add_function(wrap_pyfunction!(port::impaired, module)?)?;
    module.add_function(wrap_pyfunction!(port::open_af_packet, module)?)?;
    module.add_function(wrap_pyfunction!(port::open_af_xdp, module)?)?;
    module.add_function(wrap_pyfunction!(port::open_pcap, module)?)?;
    module.add_function(wrap_pyfunction!(port::open_dpdk, module)?)?;
    module.add_function(wrap_pyfunction!(port::dpdk_version, module)?)?;
    module.add_function(wrap_pyfunction!(port::ring_pair, module)?)?;
    module.add_function(wrap_pyfunction!(values::flow_values, module)?)
}
