//! Data payloads over random parameters, kinds and modes.

use hartrace_bits::{BitReader, BitWriter, Tail, mask};
use hartrace_etrace::data::{
    Access, AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest,
    AtomicResponse, Compression, Csr, CsrOp, CsrReport, CsrWidth, DataDiff, DataFieldName,
    DataFormat, DataKinds, DataLayout, DataParams, DataParseError, DataPayload, DataWidth, Diff,
    Doptions, LoadRequest, LoadResponse, Response,
};
use proptest::prelude::*;

/// Longer than any payload.
const BUFFER_BYTES: usize = 48;

fn layout() -> impl Strategy<Value = DataLayout> {
    let data_width = prop_oneof![Just(8u8), Just(16), Just(32), Just(64), Just(128), 8u8..=128];
    let csr = prop_oneof![Just(None), Just(Some(CsrWidth::Bits32)), Just(Some(CsrWidth::Bits64))];
    let compression =
        prop_oneof![Just(Compression::Xor), Just(Compression::Difference), Just(Compression::Both)];
    let kinds = (any::<bool>(), any::<bool>(), csr, compression);
    (1u8..=64, data_width, 1u8..=32, kinds).prop_map(
        |(daddress_width_p, data_width_p, lrid_width_p, (split, atomics, csr, compression))| {
            let params = DataParams { daddress_width_p, data_width_p, ..DataParams::default() };
            DataParams { lrid_width_p, ..params }
                .layout(DataKinds { split, atomics, csr, compression })
                .unwrap()
        },
    )
}

fn options() -> impl Strategy<Value = Doptions> {
    (0u8..16).prop_map(|raw| Doptions::from_raw(raw).unwrap())
}

/// Random numbers, often with a long run of equal bits at the top of some byte.
fn number() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        (any::<u128>(), 0u32..128).prop_map(|(n, shift)| n >> shift),
        (any::<u128>(), 0u32..128).prop_map(|(n, shift)| !(n >> shift)),
        (0u32..128).prop_map(|shift| 1 << shift),
    ]
}

#[derive(Debug, Clone)]
struct Raw {
    format: usize,
    codes: [u8; 4],
    store: bool,
    aligned: bool,
    lrid: u32,
    data: u128,
    operand: u128,
    address: u128,
}

fn raw() -> impl Strategy<Value = Raw> {
    let format = 0..DataFormat::ALL.len();
    let numbers = (number(), number(), number());
    (format, any::<[u8; 4]>(), any::<[bool; 2]>(), any::<u32>(), numbers).prop_map(
        |(format, codes, [store, aligned], lrid, (data, operand, address))| Raw {
            format,
            codes,
            store,
            aligned,
            lrid,
            data,
            operand,
            address,
        },
    )
}

fn cut(value: u128, bytes_log: u32) -> u128 {
    value & (u128::MAX >> (128 - (8 << bytes_log)))
}

