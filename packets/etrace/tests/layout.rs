//! Field tables: complete for the largest parameters, and as long as the longest payload.

use hartrace_bits::{mask, sign_extend};
use hartrace_etrace::data::{
    Access, AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest,
    AtomicResponse, Compression, Csr, CsrOp, CsrReport, CsrWidth, DataDiff, DataFieldName,
    DataFormat, DataKinds, DataLayout, DataParams, DataPayload, Diff, Doptions, LoadRequest,
    LoadResponse, Response,
};
use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, FieldName, Format, History,
    Ioptions, JumpTarget, Layout, Mode, Params, ParamsError, Payload, Records, Start, Support,
    Trap, Unit, branch_map_width,
};

/// Every field of every format has bits.
fn largest() -> Params {
    Params {
        iaddress_width_p: 64,
        iaddress_lsb_p: 0,
        privilege_width_p: 2,
        ecause_width_p: 6,
        context_width_p: 32,
        nocontext_p: false,
        time_width_p: 64,
        notime_p: false,
        f0s_width_p: 8,
        bpred_size_p: 16,
        cache_size_p: 16,
        return_stack_size_p: 15,
        call_counter_size_p: 16,
        sijump_p: true,
        hpred_size_p: 0,
    }
}

fn names(layout: &Layout, format: Format) -> Vec<FieldName> {
    layout.fields(format).iter().map(|f| f.name).collect()
}

#[test]
fn every_table_is_complete() {
    use FieldName as N;
    for unit in [Unit::Reference, Unit::RvTracer, Unit::Hartrace] {
        let layout = largest().layout(unit).unwrap();
        let report = [N::Address, N::Notify, N::Updiscon, N::Irreport, N::Irdepth];
        let state = [N::Privilege, N::Time, N::Context];
        let support: &[N] = match unit {
            Unit::RvTracer => &[],
            _ => &[N::Denable, N::Dloss, N::Doptions],
        };
        let expected: [Vec<N>; 9] = [
            [&[N::Format, N::Subformat, N::BranchCount, N::BranchFmt], &report[..]].concat(),
            [
                &[N::Format, N::Subformat, N::Index, N::Branches, N::BranchMap][..],
                &[N::Irreport, N::Irdepth],
            ]
            .concat(),
            [&[N::Format, N::Branches, N::BranchMap], &report[..]].concat(),
            [&[N::Format], &report[..]].concat(),
            [&[N::Format, N::Subformat, N::Branch][..], &state, &[N::Address]].concat(),
            [
                &[N::Format, N::Subformat, N::Branch][..],
                &state,
                &[N::Ecause, N::Interrupt, N::Thaddr, N::Address, N::Tval],
            ]
            .concat(),
            [&[N::Format, N::Subformat][..], &state].concat(),
            [
                &[N::Format, N::Subformat, N::Ienable, N::EncoderMode][..],
                &[N::QualStatus, N::Ioptions],
                support,
            ]
            .concat(),
            // There is no history predictor.
            vec![N::Format],
        ];
        for (format, expected) in Format::ALL.into_iter().zip(expected) {
            assert_eq!(names(&layout, format), expected, "{unit:?} {format:?}");
        }
    }
}

#[test]
fn history_has_a_table_of_its_own() {
    use FieldName as N;
    let params = Params { hpred_size_p: 5, f0s_width_p: 5, ..largest() };
    let layout = params.layout(Unit::Hartrace).unwrap();
    let expected = [N::Format, N::Subformat, N::Stop, N::HalfWords, N::Records];
    assert_eq!(names(&layout, Format::History), expected);
    assert_eq!(layout.max_format_bits(Format::History), 248);
    assert_eq!(layout.ioptions().last(), Some(Mode::HistoryPrediction));
    let longer = Params { f0s_width_p: 6, ..params }.layout(Unit::Hartrace);
    assert_eq!(longer.err(), Some(ParamsError::PayloadTooLong(249)));
}

#[test]
fn fields_of_no_bits_are_left_out() {
    let layout = Params::default().layout(Unit::Reference).unwrap();
    for format in Format::ALL {
        for name in [FieldName::Time, FieldName::Context, FieldName::Irdepth, FieldName::Index] {
            assert!(!names(&layout, format).contains(&name), "{format:?} {name:?}");
        }
    }
    assert!(!names(&layout, Format::BranchCount).contains(&FieldName::Subformat));
    assert_eq!(layout.max_format_bits(Format::Context), 2 + 2 + 2);
}

