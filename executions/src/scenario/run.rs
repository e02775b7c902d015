//! Runs a scenario through the models.

use super::compare::{fold, same};
use super::{Action, Scenario, Source};
use hartrace_bits::{BitReader, BitWriter, Tail};
use hartrace_etrace::ingress::IType;
use hartrace_etrace::{Ioptions, Layout, MAX_PAYLOAD_BYTES, Mode, Payload, Unit};
use hartrace_golden::decoder::{Event, Fault, Position};
use hartrace_golden::{Compat, Decoder, Encoded, Encoder};

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The payloads as text; if the configuration is rejected, one line that says why.
    pub packets: Vec<String>,
    /// The trace as text.
    pub trace: Vec<String>,
    /// The payloads as bytes.
    pub payloads: Vec<Vec<u8>>,
    /// The events of the golden decoder, each with the number of its payload.
    pub events: Vec<(u64, Event)>,
    /// Whether the configuration is rejected.
    pub refused: bool,
}

impl Run {
    /// Runs everything, and also checks the bytes.
    pub(crate) fn of(scenario: &Scenario) -> Result<Self, String> {
        let setup = &scenario.setup;
        let layout = match setup.encoder.params.layout(setup.encoder.unit) {
            Ok(layout) => layout,
            Err(err) => return Ok(Self::refused(&err)),
        };
        let (packets, payloads) = match &scenario.source {
            Source::Steps(actions) => match Encoder::new(setup.encoder.clone()) {
                Ok(encoder) => encoded(scenario, &layout, encoder, actions)?,
                Err(err) => return Ok(Self::refused(&err)),
            },
            Source::Stream(payloads) => (parsed(&layout, payloads)?, payloads.clone()),
        };
        let events = decode(scenario, &payloads)?;
        check_malformed(&packets, &events)?;
        let trace = fold(&events.iter().map(|(_, event)| show(event)).collect::<Vec<_>>());
        Ok(Self { packets, trace, payloads, events, refused: false })
    }

    /// Returns the modes in any of the support packets.
    pub fn modes(&self, scenario: &Scenario) -> Ioptions {
        let encoder = &scenario.setup.encoder;
        let mut all = Ioptions::default();
        let Ok(layout) = encoder.params.layout(encoder.unit) else { return all };
        for bytes in &self.payloads {
            let parsed = Payload::parse(&layout, Ioptions::default(), &mut reader(&layout, bytes));
            if let Ok(Payload::Support(support)) = parsed {
                Mode::ALL
                    .iter()
                    .for_each(|mode| all.set(*mode, all.get(*mode) | support.ioptions.get(*mode)));
            }
        }
        all
    }

    fn refused(why: &dyn std::error::Error) -> Self {
        Self { packets: vec![format!("refused: {why}")], refused: true, ..Self::default() }
    }

    /// Checks that the trace corresponds to the steps: the same instructions and traps in the same
    /// order.
    pub(crate) fn check_trace(&self, scenario: &Scenario) -> Result<(), String> {
        let Source::Steps(actions) = &scenario.source else { return Ok(()) };
        if self.refused {
            return Ok(());
        }
        let mut expected = Vec::new();
        let mut epcs = Vec::new();
        for action in actions {
            let Action::Row(row) = action else { continue };
            if !row.traced {
                continue;
            }
            expected.extend(row.instructions.iter().map(|address| show(&Event::Retired(*address))));
            if row.retired.itype.is_trap() {
                let interrupt = row.retired.itype == IType::Interrupt;
                expected.push(trap_text(interrupt, row.retired.cause));
                epcs.push(row.epc);
            }
        }
        let mut known = Vec::new();
        let got = self.events.iter().filter_map(|(_, event)| match event {
            Event::Retired(_) => Some(show(event)),
            Event::Trap { cause, interrupt, epc, .. } => {
                known.push(*epc);
                Some(trap_text(*interrupt, *cause))
            }
            _ => None,
        });
        let got: Vec<String> = got.collect();
        same("retired instructions and traps", &expected, &got)?;
        for (i, (step, decoded)) in epcs.iter().zip(&known).enumerate() {
            if let (Some(step), Some(decoded)) = (step, decoded)
                && step != decoded
            {
                return Err(format!("EPC of trap {i} is {step:x}, decoded as {decoded:x}"));
            }
        }
        Ok(())
    }
}