impl Raw {
    /// A payload of values that fit the layout, though the layout may not have its kind.
    fn payload(&self, layout: &DataLayout) -> DataPayload {
        let params = layout.params();
        let Self { store, aligned, .. } = *self;
        let size = self.codes[0] % (params.max_size() + 1);
        let lrid = self.lrid & mask(params.lrid_width_p.into()) as u32;
        let data = cut(self.data, size.into());
        let operand = cut(self.operand, size.into());
        let address = self.address as u64 & mask(params.daddress_width_p.into());
        let compression = layout.kinds().compression;
        let data_diff = match (self.codes[1] % 3, compression) {
            (0, _) => DataDiff::Full,
            (1, Compression::Both) | (_, Compression::Xor) => DataDiff::Xor,
            _ => DataDiff::Difference,
        };
        let diff = Diff::from_raw(self.codes[1] % 4).unwrap();
        let address_diff = AddressDiff::from_raw(self.codes[1] % 2).unwrap();
        let op = AtomicOp::from_raw(self.codes[2] % 7).unwrap();
        let csr_op = CsrOp::from_raw(self.codes[2] % 3).unwrap();
        let resp = |data| match self.codes[3] % 4 {
            0 => Response::Error,
            1 => Response::Xor(data),
            2 => Response::Full(data),
            _ => Response::Difference(data),
        };
        let access = |report| DataPayload::Access(Access { store, aligned, size, report });
        let atomic = |subtype, report| DataPayload::Atomic(Atomic { subtype, size, report });
        let csr = |report| DataPayload::Csr(Csr { subtype: csr_op, report });
        let csr_address = self.address as u16 & 0xfff;
        match DataFormat::ALL[self.format] {
            DataFormat::Access => access(AccessReport::Both { diff, data, address }),
            DataFormat::AccessAddress => {
                access(AccessReport::Address { diff: address_diff, address })
            }
            DataFormat::AccessData => access(AccessReport::Data { diff: data_diff, data }),
            DataFormat::LoadRequest => {
                let diff = address_diff;
                DataPayload::LoadRequest(LoadRequest { aligned, size, lrid, diff, address })
            }
            DataFormat::LoadResponse => {
                DataPayload::LoadResponse(LoadResponse { size, lrid, resp: resp(data) })
            }
            DataFormat::Csr => {
                let log = layout.kinds().csr.map_or(2, CsrWidth::len_bits);
                csr(CsrReport::Both {
                    diff: data_diff,
                    data: cut(self.data, log) as u64,
                    operand: (csr_address >> 10 != 3).then_some(cut(self.operand, log) as u64),
                    address: csr_address,
                })
            }
            DataFormat::CsrAddress => {
                csr(CsrReport::Address { diff: address_diff, address: csr_address })
            }
            DataFormat::Atomic => atomic(op, AtomicReport::Both { diff, operand, data, address }),
            DataFormat::AtomicAddress => {
                let subtype = AtomicOp::from_raw(self.codes[2] % 8).unwrap();
                atomic(subtype, AtomicReport::Address { diff: address_diff, address })
            }
            DataFormat::AtomicData => {
                atomic(op, AtomicReport::Data { diff: data_diff, operand, data })
            }
            DataFormat::AtomicRequest => {
                let diff = match (data_diff, compression) {
                    (_, Compression::Both) => diff,
                    (DataDiff::Full, _) => Diff::Sync,
                    (DataDiff::Xor, _) => Diff::Xor,
                    (DataDiff::Difference, _) => Diff::Difference,
                };
                let subtype = op;
                let request = AtomicRequest { subtype, size, lrid, diff, operand, address };
                DataPayload::AtomicRequest(request)
            }
            DataFormat::AtomicResponse => DataPayload::AtomicResponse(AtomicResponse {
                lrid,
                resp: resp(cut(self.data, params.max_size().into())),
            }),
        }
    }
}

