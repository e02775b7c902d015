//! Payloads are lost and tracing recovers: what is decoded is always a part of what ran, the loss
//! is reported, and nothing before or after it is affected.

use hartrace_etrace::QualStatus;
use hartrace_golden::decoder::{Event, Position};
use hartrace_golden::encoder::{Encoded, Reason};
use hartrace_golden::{Decoder, Encoder};
use hartrace_tests::case::{Case, Dice, bits, is_report};

/// A part between two losses: the payloads that arrived and the decoded instructions.
#[derive(Default)]
struct Stretch {
    payloads: Vec<Encoded>,
    pcs: Vec<u64>,
}

fn encode_with_losses(case: &Case, dice: &mut Dice) -> Vec<Encoded> {
    let mut encoder = Encoder::new(case.encoder.clone()).expect("cases are legal");
    let mut payloads = Vec::new();
    let mut losing = false;
    for row in &case.rows {
        if dice.one_in(if losing { 20 } else { 100 }) {
            losing = !losing;
            if losing { encoder.lose() } else { encoder.recover() }
        }
        encoder.retire(row, &mut |encoded| payloads.push(encoded));
    }
    encoder.recover();
    encoder.finish(&mut |encoded| payloads.push(encoded));
    payloads
}

fn decode(case: &Case, payloads: &[Encoded]) -> Vec<Stretch> {
    let image = case.image();
    let mut decoder = Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut stretches = vec![Stretch::default()];
    for encoded in payloads {
        let mut lost = false;
        let mut pcs = Vec::new();
        decoder.feed(Position::default(), &bits(&encoded.bytes), &mut |_, event| match event {
            Event::Retired(pc) => pcs.push(pc),
            Event::Off(QualStatus::TraceLost) => lost = true,
            Event::Gap(fault) => panic!("gap: {fault}"),
            _ => {}
        });
        let last = stretches.last_mut().expect("never empty");
        last.pcs.extend(pcs);
        if lost {
            stretches.push(Stretch::default());
        } else {
            last.payloads.push(encoded.clone());
        }
    }
    let last = stretches.last_mut().expect("never empty");
    decoder.finish(&mut |_, event| {
        if let Event::Retired(pc) = event {
            last.pcs.push(pc);
        }
    });
    stretches
}

/// Checks one case; returns the number of losses.
fn run(seed: u64) -> usize {
    let mut case = Case::new(seed);
    // Single rows that are all traced, so that row numbers show where a part begins and ends.
    case.encoder.filter = Default::default();
    case.rows = case.walk.rows.clone();
    for row in &mut case.rows {
        row.trigger = Default::default();
        row.halted = false;
        row.reset = false;
    }
    // A reset is a jump that nothing reports; another test covers such walks.
    if case.walk.rows.iter().any(|row| row.reset) {
        return 0;
    }
    let payloads = encode_with_losses(&case, &mut Dice::new(seed));
    let losses = payloads.iter().filter(|e| e.reason == Reason::Lost).count();
    let stretches = decode(&case, &payloads);
    assert_eq!(stretches.len(), losses + 1, "seed {seed}: every loss is reported once");

    for (index, stretch) in stretches.iter().enumerate() {
        let reports: Vec<u64> =
            stretch.payloads.iter().filter(|e| is_report(&e.payload)).map(|e| e.row).collect();
        let Some(&first) = reports.first() else {
            assert!(stretch.pcs.is_empty(), "seed {seed}: instructions out of nothing");
            continue;
        };
        let rows = &case.rows[first as usize..];
        let ran: Vec<u64> = rows.iter().filter(|r| r.iretire > 0).map(|r| r.iaddr).collect();
        assert!(
            ran.starts_with(&stretch.pcs),
            "seed {seed}, stretch {index} from row {first}: not what ran"
        );
        // A lost payload may leave open which visit of the last address was meant; everything
        // before it is certain.
        let complete = index + 1 == stretches.len();
        let certain = if complete { reports.len() } else { reports.len() - 1 };
        let Some(&until) = reports[..certain].last() else { continue };
        let least = rows[..=(until - first) as usize].iter().filter(|r| r.iretire > 0).count();
        assert!(
            stretch.pcs.len() >= least,
            "seed {seed}, stretch {index}: {} of at least {least} instructions",
            stretch.pcs.len()
        );
        if complete {
            assert_eq!(stretch.pcs, ran, "seed {seed}: the last stretch is whole");
        }
    }
    losses
}

#[test]
fn recovery_is_exact() {
    let losses: usize = (0..1500).map(run).sum();
    assert!(losses > 3000, "only {losses} losses: the test has lost its teeth");
}
