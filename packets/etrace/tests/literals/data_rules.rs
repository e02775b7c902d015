//! Data trace: what is accepted, what is refused, and how it prints.

use crate::data::{ALL, SPLIT, UNIFIED, d32, d64, d128, full, load, no_address, no_data, store};
use hartrace_bits::{BitReader, BitWriter, Tail};
use hartrace_etrace::data::{
    AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest, AtomicResponse,
    Compression, Csr, CsrOp, CsrReport, CsrWidth, DataDiff, DataEmitError, DataFieldName,
    DataFormat, DataKinds, DataLayout, DataParamsError, DataParseError, DataPayload, Diff,
    Doptions, LoadRequest, LoadResponse, Response,
};

fn parse(
    layout: Result<DataLayout, DataParamsError>,
    options: Doptions,
    bytes: &[u8],
) -> Result<DataPayload, DataParseError> {
    let mut bits = BitReader::new(bytes, Tail::Sign);
    let result = DataPayload::parse(&layout.unwrap(), options, &mut bits);
    assert!(result.is_ok() || bits.position().0 == 0, "the reader must not move");
    result
}

fn emit(
    payload: DataPayload,
    layout: Result<DataLayout, DataParamsError>,
    options: Doptions,
) -> Result<(), DataEmitError> {
    payload.emit(&layout.unwrap(), options, &mut BitWriter::new(&mut [0; 64]))
}

#[test]
fn more_bytes_than_needed_are_accepted() {
    // format=0:2 size=2:2 diff=0:2 data_len=3:2 data=1:32 address=5:32
    let bytes = [0xc8, 0x01, 0x00, 0x00, 0x00, 0x05];
    let report = AccessReport::Both { diff: Diff::Sync, data: 1, address: 5 };
    assert_eq!(parse(d32(UNIFIED), full(), &bytes), Ok(load(true, 2, report)));
    // format=7:3 lrid=5:4 resp=2:2 data_len=7:3 data=1:64
    let bytes = [0x2f, 0x1f, 0x00];
    let resp = Response::Full(1);
    let expected = DataPayload::AtomicResponse(AtomicResponse { lrid: 5, resp });
    assert_eq!(parse(d64(SPLIT), full(), &bytes), Ok(expected));
}

#[test]
fn zero_extended_data_is_accepted() {
    // format=0:3 size=2:2 diff=0:2 data=0x00000000ffffffff:64
    let bytes = [0x90, 0xff, 0xff, 0xff, 0x7f, 0x00];
    let expected = load(true, 2, AccessReport::Data { diff: DataDiff::Full, data: 0xffff_ffff });
    assert_eq!(parse(d64(ALL), no_address(), &bytes), Ok(expected));
}

#[test]
fn kinds_that_are_not_traced() {
    for code in 4..8 {
        let kinds = DataKinds { split: true, ..UNIFIED };
        let result = parse(d64(kinds), full(), &[code]);
        let expected = if code == 4 { None } else { Some(DataParseError::Format(code)) };
        assert_eq!(result.err(), expected, "split loads, format {code}");
        let result = parse(d64(ALL), full(), &[code]);
        let expected = matches!(code, 4 | 7).then_some(DataParseError::Format(code));
        assert_eq!(result.err(), expected, "unified, format {code}");
        for options in [no_address(), no_data()] {
            let result = parse(d64(SPLIT), options, &[code]);
            let expected = matches!(code, 4 | 7).then_some(DataParseError::Format(code));
            assert_eq!(result.err(), expected, "nothing is split, format {code}");
        }
    }
}

#[test]
fn nothing_is_left_without_address_and_data() {
    let options = Doptions { no_address: true, no_data: true, ..full() };
    for code in 0..8 {
        assert_eq!(parse(d64(ALL), options, &[code]), Err(DataParseError::Format(code)));
    }
}

#[test]
fn reserved_codes() {
    // format=0:2 size=3:2 of 32-bit data
    assert_eq!(parse(d32(UNIFIED), full(), &[0b1100]), Err(DataParseError::Size(3)));
    // format=2:2 size=5:3 of 128-bit data
    assert_eq!(parse(d128(UNIFIED), full(), &[0b10110]), Err(DataParseError::Size(5)));
    // format=5:3 subtype=3:2
    assert_eq!(parse(d64(ALL), full(), &[0b11101]), Err(DataParseError::Subtype(3)));
    assert_eq!(parse(d64(ALL), no_data(), &[0b11101]), Err(DataParseError::Subtype(3)));
    // format=6:3 subtype=7:3, without an address
    assert_eq!(parse(d64(ALL), no_address(), &[0b111110]), Err(DataParseError::Subtype(7)));
    // format=0:3 size=0:2 diff=2:2
    assert_eq!(parse(d64(ALL), no_address(), &[0b1000000, 0]), Err(DataParseError::Diff(2)));
    // format=5:3 subtype=0:2 diff=2:2
    assert_eq!(parse(d64(ALL), full(), &[0b1000101, 0]), Err(DataParseError::Diff(2)));
}

