//! Data trace: one literal of every kind, derived by hand from the field tables.

use hartrace_etrace::data::{
    Access, AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest,
    AtomicResponse, Compression, Csr, CsrOp, CsrReport, CsrWidth, DataDiff, DataKinds, DataLayout,
    DataParams, DataParamsError, DataPayload, Diff, Doptions, LoadRequest, LoadResponse, Response,
};

pub(crate) const UNIFIED: DataKinds =
    DataKinds { split: false, atomics: false, csr: None, compression: Compression::Both };
pub(crate) const ALL: DataKinds =
    DataKinds { atomics: true, csr: Some(CsrWidth::Bits64), ..UNIFIED };
pub(crate) const SPLIT: DataKinds = DataKinds { split: true, ..ALL };

/// 32-bit data and addresses: size is 2 bits.
pub(crate) fn d32(kinds: DataKinds) -> Result<DataLayout, DataParamsError> {
    DataParams::default().layout(kinds)
}

/// 64-bit data and addresses, 4-bit lrid: size is 2 bits.
pub(crate) fn d64(kinds: DataKinds) -> Result<DataLayout, DataParamsError> {
    let params = DataParams { daddress_width_p: 64, data_width_p: 64, ..DataParams::default() };
    DataParams { lrid_width_p: 4, ..params }.layout(kinds)
}

/// 128-bit data, 48-bit addresses: size is 3 bits.
pub(crate) fn d128(kinds: DataKinds) -> Result<DataLayout, DataParamsError> {
    DataParams { daddress_width_p: 48, data_width_p: 128, ..DataParams::default() }.layout(kinds)
}

pub(crate) fn full() -> Doptions {
    Doptions::default()
}

pub(crate) fn no_address() -> Doptions {
    Doptions { no_address: true, ..full() }
}

pub(crate) fn no_data() -> Doptions {
    Doptions { no_data: true, ..full() }
}

pub(crate) fn load(aligned: bool, size: u8, report: AccessReport) -> DataPayload {
    DataPayload::Access(Access { store: false, aligned, size, report })
}

pub(crate) fn store(aligned: bool, size: u8, report: AccessReport) -> DataPayload {
    DataPayload::Access(Access { store: true, aligned, size, report })
}

// format=0:2 size=2:2 diff=0:2 data_len=3:2 data=0x12345678:32 address=0x8000040:32
codec_test!(
    load_aligned,
    d32(UNIFIED),
    full(),
    72,
    [0xc8, 0x78, 0x56, 0x34, 0x12, 0x40, 0x00, 0x00, 0x08],
    load(true, 2, AccessReport::Both { diff: Diff::Sync, data: 0x1234_5678, address: 0x0800_0040 })
);

// format=1:3 size=3:2 diff=3:2 data_len=1:3 data=0xff7f:16 address=0xfffffffffffffffc:64
codec_test!(
    load_unaligned_short_negative_data,
    d64(ALL),
    full(),
    90,
    [0xf9, 0xfc, 0xfd, 0xf3],
    load(
        false,
        3,
        AccessReport::Both { diff: Diff::Difference, data: 0xffff_ffff_ffff_ff7f, address: !3 }
    )
);

// format=2:2 size=0:2 diff=2:2 data=0x80:8 address=0x11:32
codec_test!(
    store_byte_has_no_data_len,
    d32(UNIFIED),
    full(),
    46,
    [0x22, 0x60, 0x04],
    store(true, 0, AccessReport::Both { diff: Diff::Full, data: 0x80, address: 0x11 })
);

// format=3:2 size=1:2 diff=1:2 data_len=1:1 data=0x80:16 address=7:64
codec_test!(
    store_unaligned_xor,
    d64(UNIFIED),
    full(),
    87,
    [0x57, 0x40, 0x80, 0x03],
    store(false, 1, AccessReport::Both { diff: Diff::Xor, data: 0x80, address: 7 })
);

// format=2:2 size=4:3 diff=0:2 data_len=0xf:4 data=0x123456789abcdef0123456789abcdef:128
// address=0x80000000000:48
codec_test!(
    store_16_bytes,
    d128(UNIFIED),
    full(),
    187,
    [
        0x92, 0x7f, 0x6f, 0x5e, 0x4d, 0x3c, 0x2b, 0x1a, 0x09, 0x78, 0x6f, 0x5e, 0x4d, 0x3c, 0x2b,
        0x1a, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40
    ],
    store(
        true,
        4,
        AccessReport::Both {
            diff: Diff::Sync,
            data: 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef,
            address: 0x800_0000_0000
        }
    )
);

// format=1:2 size=2:2 diff=1:1 address=0xfffffffe:32
codec_test!(
    load_address_only,
    d32(UNIFIED),
    no_data(),
    37,
    [0xd9],
    load(false, 2, AccessReport::Address { diff: AddressDiff::Difference, address: 0xffff_fffe })
);

// format=0:3 size=3:2 diff=0:1 address=0x10000000:64
codec_test!(
    split_load_address_only_is_unified,
    d64(SPLIT),
    no_data(),
    70,
    [0x18, 0x00, 0x00, 0x00, 0x04],
    load(true, 3, AccessReport::Address { diff: AddressDiff::Full, address: 0x1000_0000 })
);

