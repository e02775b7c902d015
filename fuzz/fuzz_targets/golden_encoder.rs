//! Any rows, consistent or not: the golden encoder continues, and the production codec parses the
//! bits that it packs to the same payload.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::BitReader;
use hartrace_etrace::{Ioptions, Layout, MAX_PAYLOAD_BYTES, Payload};
use hartrace_fuzz::encoder::{Action, action, config};
use hartrace_fuzz::tail;
use hartrace_golden::{Encoded, Encoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let config = config(&mut u)?;
    let Ok(layout) = config.params.layout(config.unit) else { return Ok(()) };
    let Ok(mut encoder) = Encoder::new(config) else { return Ok(()) };

    let mut options = Ioptions::default();
    let mut sink = |encoded: Encoded| check_payload(&layout, &mut options, &encoded);
    let mut rows = 0;
    while !u.is_empty() && rows < 512 {
        rows += 1;
        match action(&mut u)? {
            Action::Retire(row) => encoder.retire(&row, &mut sink),
            Action::Lose => encoder.lose(),
            Action::Recover => encoder.recover(),
            Action::Miss => encoder.miss(&mut sink),
            Action::Options(options) => {
                let _ = encoder.set_options(options, &mut sink);
            }
            Action::Finish => encoder.finish(&mut sink),
        }
    }
    encoder.finish(&mut sink);
    Ok(())
}

fn check_payload(layout: &Layout, options: &mut Ioptions, encoded: &Encoded) {
    let Encoded { payload, bytes, .. } = encoded;
    assert!((1..=MAX_PAYLOAD_BYTES).contains(&bytes.len()), "{encoded:?}");
    let mut bits = BitReader::new(bytes, tail(layout.unit()));
    let parsed = Payload::parse(layout, *options, &mut bits);
    assert_eq!(parsed, Ok(*payload), "{encoded:?} under {options}");
    if let Payload::Support(support) = payload {
        *options = support.ioptions;
    }
}