/// The longest payload of a format, and modes in which it exists.
fn longest(layout: &Layout, format: Format) -> (Payload, Ioptions) {
    let params = layout.params();
    let absolute = match layout.unit() {
        Unit::RvTracer => mask(params.iaddress_width_p.into()),
        _ => mask(params.address_bits()),
    };
    let width = u32::from(params.iaddress_width_p);
    let report = AddressReport::new(match layout.unit() {
        // The most negative difference of two addresses.
        Unit::RvTracer if width < 64 => sign_extend(1 << width, width + 1),
        Unit::RvTracer => 1 << 63,
        _ => absolute,
    });
    let map = BranchMap::new(31, 0).unwrap();
    let mut options = Ioptions::default();
    let payload = match format {
        Format::BranchCount => {
            options.branch_prediction = true;
            let branch_fmt = BranchFmt::Address(report);
            Payload::BranchCount(BranchCount { branch_count: 0, branch_fmt })
        }
        Format::JumpTarget => {
            options.jump_target_cache = true;
            Payload::JumpTarget(JumpTarget { index: 0, map, irdepth: None })
        }
        Format::Branch => Payload::Branch(Branch { map, address: Some(report) }),
        Format::Address => Payload::Address(report),
        Format::Start => Payload::Start(Start { address: absolute, ..Start::default() }),
        Format::Trap => {
            Payload::Trap(Trap { address: Some(absolute), tval: Some(0), ..Trap::default() })
        }
        Format::Context => Payload::Context(Context::default()),
        Format::Support => Payload::Support(Support::default()),
        Format::History => {
            options.history_prediction = true;
            Payload::History(History { stop: Some(0), records: Records::EMPTY })
        }
    };
    (payload, options)
}

#[test]
fn max_bits_is_the_longest_payload() {
    let small = Params::default();
    let rv64 = Params { iaddress_width_p: 64, return_stack_size_p: 3, ..small };
    let odd = Params { iaddress_width_p: 39, iaddress_lsb_p: 2, ecause_width_p: 9, ..small };
    let history = Params { hpred_size_p: 9, f0s_width_p: 2, ..rv64 };
    for params in [largest(), small, rv64, odd, history] {
        for unit in [Unit::Reference, Unit::RvTracer, Unit::Hartrace] {
            let layout = match params.layout(unit) {
                Err(ParamsError::NoHistory) if unit == Unit::RvTracer => continue,
                layout => layout.unwrap(),
            };
            let mut max = 0;
            let history = |format| format != Format::History || params.hpred_size_p > 0;
            for format in Format::ALL.into_iter().filter(|format| history(*format)) {
                let (payload, options) = longest(&layout, format);
                let bits = payload.bit_len(&layout, options).unwrap();
                assert_eq!(u64::from(layout.max_format_bits(format)), bits, "{unit:?} {format:?}");
                max = max.max(bits);
            }
            assert_eq!(u64::from(layout.max_bits()), max, "{unit:?}");
        }
    }
}

#[test]
fn rv_tracer_addresses_are_whole_bytes_and_a_bit() {
    // iaddress_width_p, bits of the longest address
    for (iaddress_width_p, bits) in
        [(2, 9), (7, 9), (8, 17), (32, 41), (39, 41), (56, 65), (64, 65)]
    {
        let params = Params { iaddress_width_p, ..Params::default() };
        let layout = params.layout(Unit::RvTracer).unwrap();
        assert_eq!(layout.max_format_bits(Format::Address), 2 + bits + 3, "{iaddress_width_p}");
    }
}

#[test]
fn branch_map_widths() {
    for branches in 0..=31 {
        let expected = match branches {
            0 | 16.. => 31,
            1 => 1,
            2 | 3 => 3,
            4..8 => 7,
            8..16 => 15,
        };
        assert_eq!(branch_map_width(branches), expected, "{branches}");
    }
}

fn data_layout(data_width_p: u8, kinds: DataKinds) -> DataLayout {
    let params = DataParams { daddress_width_p: 57, data_width_p, ..DataParams::default() };
    DataParams { lrid_width_p: 5, ..params }.layout(kinds).unwrap()
}

const EVERYTHING: DataKinds = DataKinds {
    split: true,
    atomics: true,
    csr: Some(CsrWidth::Bits64),
    compression: Compression::Both,
};

#[test]
fn every_data_table_is_complete() {
    use DataFieldName as N;
    let head = [N::Format, N::Subtype, N::Size];
    let operand = [N::OpLen, N::Operand];
    let data = [N::DataLen, N::Data];
    let expected: [Vec<N>; 12] = [
        [&[N::Format, N::Size, N::Diff], &data[..], &[N::Address]].concat(),
        vec![N::Format, N::Size, N::Diff, N::Address],
        vec![N::Format, N::Size, N::Diff, N::Data],
        vec![N::Format, N::Size, N::Lrid, N::Diff, N::Address],
        vec![N::Format, N::Size, N::Lrid, N::Resp, N::Data],
        [&[N::Format, N::Subtype, N::Diff], &data[..], &[N::AddrMsbs], &operand, &[N::AddrLsbs]]
            .concat(),
        vec![N::Format, N::Subtype, N::Diff, N::AddrMsbs, N::AddrLsbs],
        [&head, &[N::Diff][..], &operand, &data, &[N::Address]].concat(),
        [&head[..], &[N::Diff, N::Address]].concat(),
        [&head, &[N::Diff][..], &operand, &[N::Data]].concat(),
        [&head, &[N::Lrid, N::Diff][..], &operand, &[N::Address]].concat(),
        [&[N::Format, N::Lrid, N::Resp], &data[..]].concat(),
    ];
    let layout = data_layout(128, EVERYTHING);
    for (format, expected) in DataFormat::ALL.into_iter().zip(expected) {
        let names: Vec<_> = layout.fields(format).iter().map(|f| f.name).collect();
        assert_eq!(names, expected, "{format:?}");
    }
}