// format=2:3 size=1:2 diff=3:2 data=0xfffffffe:32
codec_test!(
    store_data_only,
    d32(ALL),
    no_address(),
    39,
    [0x6a, 0xff],
    store(true, 1, AccessReport::Data { diff: DataDiff::Difference, data: 0xfffe })
);

// format=0:2 size=2:2 diff=1:1 data=0x7f001122:64
codec_test!(
    load_data_only_one_bit_xor,
    d64(DataKinds { compression: Compression::Xor, ..UNIFIED }),
    no_address(),
    69,
    [0x58, 0x24, 0x02, 0xe0, 0x0f],
    load(true, 2, AccessReport::Data { diff: DataDiff::Xor, data: 0x7f00_1122 })
);

// format=0:2 size=3:2 diff=1:1 data=0xffffffffffffffff:64
codec_test!(
    load_data_only_one_bit_difference,
    d64(DataKinds { compression: Compression::Difference, ..UNIFIED }),
    no_address(),
    69,
    [0xfc],
    load(true, 3, AccessReport::Data { diff: DataDiff::Difference, data: u64::MAX.into() })
);

// format=1:3 size=3:2 lrid=9:4 diff=1:1 address=0x33:64
codec_test!(
    load_request,
    d64(SPLIT),
    full(),
    74,
    [0x39, 0xcf, 0x00],
    DataPayload::LoadRequest(LoadRequest {
        aligned: false,
        size: 3,
        lrid: 9,
        diff: AddressDiff::Difference,
        address: 0x33
    })
);

// format=4:3 size=2:2 lrid=9:4 resp=2:2 data=0xffffffff80000001:64
codec_test!(
    load_response,
    d64(SPLIT),
    full(),
    75,
    [0x34, 0x0d, 0x00, 0x00, 0x00, 0xfc],
    DataPayload::LoadResponse(LoadResponse { size: 2, lrid: 9, resp: Response::Full(0x8000_0001) })
);

// format=4:3 size=0:2 lrid=1:4 resp=1:2 data=0x7f:64
codec_test!(
    load_response_xor,
    d64(SPLIT),
    full(),
    75,
    [0x24, 0xfa, 0x03],
    DataPayload::LoadResponse(LoadResponse { size: 0, lrid: 1, resp: Response::Xor(0x7f) })
);

// format=4:3 size=3:2 lrid=0xf:4 resp=0:2
codec_test!(
    load_response_error,
    d64(SPLIT),
    full(),
    11,
    [0xfc, 0x01],
    DataPayload::LoadResponse(LoadResponse { size: 3, lrid: 15, resp: Response::Error })
);

// format=6:3 subtype=1:3 size=2:2 diff=2:2 op_len=0:2 operand=1:8 data_len=1:2 data=0x1234:16
// address=0x200:64
codec_test!(
    atomic,
    d64(ALL),
    full(),
    102,
    [0x8e, 0x12, 0x10, 0x8d, 0x04, 0x80, 0x00],
    DataPayload::Atomic(Atomic {
        subtype: AtomicOp::Add,
        size: 2,
        report: AtomicReport::Both { diff: Diff::Full, operand: 1, data: 0x1234, address: 0x200 }
    })
);

// format=6:3 subtype=4:3 size=3:2 diff=0:1 address=0x10000001:64
codec_test!(
    atomic_address_only,
    d64(ALL),
    no_data(),
    73,
    [0xe6, 0x02, 0x00, 0x00, 0x20],
    DataPayload::Atomic(Atomic {
        subtype: AtomicOp::Xor,
        size: 3,
        report: AtomicReport::Address { diff: AddressDiff::Full, address: 0x1000_0001 }
    })
);

// format=6:3 subtype=6:3 size=3:2 diff=1:2 op_len=0:3 operand=0xff:8 data=0x55aa:64
codec_test!(
    atomic_data_only,
    d64(ALL),
    no_address(),
    85,
    [0xf6, 0xe1, 0x5f, 0xb5, 0x0a],
    DataPayload::Atomic(Atomic {
        subtype: AtomicOp::Min,
        size: 3,
        report: AtomicReport::Data { diff: DataDiff::Xor, operand: u64::MAX.into(), data: 0x55aa }
    })
);

// format=6:3 subtype=7:3 size=2:2 diff=1:1 address=0xfffffffffffffff8:64
codec_test!(
    store_conditional_failure,
    d64(ALL),
    full(),
    73,
    [0xbe, 0xf1],
    DataPayload::Atomic(Atomic {
        subtype: AtomicOp::ScFailure,
        size: 2,
        report: AtomicReport::Address { diff: AddressDiff::Difference, address: !7 }
    })
);

// format=6:3 subtype=7:3 size=3:2 diff=0:1 address=8:64
codec_test!(
    split_store_conditional_failure,
    d64(SPLIT),
    full(),
    73,
    [0xfe, 0x10],
    DataPayload::Atomic(Atomic {
        subtype: AtomicOp::ScFailure,
        size: 3,
        report: AtomicReport::Address { diff: AddressDiff::Full, address: 8 }
    })
);

