//! Outcomes as the values of `flowgauge/testbed/interface.py`: dictionaries of their fields, arrays that own their memory.

use flowgauge_measure::{Account, Distribution, StallLog};
use flowgauge_traffic::{Outcome, StreamOutcome};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::play::gap_errors;

/// `{"streams": [...], "tester": {...}, "error": exception or None}`. `unlogged`: PACKET_INs that our log had no room for.
pub fn to_python<'py>(py: Python<'py>, outcome: &Outcome, unlogged: u64) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let streams: Vec<_> = outcome.streams.iter().map(|s| stream(py, s)).collect::<PyResult<_>>()?;
    dict.set_item("streams", streams)?;
    dict.set_item("tester", tester(py, outcome, unlogged)?)?;
    dict.set_item("error", outcome.error.as_ref().map(|e| errors::traffic(e).into_value(py)))?;
    dict.set_item("pinned", outcome.pinned)?;
    Ok(dict)
}

fn stream<'py>(py: Python<'py>, stream: &StreamOutcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let account = &stream.account;
    let counters = account.counters();
    dict.set_item("requested", stream.requested)?;
    dict.set_item("sent", counters.sent)?;
    dict.set_item("received", counters.received)?;
    dict.set_item("lost", if stream.probed { counters.lost } else { 0 })?;
    dict.set_item("probed", stream.probed)?;
    dict.set_item("duplicated", counters.duplicated)?;
    dict.set_item("reordered", counters.reordered)?;
    dict.set_item("late", counters.late)?;
    dict.set_item("misrouted", stream.misrouted)?;
    dict.set_item("elapsed_ns", stream.elapsed().0)?;
    dict.set_item("latency", latency(py, account.latency())?)?;
    dict.set_item("gap_error_ns", gap_errors(py, &stream.gap_errors)?)?;
    dict.set_item("packet_in_bytes_min", stream.packet_ins.shortest)?;
    dict.set_item("packet_in_buffered", stream.packet_ins.buffered)?;
    arrays(py, &dict, account)?;
    Ok(dict)
}

fn arrays<'py>(py: Python<'py>, dict: &Bound<'py, PyDict>, account: &Account) -> PyResult<()> {
    let windows = account.windows();
    let means: Vec<f64> = windows.slices().iter().map(|w| w.mean_ns().unwrap_or(f64::NAN)).collect();
    let counts: Vec<i64> = windows.slices().iter().map(|w| w.count as i64).collect();
    dict.set_item("windows_mean_ns", means.to_pyarray(py))?;
    dict.set_item("windows_count", counts.to_pyarray(py))?;
    dict.set_item("window_ns", windows.width().0)?;
    let first = account.first_arrivals().map(|at| at.map_or(-1, |at| at.0 as i64));
    dict.set_item("first_arrival_ns", PyArray1::from_iter(py, first))?;
    let departures = account.departures().iter().map(|&at| at as i64);
    dict.set_item("departures_ns", PyArray1::from_iter(py, departures))?;
    for (i, name) in ["arrivals_seq", "arrivals_tx_ns", "arrivals_rx_ns"].into_iter().enumerate() {
        let column = account.arrivals().iter().map(|row| row[i] as i64);
        dict.set_item(name, PyArray1::from_iter(py, column))?;
    }
    Ok(())
}

pub fn latency<'py>(py: Python<'py>, delays: &Distribution) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (values, counts): (Vec<i64>, Vec<i64>) =
        delays.buckets().map(|(value, count)| (value as i64, count as i64)).unzip();
    dict.set_item("count", delays.count())?;
    dict.set_item("min_ns", delays.min_ns().map(|ns| ns as f64))?;
    dict.set_item("mean_ns", delays.mean_ns())?;
    dict.set_item("std_ns", delays.std_ns())?;
    dict.set_item("max_ns", delays.max_ns().map(|ns| ns as f64))?;
    dict.set_item("values_ns", values.to_pyarray(py))?;
    dict.set_item("counts", counts.to_pyarray(py))?;
    Ok(dict)
}

fn tester<'py>(py: Python<'py>, outcome: &Outcome, unlogged: u64) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let stalls: &StallLog = &outcome.stalls;
    dict.set_item("rx_dropped", outcome.rx_dropped() + unlogged)?;
    dict.set_item("tx_errors", outcome.tx_errors())?;
    dict.set_item("foreign", outcome.ports.iter().map(|port| port.foreign).collect::<Vec<_>>())?;
    dict.set_item("stalls_over_100us", stalls.over_100us)?;
    dict.set_item("stall_max_ns", stalls.longest.0)?;
    dict.set_item("ring_ns", outcome.ring().map(|t| t.0))?;
    dict.set_item("involuntary_switches", outcome.involuntary_switches)?;
    dict.set_item("steal_ns", outcome.steal.0)?;
    dict.set_item("start_ns", outcome.start.0)?;
    dict.set_item("stop_ns", outcome.stop.0)?;
    dict.set_item("timestamps", outcome.timestamps())?;
    if let Some(lag) = outcome.tx_lag() {
        dict.set_item("tx_samples", lag.samples)?;
        dict.set_item("tx_lag_p50_ns", lag.p50_ns)?;
        dict.set_item("tx_lag_p99_ns", lag.p99_ns)?;
    }
    Ok(dict)
}