/// The longest payload of a format, and modes in which it exists.
fn longest_data(layout: &DataLayout, format: DataFormat) -> (DataPayload, Doptions) {
    let size = layout.params().max_size();
    // A top byte that is not a sign: nothing can be dropped.
    let data = 0x55 << ((8 << size) - 8);
    let csr_bytes = layout.kinds().csr.map_or(0, CsrWidth::len_bits);
    let csr_data = 0x55 << ((8 << csr_bytes) - 8);
    let (operand, address, lrid) = (data, 0, 0);
    let access = |report| DataPayload::Access(Access { store: true, aligned: true, size, report });
    let atomic = |report| DataPayload::Atomic(Atomic { subtype: AtomicOp::Swap, size, report });
    let csr = |report| DataPayload::Csr(Csr { subtype: CsrOp::ReadWrite, report });
    let resp = Response::Full(data);
    let payload = match format {
        DataFormat::Access => access(AccessReport::Both { diff: Diff::Sync, data, address }),
        DataFormat::AccessAddress => {
            access(AccessReport::Address { diff: AddressDiff::Full, address })
        }
        DataFormat::AccessData => access(AccessReport::Data { diff: DataDiff::Full, data }),
        DataFormat::LoadRequest => DataPayload::LoadRequest(LoadRequest {
            aligned: true,
            size,
            lrid,
            diff: AddressDiff::Full,
            address,
        }),
        DataFormat::LoadResponse => DataPayload::LoadResponse(LoadResponse { size, lrid, resp }),
        DataFormat::Csr => csr(CsrReport::Both {
            diff: DataDiff::Full,
            data: csr_data,
            operand: Some(csr_data),
            address: 0,
        }),
        DataFormat::CsrAddress => csr(CsrReport::Address { diff: AddressDiff::Full, address: 0 }),
        DataFormat::Atomic => {
            atomic(AtomicReport::Both { diff: Diff::Sync, operand, data, address })
        }
        DataFormat::AtomicAddress => {
            atomic(AtomicReport::Address { diff: AddressDiff::Full, address })
        }
        DataFormat::AtomicData => {
            atomic(AtomicReport::Data { diff: DataDiff::Full, operand, data })
        }
        DataFormat::AtomicRequest => DataPayload::AtomicRequest(AtomicRequest {
            subtype: AtomicOp::Swap,
            size,
            lrid,
            diff: Diff::Sync,
            operand,
            address,
        }),
        DataFormat::AtomicResponse => DataPayload::AtomicResponse(AtomicResponse { lrid, resp }),
    };
    let options = match format {
        DataFormat::AccessAddress | DataFormat::CsrAddress | DataFormat::AtomicAddress => {
            Doptions { no_data: true, ..Doptions::default() }
        }
        DataFormat::AccessData | DataFormat::AtomicData => {
            Doptions { no_address: true, ..Doptions::default() }
        }
        _ => Doptions::default(),
    };
    (payload, options)
}

#[test]
fn max_data_bits_is_the_longest_payload() {
    for data_width_p in [8, 16, 32, 64, 96, 128] {
        for split in [false, true] {
            for compression in [Compression::Both, Compression::Xor] {
                let layout =
                    data_layout(data_width_p, DataKinds { split, compression, ..EVERYTHING });
                let mut max = 0;
                for format in DataFormat::ALL.into_iter().filter(|f| layout.has(*f)) {
                    let (payload, options) = longest_data(&layout, format);
                    let bits = payload.bit_len(&layout, options).unwrap();
                    assert_eq!(u64::from(layout.max_format_bits(format)), bits, "{format:?}");
                    max = max.max(bits);
                }
                assert_eq!(u64::from(layout.max_bits()), max);
            }
        }
    }
}

#[test]
fn every_data_format_is_sent_by_some_encoder() {
    for format in DataFormat::ALL {
        let layouts = [false, true].map(|split| data_layout(64, DataKinds { split, ..EVERYTHING }));
        assert!(layouts.iter().any(|l| l.has(format)), "{format:?}");
        let plain = data_layout(64, DataKinds::default());
        let access = matches!(
            format,
            DataFormat::Access | DataFormat::AccessAddress | DataFormat::AccessData
        );
        assert_eq!(plain.has(format), access, "{format:?}");
    }
}