fn trap_text(interrupt: bool, cause: u64) -> String {
    format!("trap {} cause={cause}", if interrupt { "interrupt" } else { "exception" })
}

/// One event as a line of the trace.
pub(crate) fn show(event: &Event) -> String {
    match event {
        Event::Retired(address) => format!("{address:x}"),
        Event::Trap { cause, interrupt, tval, epc } => {
            let epc = epc.map_or("?".to_owned(), |epc| format!("{epc:x}"));
            let tval = tval.map_or(String::new(), |tval| format!(" tval={tval:x}"));
            format!("{} epc={epc}{tval}", trap_text(*interrupt, *cause))
        }
        Event::Context { privilege, context, time } => {
            let mut line = format!("privilege={}", privilege.0);
            for (name, value) in [("context", context), ("time", time)] {
                if *value != 0 {
                    line += &format!(" {name}={value}");
                }
            }
            line
        }
        Event::Off(status) => format!("off {}", status.name()),
        Event::Gap(fault) => format!("gap {fault}"),
    }
}

/// Payloads as text and as bytes.
type Payloads = (Vec<String>, Vec<Vec<u8>>);

fn encoded(
    scenario: &Scenario,
    layout: &Layout,
    mut encoder: Encoder,
    actions: &[Action],
) -> Result<Payloads, String> {
    let mut payloads: Vec<Encoded> = Vec::new();
    let mut out = |payload| payloads.push(payload);
    for action in actions {
        match action {
            Action::Row(row) => encoder.retire(&row.retired, &mut out),
            Action::Lose => encoder.lose(),
            Action::Recover => encoder.recover(),
            Action::Options(options) => {
                encoder.set_options(*options, &mut out).map_err(|err| err.to_string())?;
            }
        }
    }
    encoder.finish(&mut out);
    check_production(scenario, actions, &payloads)?;

    let mut options = Ioptions::default();
    let mut lines = Vec::new();
    for Encoded { payload, bytes, reason, .. } in &payloads {
        check_codec(scenario, layout, options, payload, bytes)
            .map_err(|err| format!("{payload}: {err}"))?;
        if let Payload::Support(support) = payload {
            options = support.ioptions;
        }
        let shown = if scenario.setup.bytes { format!(" | {}", hex(bytes)) } else { String::new() };
        lines.push(format!("{payload}{shown}  ; {reason}"));
    }
    Ok((lines, payloads.into_iter().map(|payload| payload.bytes).collect()))
}

/// Checks that the production encoder sends the same payloads for the same reasons.
fn check_production(
    scenario: &Scenario,
    actions: &[Action],
    golden: &[Encoded],
) -> Result<(), String> {
    let config = scenario.setup.encoder.clone();
    let mut encoder = hartrace_encoder::Encoder::new(config).map_err(|err| err.to_string())?;
    let mut payloads: Vec<Encoded> = Vec::new();
    let mut out = |encoded: hartrace_encoder::Encoded<'_>| {
        let hartrace_encoder::Encoded { row, payload, bytes, reason } = encoded;
        payloads.push(Encoded { row, payload, bytes: bytes.to_vec(), reason });
    };
    for action in actions {
        match action {
            Action::Row(row) => encoder.retire(&row.retired, &mut out),
            Action::Lose => encoder.lose(),
            Action::Recover => encoder.recover(),
            Action::Options(options) => {
                encoder.set_options(*options, &mut out).map_err(|err| err.to_string())?;
            }
        }
    }
    encoder.finish(&mut out);
    let text = |all: &[Encoded]| {
        all.iter()
            .map(|e| format!("{} {} | {}  ; {}", e.row, e.payload, hex(&e.bytes), e.reason))
            .collect::<Vec<_>>()
    };
    same("payloads of the production encoder", &text(golden), &text(&payloads))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Checks that the production codec agrees with that of the golden model.
