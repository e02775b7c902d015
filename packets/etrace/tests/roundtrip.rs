//! Instruction payloads over random parameters: an emitted payload parses back, whatever is
//! appended to it and however it is cut, and no input causes a panic.

use hartrace_bits::{BitReader, BitWriter, Tail, mask, sign_extend};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Compat, Context, DataSupport,
    EmitError, Format, History, Ioptions, JumpTarget, Layout, MAX_PAYLOAD_BYTES, Mode, Packer,
    Params, ParseError, Payload, QualStatus, Records, Start, Support, Trap, Unit,
};
use proptest::prelude::*;

fn params() -> impl Strategy<Value = Params> {
    let iaddress = (prop_oneof![Just(32u8), Just(64), 3u8..=64], 0u8..=2, 1u8..=8, 1u8..=64);
    let state = (1u8..=64, any::<bool>(), 1u8..=64, any::<bool>());
    let format0 = (0u8..=8, 0u8..=16, 0u8..=16, prop_oneof![Just(0u8), 0u8..=9]);
    let depth = (prop_oneof![Just(0u8), 0u8..=15], prop_oneof![Just(0u8), 0u8..=16]);
    (iaddress, state, format0, depth, any::<bool>()).prop_map(
        |(iaddress, state, format0, depth, sijump_p)| Params {
            iaddress_width_p: iaddress.0,
            iaddress_lsb_p: iaddress.1,
            privilege_width_p: iaddress.2,
            ecause_width_p: iaddress.3,
            context_width_p: state.0,
            nocontext_p: state.1,
            time_width_p: state.2,
            notime_p: state.3,
            f0s_width_p: format0.0,
            bpred_size_p: format0.1,
            cache_size_p: format0.2,
            return_stack_size_p: depth.0,
            call_counter_size_p: depth.1,
            sijump_p,
            hpred_size_p: format0.3,
        },
    )
}

fn layout() -> impl Strategy<Value = Layout> {
    let unit = prop_oneof![Just(Unit::Reference), Just(Unit::RvTracer), Just(Unit::Hartrace)];
    (params(), unit).prop_filter_map("illegal parameters", |(p, unit)| p.layout(unit).ok())
}

fn standard_layout() -> impl Strategy<Value = Layout> {
    layout().prop_filter("rv_tracer", |l| l.unit() != Unit::RvTracer)
}

fn options() -> impl Strategy<Value = Ioptions> {
    any::<[bool; 8]>().prop_map(|on| {
        let mut options = Ioptions::default();
        for (mode, on) in Mode::ALL.into_iter().zip(on) {
            options.set(mode, on);
        }
        options
    })
}

/// Random numbers that are often near zero, near the top or near a power of two.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0u64..4, (0u64..4).prop_map(|n| !n), (0u32..64).prop_map(|n| 1 << n)]
}

/// Raw field values of a payload; [`Raw::payload`] cuts them to the widths of the layout.
#[derive(Debug, Clone)]
struct Raw {
    format: usize,
    address: u64,
    state: [u64; 5],
    numbers: [u32; 2],
    branches: u8,
    flags: [bool; 5],
    ioptions: Ioptions,
}

fn raw() -> impl Strategy<Value = Raw> {
    let state = prop::array::uniform5(number());
    let format = 0..Format::ALL.len();
    (format, number(), state, any::<[u32; 2]>(), 0u8..=31, any::<[bool; 5]>(), options()).prop_map(
        |(format, address, state, numbers, branches, flags, ioptions)| Raw {
            format,
            address,
            state,
            numbers,
            branches,
            flags,
            ioptions,
        },
    )
}

