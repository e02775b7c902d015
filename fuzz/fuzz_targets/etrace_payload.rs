//! Whatever parses can be emitted again and parses back to the same value; errors do not advance
//! the reader; every prefix of an uncompressed payload is incomplete.
#![no_main]

use arbitrary::{Result, Unstructured};
use hartrace_bits::{BitPos, BitReader, BitWriter, Tail};
use hartrace_etrace::{EmitError, FieldName, MAX_PAYLOAD_BYTES, ParseError, Payload, Unit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = check(Unstructured::new(input));
});

fn check(mut u: Unstructured<'_>) -> Result<()> {
    let unit = hartrace_fuzz::unit(&mut u)?;
    let params = hartrace_fuzz::params(&mut u)?;
    let options = hartrace_fuzz::options(&mut u)?;
    let Ok(layout) = params.layout(unit) else { return Ok(()) };
    let tail = hartrace_fuzz::tail(unit);
    let bytes = u.take_rest();

    let mut bits = BitReader::new(bytes, tail);
    let payload = match Payload::parse(&layout, options, &mut bits) {
        Ok(payload) => payload,
        Err(error) => {
            assert_eq!(bits.position(), BitPos(0), "{error}");
            return Ok(());
        }
    };
    assert!(!payload.to_string().is_empty());

    let mut buffer = [0; MAX_PAYLOAD_BYTES];
    let mut out = BitWriter::new(&mut buffer);
    match payload.emit(&layout, options, &mut out) {
        Ok(()) => {}
        // The dialect's addresses have no fixed width: an address wider than the hart's also
        // parses.
        Err(EmitError::TooWide(FieldName::Address)) if unit == Unit::RvTracer => return Ok(()),
        Err(error) => panic!("{payload:?}: {error}"),
    }
    let written = out.position().0 as usize;
    assert_eq!(payload.bit_len(&layout, options), Ok(written as u64));
    assert!(written as u32 <= layout.max_format_bits(payload.format()));

    let len = match unit {
        Unit::RvTracer => out.finish_padded(),
        Unit::Reference | Unit::Hartrace => out.finish_compressed(),
    };
    let mut again = BitReader::new(&buffer[..len], tail);
    assert_eq!(Payload::parse(&layout, options, &mut again), Ok(payload));

    if unit != Unit::RvTracer {
        let mut whole = [0; MAX_PAYLOAD_BYTES];
        let emitted = payload.emit(&layout, options, &mut BitWriter::new(&mut whole));
        assert_eq!(emitted, Ok(()));
        for bits in 0..written {
            let mut prefix = BitReader::with_bit_len(&whole, bits, Tail::End);
            let result = Payload::parse(&layout, options, &mut prefix);
            assert!(matches!(result, Err(ParseError::Incomplete { .. })), "{bits} of {written}");
            assert_eq!(prefix.position(), BitPos(0));
        }
        let mut exact = BitReader::with_bit_len(&whole, written, Tail::End);
        assert_eq!(Payload::parse(&layout, options, &mut exact), Ok(payload));
    }
    if let Some(short) = written.div_ceil(8).checked_sub(1) {
        let full = payload.emit(&layout, options, &mut BitWriter::new(&mut buffer[..short]));
        assert_eq!(full, Err(EmitError::BufferFull));
    }
    Ok(())
}
