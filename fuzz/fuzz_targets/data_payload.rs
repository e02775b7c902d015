//! Like `etrace_payload`, for data trace.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::{BitPos, BitReader, BitWriter, Tail};
use hartrace_etrace::data::{DataEmitError, DataParseError, DataPayload};
use hartrace_fuzz::data;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let params = data::params(&mut u)?;
    let kinds = data::kinds(&mut u)?;
    let options = data::options(&mut u)?;
    let Ok(layout) = params.layout(kinds) else { return Ok(()) };

    let mut bits = BitReader::new(u.take_rest(), Tail::Sign);
    let payload = match DataPayload::parse(&layout, options, &mut bits) {
        Ok(payload) => payload,
        Err(error) => {
            assert_eq!(bits.position(), BitPos(0), "{error}");
            return Ok(());
        }
    };
    assert!(!payload.to_string().is_empty());

    // Two operands of 16 bytes are longer than a packet; see `DataLayout::max_bits`.
    let mut buffer = [0; 64];
    let mut out = BitWriter::new(&mut buffer);
    let emitted = payload.emit(&layout, options, &mut out);
    assert_eq!(emitted, Ok(()), "{payload:?}");
    let written = out.position().0 as usize;
    assert_eq!(payload.bit_len(&layout, options), Ok(written as u64));
    assert!(written as u32 <= layout.max_format_bits(payload.format()));
    let len = out.finish_compressed();
    let mut again = BitReader::new(&buffer[..len], Tail::Sign);
    assert_eq!(DataPayload::parse(&layout, options, &mut again), Ok(payload));

    let mut whole = [0; 64];
    let emitted = payload.emit(&layout, options, &mut BitWriter::new(&mut whole));
    assert_eq!(emitted, Ok(()));
    for bits in 0..written {
        let mut prefix = BitReader::with_bit_len(&whole, bits, Tail::End);
        let result = DataPayload::parse(&layout, options, &mut prefix);
        assert!(matches!(result, Err(DataParseError::Incomplete { .. })), "{bits} of {written}");
        assert_eq!(prefix.position(), BitPos(0));
    }
    if let Some(short) = written.div_ceil(8).checked_sub(1) {
        let full = payload.emit(&layout, options, &mut BitWriter::new(&mut buffer[..short]));
        assert_eq!(full, Err(DataEmitError::BufferFull));
    }
    Ok(())
}