impl Raw {
    fn payload(&self, layout: &Layout, options: Ioptions) -> Payload {
        let params = layout.params();
        let rv_tracer = layout.unit() == Unit::RvTracer;
        let absolute = match rv_tracer {
            true => self.address & mask(params.iaddress_width_p.into()),
            false => self.address & mask(params.address_bits()),
        };
        let [flag, interrupt, thaddr, with_depth, with_address] = self.flags;
        let irdepth = with_depth.then(|| self.numbers[0] & mask(params.irdepth_bits()) as u32);
        let report = AddressReport {
            address: match rv_tracer {
                true => sign_extend(absolute, params.iaddress_width_p.into()),
                false => absolute,
            },
            notify: flag,
            updiscon: interrupt,
            irdepth,
        };
        let privilege = (self.state[0] & mask(params.privilege_width_p.into())) as u8;
        let time = self.state[1] & mask(params.time_bits());
        let context = self.state[2] & mask(params.context_bits());
        let map = |n| BranchMap::new(n, self.numbers[1]).unwrap();
        // Without a predictor there is no such payload.
        let format = match Format::ALL[self.format] {
            Format::History if params.hpred_size_p == 0 => Format::Address,
            format => format,
        };
        match format {
            Format::BranchCount => Payload::BranchCount(BranchCount {
                branch_count: self.numbers[1],
                branch_fmt: match (with_address, thaddr) {
                    (false, _) => BranchFmt::NoAddress,
                    (true, false) => BranchFmt::Address(report),
                    (true, true) => BranchFmt::MispredictedAddress(report),
                },
            }),
            Format::JumpTarget => Payload::JumpTarget(JumpTarget {
                index: self.numbers[0] & mask(params.cache_size_p.into()) as u32,
                map: map(self.branches),
                irdepth,
            }),
            Format::Branch if with_address => {
                Payload::Branch(Branch { map: map(self.branches.max(1)), address: Some(report) })
            }
            Format::Branch => Payload::Branch(Branch { map: map(31), address: None }),
            Format::Address => Payload::Address(report),
            Format::Start => {
                let branch = flag;
                Payload::Start(Start { branch, privilege, time, context, address: absolute })
            }
            Format::Trap => Payload::Trap(Trap {
                branch: flag,
                privilege,
                time,
                context,
                ecause: self.state[3] & mask(params.ecause_width_p.into()),
                interrupt,
                thaddr,
                address: (!(thaddr && options.implicit_exception)).then_some(absolute),
                tval: (rv_tracer || !interrupt)
                    .then_some(self.state[4] & mask(params.iaddress_width_p.into())),
            }),
            Format::Context => Payload::Context(Context { privilege, time, context }),
            Format::Support => {
                let mut ioptions = Ioptions::default();
                for mode in layout.ioptions() {
                    ioptions.set(mode, self.ioptions.get(mode));
                }
                let data = DataSupport {
                    denable: thaddr,
                    dloss: with_depth,
                    doptions: (self.numbers[1] & 0xf) as u8,
                };
                Payload::Support(Support {
                    ienable: flag,
                    encoder_mode: interrupt.into(),
                    qual_status: QualStatus::from_raw(self.numbers[0] as u8),
                    ioptions,
                    data: if rv_tracer { DataSupport::default() } else { data },
                })
            }
            Format::History => {
                let stop = flag.then_some(self.numbers[0] & History::MOST_HALF_WORDS);
                let room = History::RECORD_BITS - if flag { History::HALF_WORDS_BITS } else { 0 };
                let len = self.address as u32 % (room + 1);
                let bit = |at: u32| self.state[at as usize / 64] >> (at % 64) & 1 != 0;
                let records = Records::new((0..len).map(bit)).unwrap();
                Payload::History(History { stop, records })
            }
        }
    }
}

