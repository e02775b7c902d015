//! One literal, every direction: each payload is parsed from and emitted to the same bytes.
//!
//! Above each literal is its field split, `name=value:bits` in transmission order.

use core::fmt::Debug;
use hartrace_bits::{BitReader, BitWriter, Tail};
use hartrace_etrace::data::{DataEmitError, DataLayout, DataParseError, DataPayload, Doptions};
use hartrace_etrace::{BranchMap, EmitError, Ioptions, Layout, Params, ParseError, Payload};

/// The common interface of the instruction and the data codec.
trait Codec: Copy + PartialEq + Debug {
    type Layout;
    type Options: Copy;
    type ParseError: Debug;
    type EmitError: Debug;

    fn parse(
        layout: &Self::Layout,
        options: Self::Options,
        bits: &mut BitReader<'_>,
    ) -> Result<Self, Self::ParseError>;
    fn emit(
        &self,
        layout: &Self::Layout,
        options: Self::Options,
        out: &mut BitWriter<'_>,
    ) -> Result<(), Self::EmitError>;
    fn is_incomplete(err: &Self::ParseError) -> bool;
}

macro_rules! impl_codec {
    ($payload:ident, $layout:ident, $options:ident, $parse_error:ident, $emit_error:ident) => {
        impl Codec for $payload {
            type Layout = $layout;
            type Options = $options;
            type ParseError = $parse_error;
            type EmitError = $emit_error;

            fn parse(
                layout: &$layout,
                options: $options,
                bits: &mut BitReader<'_>,
            ) -> Result<Self, $parse_error> {
                $payload::parse(layout, options, bits)
            }

            fn emit(
                &self,
                layout: &$layout,
                options: $options,
                out: &mut BitWriter<'_>,
            ) -> Result<(), $emit_error> {
                $payload::emit(self, layout, options, out)
            }

            fn is_incomplete(err: &$parse_error) -> bool {
                matches!(err, $parse_error::Incomplete { .. })
            }
        }
    };
}

impl_codec!(Payload, Layout, Ioptions, ParseError, EmitError);
impl_codec!(DataPayload, DataLayout, Doptions, DataParseError, DataEmitError);

fn check_parse<P: Codec>(
    payload: P,
    layout: &P::Layout,
    options: P::Options,
    bytes: &[u8],
    bit_len: u64,
    tail: Tail,
) {
    let mut bits = BitReader::new(bytes, tail);
    assert_eq!(P::parse(layout, options, &mut bits).unwrap(), payload);
    assert_eq!(bits.position().0, bit_len, "bits consumed");
}

fn check_emit<P: Codec>(
    payload: P,
    layout: &P::Layout,
    options: P::Options,
    bytes: &[u8],
    finish: fn(BitWriter<'_>) -> usize,
) {
    let mut buffer = [0x5a; 64];
    let mut out = BitWriter::new(&mut buffer);
    payload.emit(layout, options, &mut out).unwrap();
    let len = finish(out);
    assert_eq!(&buffer[..len], bytes);
}

/// Spreads the literal to its full length, then feeds every shorter piece.
fn check_prefixes<P: Codec>(
    payload: P,
    layout: &P::Layout,
    options: P::Options,
    bytes: &[u8],
    bit_len: usize,
) {
    let mut whole = [0; 64];
    let mut source = BitReader::new(bytes, Tail::Sign);
    let mut out = BitWriter::new(&mut whole);
    for _ in 0..bit_len {
        out.write_bool(source.read_bool().unwrap()).unwrap();
    }
    for cut in 0..bit_len {
        let mut bits = BitReader::with_bit_len(&whole, cut, Tail::End);
        let err = P::parse(layout, options, &mut bits).unwrap_err();
        assert!(P::is_incomplete(&err), "{err:?} for {cut} of {bit_len} bits");
        assert_eq!(bits.position().0, 0, "the reader must not move");
    }
    let mut bits = BitReader::with_bit_len(&whole, bit_len, Tail::End);
    assert_eq!(P::parse(layout, options, &mut bits).unwrap(), payload);
}

/// `codec_test!(name, layout, options, bits, bytes, payload)`: the bytes are sign compressed, `bits`
/// is the length before that.
macro_rules! codec_test {
    ($name:ident, $layout:expr, $options:expr, $bits:literal, $bytes:expr, $payload:expr $(,)?) => {
        mod $name {
            use super::*;

            #[test]
            fn parse() {
                let layout = $layout.unwrap();
                let tail = hartrace_bits::Tail::Sign;
                crate::check_parse($payload, &layout, $options, &$bytes, $bits, tail);
            }

            #[test]
            fn emit() {
                let layout = $layout.unwrap();
                let finish = |out: hartrace_bits::BitWriter<'_>| out.finish_compressed();
                crate::check_emit($payload, &layout, $options, &$bytes, finish);
            }

            #[test]
            fn len() {
                assert_eq!($payload.bit_len(&$layout.unwrap(), $options), Ok($bits));
            }

            #[test]
            fn every_prefix_is_incomplete() {
                let layout = $layout.unwrap();
                crate::check_prefixes($payload, &layout, $options, &$bytes, $bits);
            }
        }
    };
}

/// Like [`codec_test!`], but for zero-padded payloads, which are not self-delimiting.
macro_rules! padded_test {
    ($name:ident, $layout:expr, $options:expr, $bits:literal, $bytes:expr, $payload:expr $(,)?) => {
        mod $name {
            use super::*;

            #[test]
            fn parse() {
                let layout = $layout.unwrap();
                let tail = hartrace_bits::Tail::Zero;
                crate::check_parse($payload, &layout, $options, &$bytes, $bits, tail);
            }

            #[test]
            fn emit() {
                let layout = $layout.unwrap();
                let finish = |out: hartrace_bits::BitWriter<'_>| out.finish_padded();
                crate::check_emit($payload, &layout, $options, &$bytes, finish);
            }

            #[test]
            fn len() {
                assert_eq!($payload.bit_len(&$layout.unwrap(), $options), Ok($bits));
            }
        }
    };
}

mod data;
mod data_rules;
mod format0;
mod format1_2;
mod format3;
mod rv_tracer;
mod worked;

/// RV32, no time, no context, privilege 2, ecause 4 bits.
fn rv32(iaddress_lsb_p: u8) -> Params {
    Params { iaddress_width_p: 32, iaddress_lsb_p, ..Params::default() }
}

/// As [`rv32`], but RV64.
fn rv64(iaddress_lsb_p: u8) -> Params {
    Params { iaddress_width_p: 64, iaddress_lsb_p, ..Params::default() }
}

fn branches(branches: u8, map: u32) -> BranchMap {
    BranchMap::new(branches, map).unwrap()
}
