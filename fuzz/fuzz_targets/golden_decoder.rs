//! Any program, any parameters, any payloads: the golden decoder ends, and reports where it cannot
//! follow.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_fuzz::golden::{self, MAX_STEPS};
use hartrace_fuzz::stream::Stream;
use hartrace_golden::decoder::Event;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let Some(stream) = Stream::new(&mut u)? else { return Ok(()) };
    let mut retired = 0;
    let mut gaps = 0;
    golden::decode(&stream, &mut |_, event| match event {
        Event::Retired(_) => retired += 1,
        Event::Gap(_) => gaps += 1,
        _ => {}
    });
    let payloads = stream.payloads.len() as u64;
    // A payload walks at most twice: once to settle the previous one.
    assert!(retired <= payloads * (2 * MAX_STEPS + 2), "{retired} after {payloads} payloads");
    assert!(gaps <= 2 * payloads);
    Ok(())
}