// format=6:3 subtype=0:3 size=2:2 lrid=5:4 diff=0:2 op_len=3:2 operand=0xdeadbeef:32
// address=0x20000040:64
codec_test!(
    atomic_request,
    d64(SPLIT),
    full(),
    112,
    [0x86, 0xc5, 0xef, 0xbe, 0xad, 0xde, 0x40, 0x00, 0x00, 0x20],
    DataPayload::AtomicRequest(AtomicRequest {
        subtype: AtomicOp::Swap,
        size: 2,
        lrid: 5,
        diff: Diff::Sync,
        operand: 0xdead_beef,
        address: 0x2000_0040
    })
);

// format=6:3 subtype=5:3 size=3:2 lrid=5:4 diff=1:1 op_len=1:3 operand=0x100:16 address=1:64
codec_test!(
    atomic_request_one_bit_diff,
    d64(DataKinds { compression: Compression::Difference, ..SPLIT }),
    full(),
    96,
    [0xee, 0x35, 0x00, 0x01, 0x01],
    DataPayload::AtomicRequest(AtomicRequest {
        subtype: AtomicOp::Max,
        size: 3,
        lrid: 5,
        diff: Diff::Difference,
        operand: 0x100,
        address: 1
    })
);

// format=7:3 lrid=5:4 resp=3:2 data_len=2:3 data=0xfe0000:24
codec_test!(
    atomic_response,
    d64(SPLIT),
    full(),
    36,
    [0xaf, 0x05, 0x00, 0xe0],
    DataPayload::AtomicResponse(AtomicResponse {
        lrid: 5,
        resp: Response::Difference(0xffff_ffff_fffe_0000)
    })
);

// format=7:3 lrid=6:4 resp=0:2
codec_test!(
    atomic_response_error,
    d64(SPLIT),
    full(),
    9,
    [0x37],
    DataPayload::AtomicResponse(AtomicResponse { lrid: 6, resp: Response::Error })
);

// format=5:3 subtype=0:2 diff=0:2 data_len=0:3 data=0x80:8 addr_msbs=0xc:6 op_len=1:3
// operand=0x1888:16 addr_lsbs=0:6
codec_test!(
    csr_with_operand,
    d64(ALL),
    full(),
    49,
    [0x05, 0x00, 0x32, 0x41, 0xc4, 0x00],
    DataPayload::Csr(Csr {
        subtype: CsrOp::ReadWrite,
        report: CsrReport::Both {
            diff: DataDiff::Full,
            data: 0xffff_ffff_ffff_ff80,
            operand: Some(0x1888),
            address: 0x300
        }
    })
);

// format=5:3 subtype=1:2 diff=3:2 data_len=1:3 data=0x123:16 addr_msbs=0x30:6 addr_lsbs=2:6
codec_test!(
    csr_read_only,
    d64(ALL),
    full(),
    38,
    [0xed, 0x8c, 0x04, 0xc0, 0x02],
    DataPayload::Csr(Csr {
        subtype: CsrOp::ReadSet,
        report: CsrReport::Both {
            diff: DataDiff::Difference,
            data: 0x123,
            operand: None,
            address: 0xc02
        }
    })
);

// format=5:3 subtype=2:2 diff=1:1 data_len=3:2 data=0x80000000:32 addr_msbs=0xd:6 op_len=0:2
// operand=8:8 addr_lsbs=1:6
codec_test!(
    csr_32_one_bit_diff,
    d32(DataKinds { csr: Some(CsrWidth::Bits32), compression: Compression::Xor, ..UNIFIED }),
    full(),
    62,
    [0xf5, 0x00, 0x00, 0x00, 0x80, 0x0d, 0x08, 0x01],
    DataPayload::Csr(Csr {
        subtype: CsrOp::ReadClear,
        report: CsrReport::Both {
            diff: DataDiff::Xor,
            data: 0x8000_0000,
            operand: Some(8),
            address: 0x341
        }
    })
);

// format=5:3 subtype=0:2 diff=1:2 data_len=0:3 data=1:8 addr_msbs=1:6 op_len=0:3 operand=2:8
// addr_lsbs=3:6
codec_test!(
    csr_keeps_its_address,
    d64(ALL),
    no_address(),
    41,
    [0x25, 0x04, 0x04, 0x10, 0x18],
    DataPayload::Csr(Csr {
        subtype: CsrOp::ReadWrite,
        report: CsrReport::Both { diff: DataDiff::Xor, data: 1, operand: Some(2), address: 0x43 }
    })
);

// format=5:3 subtype=1:2 diff=1:1 addr_msbs=0x3f:6 addr_lsbs=0x3e:6
codec_test!(
    csr_address_only,
    d64(ALL),
    no_data(),
    18,
    [0xed, 0xef],
    DataPayload::Csr(Csr {
        subtype: CsrOp::ReadSet,
        report: CsrReport::Address { diff: AddressDiff::Difference, address: 0xffe }
    })
);
