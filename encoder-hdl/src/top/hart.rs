//! The modules for each hart.

use crate::bundle::module_of_lanes;
use crate::encoder;
use crate::registers::encoder_registers;
use crate::top::config::{TimeSource, TopConfig, TopError};
use crate::top::timestamp::timestamp;
use crate::top::wiring::{APB, APB_ANSWER, Wiring, has};
use crate::transport::{encapsulator, len_width};
use hartrace_rtl::{Component, concat, lit, zero};

/// The module `te_hart`: a core with its registers and its encapsulator.
///
/// `flush_o asked_i` connect to a [`flush`](crate::top::flush::flush): when a trace has ended,
/// bytes that wait for a word to fill are sent, and only then do the registers report that all
/// packets have left.
pub(crate) fn hart(config: &TopConfig) -> Result<Component, TopError> {
    let m = module_of_lanes(
        &config.encoder,
        "te_hart",
        "The encoder of one hart: core, control registers and encapsulation.",
    );
    let core = encoder(&config.encoder)?;
    let registers = encoder_registers(&config.encoder_params())?;
    let asked_i = m.input("asked_i", 1, "a flush that was asked for is not done");
    let flush_o = m.output("flush_o", 1, "asks for a flush, for a cycle");
    let standard = config.standard();
    let source = (standard.src_id_bits > 0)
        .then(|| m.input("src_id_i", standard.src_id_bits.into(), "constant"));
    let time = (config.time_width() > 0).then(|| match config.time {
        TimeSource::External => m.input("time_i", config.time_width(), ""),
        TimeSource::Internal => m.wire("ticks", config.time_width()),
    });

    m.section("Registers.");
    let [busy, empty, refused] = ["busy", "empty", "refused"].map(|name| m.wire(name, 1));
    let on = has(&core, "on_o").then(|| m.wire("on", 1));
    let bus = |name: &str| APB.contains(&name) || APB_ANSWER.contains(&name);
    let told = Wiring::new(&m, registers.clone())
        .wire("busy_i", &busy)
        .wire("empty_i", &empty)
        .wire("event_i", &refused)
        .wire_if("on_i", || on.clone().unwrap_or_else(|| zero(1)))
        .wire_if("src_id_i", || source.clone().unwrap_or_else(|| zero(1)))
        .wire_if("time_i", || time.clone().unwrap_or_else(|| zero(1)))
        .ports("", |port| bus(&port.name))
        .inst("i_registers");

    if let (TimeSource::Internal, Some(time)) = (config.time, &time) {
        m.section("The time.");
        let counter = m.inst(
            "i_timestamp",
            &timestamp(time.width()),
            &[
                ("count_i", &told["time_count_o"]),
                ("reset_i", &told["time_reset_o"]),
                ("prescale_i", &told["time_prescale_o"]),
            ],
        );
        m.assign(time, &counter["time_o"]);
    }

    m.section(
        "The core. Triggers switch tracing on and off only if they are enabled; notify does not.",
    );
    let payload_ready = m.wire("payload_ready", 1);
    let mut wiring = Wiring::new(&m, core.clone());
    if has(&core, "trigger_i") {
        let lanes = config.encoder.lanes.into();
        let trigger = m.input("trigger_i", 2 + lanes, "trace on, trace off, notify of each lane");
        let switches = told["trigger_enable_o"].repeat(2) & trigger.trunc(2);
        wiring = wiring.wire("trigger_i", &concat(&[&trigger.slice(2, lanes), &switches]));
    }
    let of_hart = |name: &str| {
        let inside = ["ready_i", "active_o", "empty_o", "valid_o", "data_o", "len_o", "on_o"];
        !inside.contains(&name)
    };
    let payloads = wiring
        .wire_if("time_i", || {
            let width = config.encoder.etrace.time_bits();
            time.clone().map_or_else(|| zero(width), |time| time.trunc(width))
        })
        .wire("ready_i", &payload_ready)
        .told_by(&registers, &told)
        .ports("", |port| of_hart(&port.name))
        .inst("i_core");
    let ports = ["stall_o", "lost_o"].into_iter().filter(|port| has(&core, port));
    let any = ports.map(|port| payloads[port].clone()).reduce(|a, b| a | b);
    m.assign(&refused, any.unwrap_or_else(|| zero(1)));
    if let Some(on) = &on {
        m.assign(on, &payloads["on_o"]);
    }

    m.section("A trace that has ended is flushed. It is gone when that is done.");
    m.assign(&busy, &payloads["active_o"] | !&payloads["empty_o"]);
    let was_busy = m.reg("was_busy", false);
    m.assign(&was_busy.d, &busy);
    m.assign(&flush_o, &was_busy.q & !&busy);
    m.assign(&empty, !(&busy | &was_busy.q | &asked_i));

    m.section("Packets.");
    let bytes = payloads["data_o"].width() / 8;
    let len = &payloads["len_o"];
    let width = len_width(bytes);
    if len.width() > width {
        m.unused(&len.slice(width, len.width() - width));
    }
    Wiring::new(&m, encapsulator(config.frame()?, bytes))
        .wire("valid_i", &payloads["valid_o"])
        .wire("data_i", &payloads["data_o"])
        .wire("len_i", &len.trunc(width))
        .wire("ready_o", &payload_ready)
        .wire_if("flow_i", || zero(2))
        .wire_if("src_id_i", || source.clone().unwrap_or_else(|| zero(1)))
        .wire_if("type_i", || lit(standard.type_bits.into(), standard.instruction_type.into()))
        .wire_if("stamp_i", || lit(1, 1))
        .wire_if("time_i", || {
            let width = 8 * u32::from(standard.timestamp_bytes);
            time.clone().map_or_else(|| zero(width), |time| time.trunc(width))
        })
        .ports("", |_| true)
        .inst("i_encapsulator");
    Ok(m.finish())
}