#[test]
fn values_that_do_not_fit() {
    use DataEmitError::TooWide;
    let both = |data, address| AccessReport::Both { diff: Diff::Sync, data, address };
    let cases = [
        (store(true, 3, both(0, 0)), DataFieldName::Size),
        (store(true, 1, both(0x1_0000, 0)), DataFieldName::Data),
        (store(true, 1, both(0, 1 << 32)), DataFieldName::Address),
        (
            DataPayload::Csr(Csr {
                subtype: CsrOp::ReadWrite,
                report: CsrReport::Both {
                    diff: DataDiff::Full,
                    data: 0,
                    operand: Some(0),
                    address: 0x1000,
                },
            }),
            DataFieldName::AddrMsbs,
        ),
    ];
    let kinds = DataKinds { csr: Some(CsrWidth::Bits32), ..UNIFIED };
    for (payload, field) in cases {
        assert_eq!(emit(payload, d32(kinds), full()), Err(TooWide(field)), "{payload}");
    }
    let payload = DataPayload::AtomicResponse(AtomicResponse { lrid: 16, resp: Response::Error });
    assert_eq!(emit(payload, d64(SPLIT), full()), Err(TooWide(DataFieldName::Lrid)));
    let resp = Response::Full(1 << 64);
    let payload = DataPayload::AtomicResponse(AtomicResponse { lrid: 0, resp });
    assert_eq!(emit(payload, d64(SPLIT), full()), Err(TooWide(DataFieldName::Data)));
    let short = store(true, 0, both(0, 0)).emit(
        &d32(UNIFIED).unwrap(),
        full(),
        &mut BitWriter::new(&mut [0; 5]),
    );
    assert_eq!(short, Err(DataEmitError::BufferFull));
}

#[test]
fn payloads_that_do_not_exist() {
    let both = AccessReport::Both { diff: Diff::Sync, data: 0, address: 0 };
    let format = DataEmitError::Format(DataFormat::Access);
    assert_eq!(emit(load(true, 0, both), d64(SPLIT), full()), Err(format));
    assert_eq!(emit(store(true, 0, both), d64(SPLIT), full()), Ok(()));
    assert_eq!(emit(store(true, 0, both), d64(SPLIT), no_data()), Err(format));
    let subtype = AtomicOp::ScFailure;
    let (diff, operand, data, address) = (Diff::Sync, 0, 0, 0);
    let report = AtomicReport::Both { diff, operand, data, address };
    let payload = DataPayload::Atomic(Atomic { subtype, size: 2, report });
    let format = DataEmitError::Format(DataFormat::Atomic);
    assert_eq!(emit(payload, d64(ALL), full()), Err(format));
    let request = AtomicRequest { subtype, size: 2, lrid: 0, diff, operand, address };
    let format = DataEmitError::Format(DataFormat::AtomicRequest);
    assert_eq!(emit(DataPayload::AtomicRequest(request), d64(SPLIT), full()), Err(format));
}

#[test]
fn compression_that_is_not_offered() {
    let xor = DataKinds { compression: Compression::Xor, ..SPLIT };
    let difference = DataKinds { compression: Compression::Difference, ..SPLIT };
    let payload = |diff| store(true, 0, AccessReport::Data { diff, data: 0 });
    let no = no_address();
    assert_eq!(emit(payload(DataDiff::Difference), d64(xor), no), Err(DataEmitError::Diff(3)));
    assert_eq!(emit(payload(DataDiff::Xor), d64(difference), no), Err(DataEmitError::Diff(1)));
    let request = AtomicRequest {
        subtype: AtomicOp::Swap,
        size: 2,
        lrid: 0,
        diff: Diff::Full,
        operand: 0,
        address: 0,
    };
    let payload = DataPayload::AtomicRequest(request);
    assert_eq!(emit(payload, d64(xor), full()), Err(DataEmitError::Diff(2)));
}

#[test]
fn operand_goes_with_writable_csrs() {
    let payload = |operand, address| {
        let report = CsrReport::Both { diff: DataDiff::Full, data: 0, operand, address };
        DataPayload::Csr(Csr { subtype: CsrOp::ReadWrite, report })
    };
    let missing = Err(DataEmitError::MissingOperand);
    assert_eq!(emit(payload(None, 0xbff), d64(ALL), full()), missing);
    let unexpected = Err(DataEmitError::UnexpectedOperand);
    assert_eq!(emit(payload(Some(0), 0xc00), d64(ALL), full()), unexpected);
}

#[test]
fn one_line_each() {
    let lines = [
        (
            load(false, 1, AccessReport::Data { diff: DataDiff::Xor, data: 0x1f }),
            "1   load    size=1 diff=xor data=0x1f",
        ),
        (
            DataPayload::LoadRequest(LoadRequest {
                aligned: true,
                size: 3,
                lrid: 7,
                diff: AddressDiff::Difference,
                address: 8,
            }),
            "0   loadreq size=3 lrid=7 diff=diff address=0x8",
        ),
        (
            DataPayload::LoadResponse(LoadResponse { size: 3, lrid: 7, resp: Response::Error }),
            "4   loadrsp size=3 lrid=7 resp=error",
        ),
        (
            DataPayload::Csr(Csr {
                subtype: CsrOp::ReadSet,
                report: CsrReport::Both {
                    diff: DataDiff::Full,
                    data: 3,
                    operand: Some(8),
                    address: 0x300,
                },
            }),
            "5   csr     subtype=rs diff=full data=0x3 operand=0x8 address=0x300",
        ),
        (
            DataPayload::Atomic(Atomic {
                subtype: AtomicOp::ScFailure,
                size: 2,
                report: AtomicReport::Address { diff: AddressDiff::Full, address: 0x20 },
            }),
            "6   atomic  subtype=sc_failure size=2 diff=full address=0x20",
        ),
        (
            DataPayload::AtomicRequest(AtomicRequest {
                subtype: AtomicOp::Max,
                size: 2,
                lrid: 1,
                diff: Diff::Sync,
                operand: 4,
                address: 0x20,
            }),
            "6   atomreq subtype=max size=2 lrid=1 diff=sync operand=0x4 address=0x20",
        ),
        (
            DataPayload::AtomicResponse(AtomicResponse { lrid: 1, resp: Response::Xor(5) }),
            "7   atomrsp lrid=1 resp=xor data=0x5",
        ),
    ];
    for (payload, line) in lines {
        assert_eq!(payload.to_string(), line);
    }
}