/// The modes, with those that a format 0 payload requires switched on.
fn enable(payload: &Payload, layout: &Layout, mut options: Ioptions) -> Ioptions {
    let alone = layout.params().f0s_width_p == 0;
    match payload.format() {
        Format::BranchCount => {
            options.branch_prediction = true;
            options.jump_target_cache &= !alone;
            options.history_prediction &= !alone;
        }
        Format::JumpTarget => {
            options.jump_target_cache = true;
            options.branch_prediction &= !alone;
            options.history_prediction &= !alone;
        }
        Format::History => {
            options.history_prediction = true;
            options.branch_prediction &= !alone;
            options.jump_target_cache &= !alone;
        }
        _ => {}
    }
    options
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn emitted_payloads_parse_back(layout in layout(), options in options(), raw in raw()) {
        let payload = raw.payload(&layout, options);
        let options = enable(&payload, &layout, options);
        let mut bytes = [0x5a; MAX_PAYLOAD_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        prop_assert_eq!(payload.emit(&layout, options, &mut out), Ok(()));
        let len = out.position().0;
        prop_assert_eq!(payload.bit_len(&layout, options), Ok(len));
        prop_assert!(len <= layout.max_format_bits(payload.format()).into());
        let mut bits = BitReader::with_bit_len(&bytes, len as usize, Tail::End);
        prop_assert_eq!(Payload::parse(&layout, options, &mut bits), Ok(payload));
        prop_assert_eq!(bits.remaining(), 0);
    }

    #[test]
    fn every_prefix_is_incomplete(
        layout in standard_layout(),
        options in options(),
        raw in raw(),
    ) {
        let payload = raw.payload(&layout, options);
        let options = enable(&payload, &layout, options);
        let mut bytes = [0; MAX_PAYLOAD_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let len = out.position().0 as usize;
        for cut in 0..len {
            let mut bits = BitReader::with_bit_len(&bytes, cut, Tail::End);
            let result = Payload::parse(&layout, options, &mut bits);
            prop_assert!(matches!(result, Err(ParseError::Incomplete { .. })), "{cut}: {result:?}");
            prop_assert_eq!(bits.position().0, 0);
        }
    }

    #[test]
    fn sign_bytes_are_redundant(layout in standard_layout(), options in options(), raw in raw()) {
        let payload = raw.payload(&layout, options);
        let options = enable(&payload, &layout, options);
        let mut bytes = [0; MAX_PAYLOAD_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let uncompressed = out.position().0.div_ceil(8) as usize;
        let len = out.finish_compressed();
        prop_assert!(len <= uncompressed);
        let fill = if bytes[len - 1] >> 7 != 0 { 0xff } else { 0 };
        bytes[len..].fill(fill);
        for len in len..=MAX_PAYLOAD_BYTES {
            let mut bits = BitReader::new(&bytes[..len], Tail::Sign);
            prop_assert_eq!(Payload::parse(&layout, options, &mut bits), Ok(payload));
        }
    }

    #[test]
    fn padded_payloads_parse_back(params in params(), options in options(), raw in raw()) {
        let Ok(layout) = params.layout(Unit::RvTracer) else { return Ok(()) };
        let payload = raw.payload(&layout, options);
        let options = enable(&payload, &layout, options);
        let mut bytes = [0x5a; MAX_PAYLOAD_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit(&layout, options, &mut out).unwrap();
        let len = out.finish_padded();
        let mut bits = BitReader::new(&bytes[..len], Tail::Zero);
        prop_assert_eq!(Payload::parse(&layout, options, &mut bits), Ok(payload));
    }

    /// Every payload that parses can be emitted, and parses back to the same value.
    #[test]
    fn hostile_bytes(
        layout in layout(),
        options in options(),
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0), Just(0xff)], 0..40),
        cut in 0usize..320,
        skip in 0u32..16,
        tail in prop_oneof![Just(Tail::Sign), Just(Tail::Zero), Just(Tail::End)],
    ) {
        let mut bits = BitReader::with_bit_len(&bytes, cut, tail);
        let _ = bits.read(skip);
        let (position, remaining) = (bits.position(), bits.remaining());
        // The fast path and the field table agree, also on where the payload ends.
        let mut by_table = bits.clone();
        let expected = Payload::parse_by_table(&layout, options, &mut by_table);
        let parsed = Payload::parse(&layout, options, &mut bits);
        prop_assert_eq!(parsed, expected);
        prop_assert_eq!(bits.position(), by_table.position());
        match parsed {
            Err(_) => {
                prop_assert_eq!(bits.position(), position);
                prop_assert_eq!(bits.remaining(), remaining);
            }
            Ok(payload) => {
                let mut bytes = [0; 64];
                let mut out = BitWriter::new(&mut bytes);
                match payload.emit(&layout, options, &mut out) {
                    // The width of an address is not known when it is read.
                    Err(EmitError::TooWide(_)) if layout.unit() == Unit::RvTracer => return Ok(()),
                    result => prop_assert_eq!(result, Ok(())),
                }
                let len = out.position().0 as usize;
                let mut bits = BitReader::with_bit_len(&bytes, len, Tail::End);
                prop_assert_eq!(Payload::parse(&layout, options, &mut bits), Ok(payload));
            }
        }
    }

    /// What is packed without the table equals what the table says, and is what emit writes.
    #[test]
    fn packed_payloads_are_those_of_the_table(
        layout in layout(),
        options in options(),
        raw in raw(),
        compat in prop_oneof![Just(Compat::None), Just(Compat::PythonModel), Just(Compat::CModel)],
    ) {
        let payload = raw.payload(&layout, options);
        for options in [options, enable(&payload, &layout, options)] {
            let packer = Packer::new(layout, compat);
            let packed = packer.pack(&payload, options).map(|p| p.bytes().to_vec());
            let table = packer.pack_by_table(&payload, options).map(|p| p.bytes().to_vec());
            prop_assert_eq!(&packed, &table);
            if compat != Compat::PythonModel && let Ok(packed) = packed {
                let mut bytes = [0x5a; MAX_PAYLOAD_BYTES];
                let mut out = BitWriter::new(&mut bytes);
                prop_assert_eq!(payload.emit(&layout, options, &mut out), Ok(()));
                let len = match layout.unit() {
                    Unit::RvTracer => out.finish_padded(),
                    _ => out.finish_compressed(),
                };
                prop_assert_eq!(&bytes[..len], packed);
            }
        }
    }

    /// Emit refuses a payload that parse would not read back as the same.
    #[test]
    fn emit_never_lies(layout in layout(), options in options(), raw in raw()) {
        let payload = raw.payload(&layout, options);
        let mut bytes = [0; 64];
        let mut out = BitWriter::new(&mut bytes);
        match payload.emit(&layout, options, &mut out) {
            Ok(()) => {
                let len = out.position().0 as usize;
                let mut bits = BitReader::with_bit_len(&bytes, len, Tail::End);
                prop_assert_eq!(Payload::parse(&layout, options, &mut bits), Ok(payload));
            }
            Err(err) => {
                let refused = matches!(err, EmitError::AmbiguousExtension | EmitError::NoExtension);
                prop_assert!(refused && payload.format().format() == 0, "{err:?}");
            }
        }
    }

    /// A payload is refused, not truncated, if the buffer is one byte too short.
    #[test]
    fn short_buffers_are_full(layout in layout(), options in options(), raw in raw()) {
        let payload = raw.payload(&layout, options);
        let options = enable(&payload, &layout, options);
        let len = payload.bit_len(&layout, options).unwrap().div_ceil(8) as usize;
        let mut bytes = [0; 64];
        let mut out = BitWriter::new(&mut bytes[..len - 1]);
        prop_assert_eq!(payload.emit(&layout, options, &mut out), Err(EmitError::BufferFull));
    }
}
