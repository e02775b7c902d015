//! Sources of one stream share what is known of the code, and nothing else: each is decoded as if it were
//! alone.

use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{Config, Tracer};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::log::{Collect, Seen, unannounced};
use hartrace_tests::production::{config, feed, image};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// What was decoded, without the numbers of payloads, which depend on the other sources.
type Events = Vec<Seen>;

fn alone(case: &Case, config: Config, stream: &[Vec<u8>]) -> Events {
    let image = image(case);
    let mut tracer = Tracer::new(config, &image).expect("cases are legal");
    let mut out = Collect::default();
    for (packet, payload) in stream.iter().enumerate() {
        feed(&mut tracer, packet as u64, payload, &mut out);
    }
    tracer.finish(&mut out);
    unannounced(out.0).into_iter().map(|(_, seen)| seen).collect()
}

/// Sends the streams of several sources in any order, and decodes them together.
fn together(
    case: &Case,
    config: Config,
    streams: &[Vec<Vec<u8>>],
    threads: usize,
    dice: &mut Dice,
) -> Vec<Events> {
    let framing = Framing::Encap(EncapParams::new(8, 0, 0).expect("legal"));
    let mut rest: Vec<_> = streams.iter().map(|stream| stream.iter().peekable()).collect();
    let mut capture = Vec::new();
    while rest.iter_mut().any(|stream| stream.peek().is_some()) {
        let source = dice.range(0, streams.len() as u64 - 1) as usize;
        let header = FrameHeader { source: Some(source as u16), ..FrameHeader::default() };
        for payload in rest[source].by_ref().take(dice.range(1, 5) as usize) {
            let mut frame = [0; MAX_FRAME];
            let len = framing.emit(&header, payload, &mut frame).expect("fits");
            capture.extend(&frame[..len]);
        }
    }
    let image = image(case);
    let mut decode = Decode::new(config, &image, Transport::new(framing));
    decode.threads = NonZeroUsize::new(threads).expect("not zero");
    decode.part = dice.range(1, 300) as usize;
    let mut logs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let result = decode.run(
        &capture[..],
        |_| Collect::default(),
        |part| {
            for (source, sink) in part.sinks {
                logs.entry(source).or_default().extend(sink.0);
            }
            Ok::<(), std::convert::Infallible>(())
        },
    );
    result.expect("nothing fails");
    let events = logs.into_values().map(unannounced);
    events.map(|log| log.into_iter().map(|(_, seen)| seen).collect()).collect()
}

#[test]
fn each_source_is_decoded_as_if_it_were_alone() {
    let mut compared = 0;
    for seed in 0..400 {
        let mut case = Case::new(seed);
        let mut dice = Dice::new(seed);
        let encode = |case: &Case| -> Vec<Vec<u8>> {
            case.encode().into_iter().map(|encoded| encoded.bytes).collect()
        };
        let mut streams = vec![encode(&case)];
        streams.push(streams[0].clone());
        // The same execution in other modes.
        let options = &mut case.encoder.options;
        options.full_address = !options.full_address;
        streams.push(encode(&case));
        if dice.one_in(3) {
            // Damage to one of them is none of the others' business.
            let index = dice.range(0, streams[1].len() as u64 - 1) as usize;
            streams[1].remove(index);
        }
        let fit = |payload: &Vec<u8>| (1..=30).contains(&payload.len());
        if !streams.iter().flatten().all(fit) || streams.iter().any(Vec::is_empty) {
            continue;
        }
        for (block_cap, path_cap) in [(usize::MAX, 1 << 10), (2, 4)] {
            let config = Config { block_cap, path_cap, max_blocks: 1 << 20, ..config(&case) };
            let want: Vec<_> =
                streams.iter().map(|stream| alone(&case, config.clone(), stream)).collect();
            for threads in [1, 3] {
                let got = together(&case, config.clone(), &streams, threads, &mut dice);
                assert!(got == want, "seed {seed}, {block_cap} blocks, {threads} threads");
                compared += 1;
            }
        }
    }
    assert!(compared > 400, "only {compared} streams fit");
}
