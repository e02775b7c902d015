//! Payloads are dropped, flipped, truncated or repeated: the golden decoder never panics, always ends,
//! and is exact again from the next synchronisation on.

use hartrace_etrace::Payload;
use hartrace_golden::Decoder;
use hartrace_golden::decoder::{Event, Position};
use hartrace_tests::case::{Case, Dice, bits};
use hartrace_tests::fault::{Kind, injured, numbered, synchronises};

fn decode<'s>(case: &Case, stream: impl Iterator<Item = (u64, &'s [u8])>) -> Vec<(u64, Event)> {
    let image = case.image();
    let mut decoder = Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut events = Vec::new();
    let mut sink = |at: Position, event| events.push((at.packet, event));
    for (packet, payload) in stream {
        decoder.feed(Position { packet, byte: 0 }, &bits(payload), &mut sink);
    }
    decoder.finish(&mut sink);
    events
}

/// The events from `sync` on, however it was reached.
fn after(events: &[(u64, Event)], sync: u64) -> Vec<(u64, Event)> {
    let arrival = events
        .iter()
        .rposition(|(packet, event)| *packet == sync && matches!(event, Event::Retired(_)))
        .expect("a synchronisation reports its instruction");
    events[arrival..].to_vec()
}

#[test]
fn exact_again_after_the_next_synchronisation() {
    let mut compared = [0; Kind::ALL.len()];
    let mut noticed = [0; Kind::ALL.len()];
    for seed in 0..1500 {
        let case = Case::new(seed);
        let payloads = case.encode();
        let clean: Vec<Vec<u8>> = payloads.iter().map(|e| e.bytes.clone()).collect();
        let clean_events = decode(&case, numbered(&clean, 0));
        let mut dice = Dice::new(seed);
        for (k, kind) in Kind::ALL.into_iter().enumerate() {
            let index = dice.range(0, clean.len() as u64 - 1) as usize;
            // A support packet changes the modes: without it nothing that follows can be right.
            if matches!(payloads[index].payload, Payload::Support(_)) {
                continue;
            }
            let instead = kind.injure(&clean[index], &mut dice);
            let events = decode(&case, injured(&clean, index, &instead));
            // The same applies if the damaged payload is read as a support packet (format 3.3), which
            // the copied bits at its end can make of a short one.
            let forged = |hurt: &Vec<u8>| hurt.is_empty() || hurt[0] & 0xf == 0xf;
            if instead.iter().any(forged) {
                continue;
            }
            noticed[k] += u32::from(events.iter().any(|(_, e)| matches!(e, Event::Gap(_))));
            let next = (index + 1..payloads.len()).find(|n| synchronises(&payloads[*n].payload));
            let Some(sync) = next else { continue };
            assert_eq!(
                after(&events, sync as u64),
                after(&clean_events, sync as u64),
                "seed {seed}: {kind:?} of payload {index}, synchronised by {sync}"
            );
            compared[k] += 1;
        }
    }
    println!(
        "faults compared {compared:?}, noticed as gaps {noticed:?} (drop, flip, truncate, duplicate)"
    );
    assert!(compared.iter().all(|n| *n > 300), "{compared:?}: the test has lost its teeth");
}

#[test]
fn hostile_bytes_end() {
    for seed in 0..3000 {
        let case = Case::new(seed);
        let mut dice = Dice::new(seed);
        let clean = case.encode();
        let mut stream: Vec<Vec<u8>> = Vec::new();
        for n in 0..40 {
            let len = dice.range(0, 32);
            let random = (0..len).map(|_| dice.roll() as u8).collect();
            let real = clean.get(n).map(|e| e.bytes.clone());
            stream.push(if dice.one_in(2) { real.unwrap_or(random) } else { random });
        }
        decode(&case, numbered(&stream, 0));
    }
}
