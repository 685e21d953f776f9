//! Schedules and orders of `flowgauge/flows.py`.

use flowgauge_clock::Nanos;
use flowgauge_measure::{FlowOrder, Rate, Recorded, Schedule};
use pyo3::prelude::*;

use crate::errors::usage;

/// The core's schedule for a Python `Schedule`.
pub fn schedule(value: &Bound<'_, PyAny>) -> PyResult<Schedule> {
    let kind: String = value.getattr("kind")?.extract()?;
    match kind.as_str() {
        "cbr" => Ok(Schedule::Cbr { rate: needed_rate(value)? }),
        "poisson" => {
            Ok(Schedule::Poisson { rate: needed_rate(value)?, seed: value.getattr("seed")?.extract()? })
        }
        "burst" => {
            let frames: u32 = value.getattr("burst")?.extract()?;
            if frames == 0 {
                return Err(usage("a burst has at least 1 frame"));
            }
            Ok(Schedule::Burst {
                frames,
                gap: Nanos(value.getattr("gap_ns")?.extract()?),
                rate: rate(value)?,
            })
        }
        "recorded" => {
            let times: Vec<u64> = value.getattr("times_ns")?.extract()?;
            let period = Nanos(value.getattr("gap_ns")?.extract()?);
            Recorded::new(times.into_iter().map(Nanos), period).map(Schedule::Recorded).map_err(usage)
        }
        "max" => Ok(Schedule::Max),
        _ => Err(usage(format!(
            "no schedule is called {kind:?}; there are: cbr, poisson, burst, recorded, max"
        ))),
    }
}

/// The core's order for a Python `FlowOrder`.
pub fn flow_order(value: &Bound<'_, PyAny>) -> PyResult<FlowOrder> {
    let number = |name: &str| match value.getattr(name)?.extract::<u32>() {
        Ok(0) | Err(_) => Err(usage(format!("{name} of a flow order is a number from 1 to 2^32 - 1"))),
        Ok(n) => Ok(n),
    };
    let kind: String = value.getattr("kind")?.extract()?;
    match kind.as_str() {
        "sequential" => Ok(FlowOrder::Sequential),
        "blocks" => Ok(FlowOrder::Blocks { block: number("block")?, repeats: number("repeats")? }),
        "random" => Ok(FlowOrder::Random { seed: value.getattr("seed")?.extract()? }),
        _ => Err(usage(format!("no flow order is called {kind:?}; there are: sequential, blocks, random"))),
    }
}

fn needed_rate(value: &Bound<'_, PyAny>) -> PyResult<Rate> {
    rate(value)?.ok_or_else(|| usage("this schedule needs a rate"))
}

/// The rate, a Python `Fraction`.
fn rate(value: &Bound<'_, PyAny>) -> PyResult<Option<Rate>> {
    let rate = value.getattr("rate")?;
    if rate.is_none() {
        return Ok(None);
    }
    let term = |name: &str| {
        let term = rate.getattr(name)?;
        term.extract::<u128>().map_err(|_| usage(format!("a rate must be above zero, not {rate}")))
    };
    Rate::new(term("numerator")?, term("denominator")?).map(Some).map_err(usage)
}