/// A layout, modes and a payload that belong together.
fn fitting() -> impl Strategy<Value = (DataLayout, Doptions, DataPayload)> {
    (layout(), options(), raw()).prop_filter_map("not sent", |(layout, options, raw)| {
        let payload = raw.payload(&layout);
        payload.bit_len(&layout, options).is_ok().then_some((layout, options, payload))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 200_000,
        max_local_rejects: 1_000_000,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn emitted_payloads_parse_back((layout, options, payload) in fitting()) {
        let mut bytes = [0x5a; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        prop_assert_eq!(payload.emit(&layout, options, &mut out), Ok(()));
        let len = out.position().0;
        prop_assert_eq!(payload.bit_len(&layout, options), Ok(len));
        prop_assert!(len <= layout.max_format_bits(payload.format()).into());
        let mut bits = BitReader::with_bit_len(&bytes, len as usize, Tail::End);
        prop_assert_eq!(DataPayload::parse(&layout, options, &mut bits), Ok(payload));
        prop_assert_eq!(bits.remaining(), 0);
    }

    #[test]
    fn every_prefix_is_incomplete((layout, options, payload) in fitting()) {
        let mut bytes = [0; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        for cut in 0..out.position().0 as usize {
            let mut bits = BitReader::with_bit_len(&bytes, cut, Tail::End);
            let result = DataPayload::parse(&layout, options, &mut bits);
            let incomplete = matches!(result, Err(DataParseError::Incomplete { .. }));
            prop_assert!(incomplete, "{cut}: {result:?}");
            prop_assert_eq!(bits.position().0, 0);
        }
    }

    #[test]
    fn sign_bytes_are_redundant((layout, options, payload) in fitting()) {
        let mut bytes = [0; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let len = out.finish_compressed();
        let fill = if bytes[len - 1] >> 7 != 0 { 0xff } else { 0 };
        bytes[len..].fill(fill);
        for len in len..=BUFFER_BYTES {
            let mut bits = BitReader::new(&bytes[..len], Tail::Sign);
            prop_assert_eq!(DataPayload::parse(&layout, options, &mut bits), Ok(payload));
        }
    }

    /// Lengths longer than needed mean the same: checked with a second writer that drops nothing.
    #[test]
    fn whole_data_means_the_same((layout, options, payload) in fitting(), extra in 0u64..16) {
        let mut bytes = [0; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let mut bits = BitReader::new(&bytes, Tail::Sign);
        let mut longer = [0; 2 * BUFFER_BYTES];
        let mut out = BitWriter::new(&mut longer);
        let (mut size, mut resp, mut msbs, mut len, mut sent) = (0, 1, 0, 0, 0);
        for field in layout.fields(payload.format()) {
            use DataFieldName as N;
            let read_only = msbs >> 4 == 3 && matches!(field.name, N::OpLen | N::Operand);
            if read_only || resp == 0 {
                continue;
            }
            let width = match field.width {
                DataWidth::Bits(bits) => u32::from(bits),
                DataWidth::Size => size,
                DataWidth::Bytes(_) => 8 * (sent as u32 + 1),
            };
            let value = bits.read_wide(width).unwrap();
            match field.name {
                N::Size => size = value as u32,
                N::Resp => resp = value,
                N::AddrMsbs => msbs = value,
                _ => {}
            }
            match (field.name, field.width) {
                (N::DataLen | N::OpLen, _) => {
                    sent = value as u64;
                    len = (sent + extra).min(mask(width));
                    out.write(len, width).unwrap();
                }
                (_, DataWidth::Bytes(_)) => {
                    let above = 128 - width;
                    let wide = ((value << above) as i128 >> above) as u128;
                    let width = 8 * (len as u32 + 1);
                    out.write_wide(wide & (u128::MAX >> (128 - width)), width).unwrap();
                }
                _ => out.write_wide(value, width).unwrap(),
            }
        }
        let len = out.position().0 as usize;
        let mut bits = BitReader::with_bit_len(&longer, len, Tail::End);
        prop_assert_eq!(DataPayload::parse(&layout, options, &mut bits), Ok(payload));
        prop_assert_eq!(bits.remaining(), 0);
    }

    /// Every payload that parses can be emitted, and parses back to the same value.
    #[test]
    fn hostile_bytes(
        layout in layout(),
        options in options(),
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..50),
        cut in 0usize..400,
        skip in 0u32..16,
        tail in prop_oneof![Just(Tail::Sign), Just(Tail::Zero), Just(Tail::End)],
    ) {
        let mut bits = BitReader::with_bit_len(&bytes, cut, tail);
        let _ = bits.read(skip);
        let (position, remaining) = (bits.position(), bits.remaining());
        match DataPayload::parse(&layout, options, &mut bits) {
            Err(_) => {
                prop_assert_eq!(bits.position(), position);
                prop_assert_eq!(bits.remaining(), remaining);
            }
            Ok(payload) => {
                let mut bytes = [0; BUFFER_BYTES];
                let mut out = BitWriter::new(&mut bytes);
                prop_assert_eq!(payload.emit(&layout, options, &mut out), Ok(()));
                let len = out.position().0 as usize;
                let mut bits = BitReader::with_bit_len(&bytes, len, Tail::End);
                prop_assert_eq!(DataPayload::parse(&layout, options, &mut bits), Ok(payload));
            }
        }
    }

    /// A payload is refused only if the layout and modes have none of its kind.
    #[test]
    fn refused_only_for_its_kind(layout in layout(), options in options(), raw in raw()) {
        let payload = raw.payload(&layout);
        let subtype = match payload {
            DataPayload::Atomic(p) => p.subtype.raw(),
            _ => 0,
        };
        let sent = layout.select(options, payload.code(), subtype) == Some(payload.format());
        prop_assert_eq!(payload.bit_len(&layout, options).is_ok(), sent);
    }

    /// A payload is refused, not truncated, if the buffer is one byte too short.
    #[test]
    fn short_buffers_are_full((layout, options, payload) in fitting()) {
        let len = payload.bit_len(&layout, options).unwrap().div_ceil(8) as usize;
        let mut bytes = [0; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes[..len - 1]);
        let full = hartrace_etrace::data::DataEmitError::BufferFull;
        prop_assert_eq!(payload.emit(&layout, options, &mut out), Err(full));
    }
}

#[test]
fn every_format_is_reached() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = [0; DataFormat::ALL.len()];
    for _ in 0..2000 {
        let (_, _, payload) = fitting().new_tree(&mut runner).unwrap().current();
        seen[payload.format() as usize] += 1;
    }
    for (format, count) in DataFormat::ALL.iter().zip(seen) {
        assert!(count >= 10, "{format:?}: {count} of 2000");
    }
}
