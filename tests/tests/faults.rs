//! Payloads are dropped, repeated, cut short or flipped: decoding never panics, always ends, and is
//! exact again from the next synchronisation on.

use hartrace_etrace::Payload;
use hartrace_golden::Decoder;
use hartrace_golden::decoder::{Event, Position};
use hartrace_tests::case::{Case, Dice, bits};

#[derive(Copy, Clone, Debug)]
enum Kind {
    Drop,
    Repeat,
    Cut,
    Flip,
}

const KINDS: [Kind; 4] = [Kind::Drop, Kind::Repeat, Kind::Cut, Kind::Flip];

/// The stream as (number of the payload in the clean stream, bits).
type Stream = Vec<(u64, Vec<bool>)>;

fn decode(case: &Case, stream: &Stream) -> Vec<(u64, Event)> {
    let image = case.image();
    let mut decoder = Decoder::new(case.decoder(), &image).expect("cases are legal");
    let mut events = Vec::new();
    let mut sink = |at: Position, event| events.push((at.packet, event));
    for (packet, bits) in stream {
        decoder.feed(Position { packet: *packet, byte: 0 }, bits, &mut sink);
    }
    decoder.finish(&mut sink);
    events
}

/// What follows from `sync` on, without how it was reached.
fn after(events: &[(u64, Event)], sync: u64) -> Vec<(u64, Event)> {
    let arrival = events
        .iter()
        .rposition(|(packet, event)| *packet == sync && matches!(event, Event::Retired(_)))
        .expect("a synchronisation reports its instruction");
    events[arrival..].to_vec()
}

fn injure(stream: &Stream, index: usize, kind: Kind, dice: &mut Dice) -> Stream {
    let mut stream = stream.clone();
    let len = stream[index].1.len() as u64;
    match kind {
        Kind::Drop => drop(stream.remove(index)),
        Kind::Repeat => stream.insert(index, stream[index].clone()),
        Kind::Cut => stream[index].1.truncate(dice.range(0, len - 1) as usize),
        Kind::Flip => {
            let bit = dice.range(0, len - 1) as usize;
            stream[index].1[bit] ^= true;
        }
    }
    stream
}

#[test]
fn exact_again_after_the_next_synchronisation() {
    let mut compared = [0; KINDS.len()];
    let mut noticed = [0; KINDS.len()];
    for seed in 0..1500 {
        let case = Case::new(seed);
        let payloads = case.encode();
        let clean: Stream =
            payloads.iter().enumerate().map(|(n, e)| (n as u64, bits(&e.bytes))).collect();
        let clean_events = decode(&case, &clean);
        let mut dice = Dice::new(seed);
        for (k, kind) in KINDS.into_iter().enumerate() {
            let index = dice.range(0, clean.len() as u64 - 1) as usize;
            // A support packet changes the modes: without it nothing that follows can be right.
            if matches!(payloads[index].payload, Payload::Support(_)) {
                continue;
            }
            let injured = injure(&clean, index, kind, &mut dice);
            // The same if the injured payload is taken for a support packet (format 3.3).
            let hurt = injured.get(index).map_or(&[][..], |(_, bits)| &bits[..]);
            if hurt.len() < 4 || hurt[..4].iter().all(|bit| *bit) {
                decode(&case, &injured);
                continue;
            }
            let events = decode(&case, &injured);
            noticed[k] += u32::from(events.iter().any(|(_, e)| matches!(e, Event::Gap(_))));
            let is_start = |p: &Payload| match p {
                Payload::Start(_) => true,
                Payload::Trap(trap) => trap.thaddr,
                _ => false,
            };
            let next = (index + 1..payloads.len()).find(|n| is_start(&payloads[*n].payload));
            let Some(sync) = next else { continue };
            assert_eq!(
                after(&events, sync as u64),
                after(&clean_events, sync as u64),
                "seed {seed}: {kind:?} of payload {index}, synchronised by {sync}"
            );
            compared[k] += 1;
        }
    }
    println!("faults compared {compared:?}, noticed as gaps {noticed:?} (drop, repeat, cut, flip)");
    assert!(compared.iter().all(|n| *n > 300), "{compared:?}: the test has lost its teeth");
}

#[test]
fn hostile_bytes_end() {
    for seed in 0..3000 {
        let case = Case::new(seed);
        let mut dice = Dice::new(seed);
        let clean = case.encode();
        let mut stream: Stream = Vec::new();
        for n in 0..40 {
            let len = dice.range(0, 32);
            let random = (0..len).flat_map(|_| bits(&[dice.roll() as u8])).collect();
            let real = clean.get(n).map(|e| bits(&e.bytes));
            let payload = if dice.one_in(2) { real.unwrap_or(random) } else { random };
            stream.push((n as u64, payload));
        }
        decode(&case, &stream);
    }
}
