//! The modules for each hart.

use crate::core::CoreOut;
use crate::encoder;
use crate::lanes::module_of_lanes;
use crate::registers::encoder_registers;
use crate::top::config::{TimeSource, TopConfig, TopError};
use crate::top::timestamp::timestamp;
use crate::top::wiring::{APB, APB_ANSWER, Wiring, has};
use crate::transport::{encapsulator, len_width};
use hartrace_rtl::{Component, bundle, concat, lit, zero};

bundle! {
    /// Packets, and a request for a flush.
    pub(crate) struct HartOut { valid, data, len, flush }
}

bundle! {
    /// What the registers say about the time.
    struct TimeTold { time_count, time_reset, time_prescale }
}

bundle! {
    /// What the registers say about the end of a trace that nothing takes.
    struct AbortTold { abort }
}

bundle! {
    /// What the registers say about triggers.
    struct TriggerTold { trigger_enable }
}

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
    let [busy, empty, refused, drops] =
        ["busy", "empty", "refused", "drops"].map(|name| m.wire(name, 1));
    let on = has(&core, "on_o").then(|| m.wire("on", 1));
    let bus = |name: &str| APB.contains(&name) || APB_ANSWER.contains(&name);
    let told = Wiring::new(&m, registers.clone())
        .wire("busy_i", &busy)
        .wire("empty_i", &empty)
        .wire("event_i", &refused)
        .wire("dropped_i", &drops)
        .wire_if("on_i", || on.clone().unwrap_or_else(|| zero(1)))
        .wire_if("src_id_i", || source.clone().unwrap_or_else(|| zero(1)))
        .wire_if("time_i", || time.clone().unwrap_or_else(|| zero(1)))
        .ports("", |port| bus(&port.name))
        .inst("i_registers");

    if let (TimeSource::Internal, Some(time)) = (config.time, &time) {
        m.section("The time.");
        let told = TimeTold::of(&told);
        let counter = m.inst(
            "i_timestamp",
            &timestamp(time.width()),
            &[
                ("count_i", &told.time_count),
                ("reset_i", &told.time_reset),
                ("prescale_i", &told.time_prescale),
            ],
        );
        m.assign(time, counter.only());
    }

    m.section(
        "The core. Triggers switch tracing on and off only if they are enabled; notify does not.",
    );
    let payload_ready = m.wire("payload_ready", 1);
    let lost_i =
        m.input("lost_i", 1, "what retires is incomplete: some of it was lost on the way here");
    let drained_i =
        m.input("drained_i", 1, "nothing that retired while trace_o was set is still to come");
    let [lost, drained] = ["lost", "drained"].map(|name| m.wire(name, 1));
    let mut wiring = Wiring::new(&m, core.clone());
    if has(&core, "trigger_i") {
        let lanes = config.encoder.lanes.into();
        let trigger = m.input("trigger_i", 2 + lanes, "trace on, trace off, notify of each lane");
        let switches = TriggerTold::of(&told).trigger_enable.repeat(2) & trigger.trunc(2);
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
        .wire("lost_i", &lost)
        .wire("drained_i", &drained)
        .told_by(&registers, &told)
        .ports("", |port| of_hart(&port.name))
        .inst("i_core");
    let payloads = CoreOut::of(&payloads);
    let lost_o = payloads.lost;
    m.assign(&refused, payloads.stall.map_or_else(|| lost_o.clone(), |stall| stall | &lost_o));
    if let (Some(to), Some(on)) = (&on, &payloads.on) {
        m.assign(to, on);
    }

    m.section("A trace that has ended is flushed. It is gone when that is done.");
    m.assign(&busy, &payloads.active | !&payloads.empty);
    let was_busy = m.reg("was_busy", false);
    m.assign(&was_busy.d, &busy);
    m.assign(&flush_o, &was_busy.q & !&busy);
    m.assign(&empty, !(&busy | &was_busy.q | &asked_i));

    m.section(
        "A trace that nothing takes is thrown away on request: the whole payload that waits and all behind it. The\n\
         next trace reports it as soon as it has started.",
    );
    let aborts = AbortTold::of(&told).abort;
    let dropped = m.reg("dropped", false);
    m.assign(&drops, &aborts & &payloads.valid);
    let reports = &dropped.q & &payloads.active & !&aborts;
    m.assign(&dropped.d, &drops | (&dropped.q & !&reports));
    m.assign(&lost, lost_i | reports);
    m.assign(&drained, drained_i | &aborts);
    let packet_ready = m.wire("packet_ready", 1);
    m.assign(&payload_ready, &packet_ready | &aborts);

    m.section("Packets.");
    let bytes = payloads.data.width() / 8;
    let len = &payloads.len;
    let width = len_width(bytes);
    if len.width() > width {
        m.unused(&len.slice(width, len.width() - width));
    }
    Wiring::new(&m, encapsulator(config.frame()?, bytes))
        .wire("valid_i", &(&payloads.valid & !&aborts))
        .wire("data_i", &payloads.data)
        .wire("len_i", &len.trunc(width))
        .wire("ready_o", &packet_ready)
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