fn check_codec(
    scenario: &Scenario,
    layout: &Layout,
    options: Ioptions,
    payload: &Payload,
    bytes: &[u8],
) -> Result<(), String> {
    let emitted = emit(layout, options, payload)?;
    // The Python model fills irdepth in its own way (C3).
    if emitted != bytes && scenario.setup.encoder.compat != Compat::PythonModel {
        return Err(format!("golden bytes {}, production bytes {}", hex(bytes), hex(&emitted)));
    }
    for bytes in [bytes, &emitted] {
        match Payload::parse(layout, options, &mut reader(layout, bytes)) {
            Ok(parsed) if parsed == *payload => {}
            Ok(parsed) => return Err(format!("{} parses as {parsed}", hex(bytes))),
            Err(err) => return Err(format!("{} does not parse: {err}", hex(bytes))),
        }
    }
    Ok(())
}

fn emit(layout: &Layout, options: Ioptions, payload: &Payload) -> Result<Vec<u8>, String> {
    let mut bytes = [0; MAX_PAYLOAD_BYTES];
    let mut out = BitWriter::new(&mut bytes);
    payload.emit(layout, options, &mut out).map_err(|err| err.to_string())?;
    let len = match layout.unit() {
        Unit::RvTracer => out.finish_padded(),
        Unit::Reference | Unit::Hartrace => out.finish_compressed(),
    };
    Ok(bytes.into_iter().take(len).collect())
}

fn reader<'a>(layout: &Layout, bytes: &'a [u8]) -> BitReader<'a> {
    let tail = match layout.unit() {
        Unit::RvTracer => Tail::Zero,
        Unit::Reference | Unit::Hartrace => Tail::Sign,
    };
    BitReader::new(bytes, tail)
}

/// Parses a stream with the production parser.
fn parsed(layout: &Layout, payloads: &[Vec<u8>]) -> Result<Vec<String>, String> {
    let mut options = Ioptions::default();
    let mut lines = Vec::new();
    for bytes in payloads {
        let payload = match Payload::parse(layout, options, &mut reader(layout, bytes)) {
            Ok(payload) => payload,
            Err(err) => {
                lines.push(format!("malformed: {err}"));
                continue;
            }
        };
        // Whatever its length was, its contents can be emitted again.
        let again = emit(layout, options, &payload)?;
        if Payload::parse(layout, options, &mut reader(layout, &again)) != Ok(payload) {
            return Err(format!("{payload} does not survive emission as {}", hex(&again)));
        }
        if let Payload::Support(support) = &payload {
            options = support.ioptions;
        }
        lines.push(payload.to_string());
    }
    Ok(lines)
}

/// Checks that the production parser rejects whatever the golden decoder cannot parse.
fn check_malformed(packets: &[String], events: &[(u64, Event)]) -> Result<(), String> {
    for (number, event) in events {
        let packet = packets.get(*number as usize).map_or("nothing", String::as_str);
        if let Event::Gap(Fault::Malformed(why)) = event
            && !packet.starts_with("malformed: ")
        {
            return Err(format!("golden: {why}, production: {packet}"));
        }
    }
    Ok(())
}

/// Decodes the payloads with the golden decoder; each event has the number of its payload.
fn decode(scenario: &Scenario, payloads: &[Vec<u8>]) -> Result<Vec<(u64, Event)>, String> {
    let image = scenario.code.image();
    let mut decoder = Decoder::new(scenario.setup.decoder.clone(), &image)
        .map_err(|err| format!("decoder: {err}"))?;
    let mut events = Vec::new();
    let mut out = |at: Position, event| events.push((at.packet, event));
    for (packet, bytes) in (0..).zip(payloads) {
        let bits: Vec<bool> =
            bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        decoder.feed(Position { packet, byte: 0 }, &bits, &mut out);
    }
    decoder.finish(&mut out);
    Ok(events)
}
