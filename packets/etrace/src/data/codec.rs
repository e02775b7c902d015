//! Parse and emit, driven by the field table.

use super::{
    Access, AccessReport, AddressDiff, Atomic, AtomicOp, AtomicReport, AtomicRequest,
    AtomicResponse, Compression, Csr, CsrOp, CsrReport, CsrWidth, DataDiff, DataField,
    DataFieldName, DataFormat, DataLayout, DataPayload, DataPresence, DataWidth, Diff, Doptions,
    LoadRequest, LoadResponse, Response,
};
use core::fmt;
use hartrace_bits::{BitReader, BitWriter, Incomplete, WriteError};

/// A data-trace payload could not be parsed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataParseError {
    /// The payload ends inside this field. With [`Tail::End`](hartrace_bits::Tail::End) read more
    /// and try again; otherwise the payload is empty or cut short.
    Incomplete {
        /// The field that does not fit.
        field: DataFieldName,
        /// Bits missing for this field; later fields may need more.
        missing: u32,
    },
    /// The encoder traces no such kind of access in these modes: the kinds or modes are wrong.
    Format(u8),
    /// A reserved subtype.
    Subtype(u8),
    /// The access is wider than `data_width_p`.
    Size(u8),
    /// A reserved diff code.
    Diff(u8),
}

impl fmt::Display for DataParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { field, missing } => {
                write!(f, "payload ends {missing} bits short of field {}", field.as_str())
            }
            Self::Format(raw) => {
                write!(f, "format {raw} is not traced by this encoder in these modes")
            }
            Self::Subtype(raw) => write!(f, "subtype {raw} is reserved"),
            Self::Size(raw) => write!(f, "size {raw} is wider than data_width_p"),
            Self::Diff(raw) => write!(f, "diff {raw} is reserved"),
        }
    }
}

impl core::error::Error for DataParseError {}

/// A data-trace payload could not be emitted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataEmitError {
    /// The buffer is too short.
    BufferFull,
    /// The value of this field has more bits than the field, or than an access of this size.
    TooWide(DataFieldName),
    /// The encoder sends no such payload in these modes.
    Format(DataFormat),
    /// The encoder does not offer this compression. The diff code is a two-bit one.
    Diff(u8),
    /// A CSR that can be written needs an operand.
    MissingOperand,
    /// A read-only CSR has no operand.
    UnexpectedOperand,
}

impl fmt::Display for DataEmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferFull => f.write_str("payload does not fit in the buffer"),
            Self::TooWide(field) => write!(f, "value of {} does not fit its field", field.as_str()),
            Self::Format(format) => {
                write!(f, "{format:?} payloads are not sent by this encoder in these modes")
            }
            Self::Diff(raw) => write!(f, "diff {raw} is a compression the encoder does not offer"),
            Self::MissingOperand => f.write_str("access to a writable csr has no operand"),
            Self::UnexpectedOperand => f.write_str("access to a read-only csr has an operand"),
        }
    }
}

impl core::error::Error for DataEmitError {}

/// The raw value of every field; 0 where the payload has none.
struct Values([u128; DataFieldName::ALL.len()]);

impl Values {
    const fn new() -> Self {
        Self([0; DataFieldName::ALL.len()])
    }

    fn get(&self, name: DataFieldName) -> u128 {
        self.0.get(name as usize).copied().unwrap_or(0)
    }

    fn byte(&self, name: DataFieldName) -> u8 {
        self.get(name) as u8
    }

    fn set(&mut self, name: DataFieldName, value: impl Into<u128>) {
        if let Some(slot) = self.0.get_mut(name as usize) {
            *slot = value.into();
        }
    }

    fn present(&self, field: &DataField) -> bool {
        match field.presence {
            DataPresence::Always => true,
            DataPresence::UnlessError => self.get(DataFieldName::Resp) != 0,
            DataPresence::UnlessReadOnly => self.get(DataFieldName::AddrMsbs) >> 4 != 3,
        }
    }

    fn width(&self, field: &DataField) -> u32 {
        match field.width {
            DataWidth::Bits(bits) => bits.into(),
            DataWidth::Size => self.byte(DataFieldName::Size).into(),
            DataWidth::Bytes(len) => u32::from(self.byte(len)).saturating_add(1).saturating_mul(8),
        }
    }

    /// Bits of data and operand: the width of the access, however few of them are sent.
    fn value_bits(&self, layout: &DataLayout, format: DataFormat) -> u32 {
        let log = match format {
            DataFormat::Csr => layout.kinds().csr.map_or(0, CsrWidth::len_bits),
            DataFormat::AtomicResponse => layout.params().max_size().into(),
            _ => self.byte(DataFieldName::Size).into(),
        };
        8u32.wrapping_shl(log)
    }

    fn csr_address(&self) -> u16 {
        let high = self.get(DataFieldName::AddrMsbs) as u16;
        high << 6 | self.get(DataFieldName::AddrLsbs) as u16
    }
}

const fn mask(width: u32) -> u128 {
    match u128::MAX.checked_shr(128u32.saturating_sub(width)) {
        Some(m) => m,
        None => 0, // width 0
    }
}

/// Sign-extends the low `width` bits of `value`; `width` is at least 1.
const fn sign_extend(value: u128, width: u32) -> u128 {
    let above = 128u32.saturating_sub(width);
    (value.wrapping_shl(above) as i128).wrapping_shr(above) as u128
}

/// The number of bytes, minus 1, that suffice to restore a value of `bits` bits by sign extension.
///
/// Spec: E-Trace 2.0, 8.1.4 "data_len field".
fn byte_len(value: u128, bits: u32) -> u8 {
    let value = sign_extend(value, bits) as i128;
    let redundant = if value < 0 { value.leading_ones() } else { value.leading_zeros() };
    // Significant bits and a sign bit, rounded up to bytes, minus 1.
    (128u32.saturating_sub(redundant) >> 3) as u8
}

/// A "1 or 2 bit" diff code as sent. With one kind of compression, one bit says if it was used.
fn narrow(compression: Compression, code: u8) -> Result<u8, DataEmitError> {
    match (compression, code) {
        (Compression::Both, code) => Ok(code),
        (_, 0) => Ok(0),
        (Compression::Xor, 1) | (Compression::Difference, 3) => Ok(1),
        (_, code) => Err(DataEmitError::Diff(code)),
    }
}

/// The inverse of [`narrow`].
const fn widen(compression: Compression, raw: u8) -> u8 {
    match (compression, raw) {
        (Compression::Difference, 1) => 3,
        (_, raw) => raw,
    }
}

impl DataPayload {
    /// Parses one payload. `options` are the modes in force, from the last support packet.
    ///
    /// On error the reader does not move.
    pub fn parse(
        layout: &DataLayout,
        options: Doptions,
        bits: &mut BitReader<'_>,
    ) -> Result<Self, DataParseError> {
        let start = bits.clone();
        parse(layout, options, bits).inspect_err(|_| *bits = start)
    }

    /// Writes one payload. Data and operand use as few bytes as possible, but the payload itself
    /// is uncompressed: call [`BitWriter::finish_compressed`] for the shortest form.
    pub fn emit(
        &self,
        layout: &DataLayout,
        options: Doptions,
        out: &mut BitWriter<'_>,
    ) -> Result<(), DataEmitError> {
        let format = self.format();
        let mut values = self.values();
        let subtype = values.byte(DataFieldName::Subtype);
        if layout.select(options, self.code(), subtype) != Some(format) {
            return Err(DataEmitError::Format(format));
        }
        if values.byte(DataFieldName::Size) > layout.params().max_size() {
            return Err(DataEmitError::TooWide(DataFieldName::Size));
        }
        if let Self::Csr(Csr { report: CsrReport::Both { operand, address, .. }, .. }) = self {
            match (operand, address >> 10) {
                (Some(_), 3) => return Err(DataEmitError::UnexpectedOperand),
                (None, 0..=2) => return Err(DataEmitError::MissingOperand),
                _ => {}
            }
        }
        if format.narrow_diff() {
            let code = narrow(layout.kinds().compression, values.byte(DataFieldName::Diff))?;
            values.set(DataFieldName::Diff, code);
        }
        values.trim(layout, format)?;
        for field in layout.fields(format).iter().filter(|f| values.present(f)) {
            out.write_wide(values.get(field.name), values.width(field)).map_err(
                |err| match err {
                    WriteError::TooWide => DataEmitError::TooWide(field.name),
                    _ => DataEmitError::BufferFull,
                },
            )?;
        }
        Ok(())
    }

    /// Number of bits before compression of the whole payload.
    pub fn bit_len(&self, layout: &DataLayout, options: Doptions) -> Result<u64, DataEmitError> {
        let mut scratch = [0; 64];
        let mut out = BitWriter::new(&mut scratch);
        self.emit(layout, options, &mut out)?;
        Ok(out.position().0)
    }

    /// The fields as the value holds them: data and operand in full, diff as a two-bit code.
    fn values(&self) -> Values {
        use DataFieldName as N;
        let mut v = Values::new();
        v.set(N::Format, self.code());
        match *self {
            Self::Access(p) => {
                v.set(N::Size, p.size);
                match p.report {
                    AccessReport::Both { diff, data, address } => {
                        v.set(N::Diff, diff.raw());
                        v.set(N::Data, data);
                        v.set(N::Address, address);
                    }
                    AccessReport::Address { diff, address } => v.address(diff, address),
                    AccessReport::Data { diff, data } => {
                        v.set(N::Diff, diff.raw());
                        v.set(N::Data, data);
                    }
                }
            }
            Self::LoadRequest(p) => {
                v.set(N::Size, p.size);
                v.set(N::Lrid, p.lrid);
                v.address(p.diff, p.address);
            }
            Self::LoadResponse(p) => {
                v.set(N::Size, p.size);
                v.response(p.lrid, p.resp);
            }
            Self::Csr(p) => {
                v.set(N::Subtype, p.subtype.raw());
                let (diff, address) = match p.report {
                    CsrReport::Both { diff, data, operand, address } => {
                        v.set(N::Data, data);
                        v.set(N::Operand, operand.unwrap_or(0));
                        (diff.raw(), address)
                    }
                    CsrReport::Address { diff, address } => (diff.raw(), address),
                };
                v.set(N::Diff, diff);
                // A CSR number of more than 12 bits makes addr_msbs too wide, which is reported.
                v.set(N::AddrMsbs, address >> 6);
                v.set(N::AddrLsbs, address & 0x3f);
            }
            Self::Atomic(p) => {
                v.set(N::Subtype, p.subtype.raw());
                v.set(N::Size, p.size);
                match p.report {
                    AtomicReport::Both { diff, operand, data, address } => {
                        v.set(N::Diff, diff.raw());
                        v.set(N::Operand, operand);
                        v.set(N::Data, data);
                        v.set(N::Address, address);
                    }
                    AtomicReport::Address { diff, address } => v.address(diff, address),
                    AtomicReport::Data { diff, operand, data } => {
                        v.set(N::Diff, diff.raw());
                        v.set(N::Operand, operand);
                        v.set(N::Data, data);
                    }
                }
            }
            Self::AtomicRequest(p) => {
                v.set(N::Subtype, p.subtype.raw());
                v.set(N::Size, p.size);
                v.set(N::Lrid, p.lrid);
                v.set(N::Diff, p.diff.raw());
                v.set(N::Operand, p.operand);
                v.set(N::Address, p.address);
            }
            Self::AtomicResponse(p) => v.response(p.lrid, p.resp),
        }
        v
    }
}

impl Values {
    fn address(&mut self, diff: AddressDiff, address: u64) {
        self.set(DataFieldName::Diff, diff.raw());
        self.set(DataFieldName::Address, address);
    }

    fn response(&mut self, lrid: u32, resp: Response) {
        self.set(DataFieldName::Lrid, lrid);
        self.set(DataFieldName::Resp, resp.raw());
        self.set(DataFieldName::Data, resp.data().unwrap_or(0));
    }

    /// Shortens data and operand to the bytes that are sent, and sets their lengths.
    fn trim(&mut self, layout: &DataLayout, format: DataFormat) -> Result<(), DataEmitError> {
        let bits = self.value_bits(layout, format);
        for field in layout.fields(format) {
            if !matches!(field.name, DataFieldName::Data | DataFieldName::Operand) {
                continue;
            }
            let value = self.get(field.name);
            if value & !mask(bits) != 0 {
                return Err(DataEmitError::TooWide(field.name));
            }
            if let DataWidth::Bytes(len) = field.width {
                self.set(len, byte_len(value, bits));
            }
            // The last field has no length: it is extended to its full width, and the compression
            // of the payload removes the extension again.
            self.set(field.name, sign_extend(value, bits) & mask(self.width(field)));
        }
        Ok(())
    }

    fn get_response(&self) -> Response {
        let data = self.get(DataFieldName::Data);
        match self.byte(DataFieldName::Resp) {
            0 => Response::Error,
            1 => Response::Xor(data),
            2 => Response::Full(data),
            _ => Response::Difference(data),
        }
    }
}

fn read(
    bits: &mut BitReader<'_>,
    field: DataFieldName,
    width: u32,
) -> Result<u128, DataParseError> {
    bits.read_wide(width)
        .map_err(|Incomplete { missing }| DataParseError::Incomplete { field, missing })
}

fn parse(
    layout: &DataLayout,
    options: Doptions,
    bits: &mut BitReader<'_>,
) -> Result<DataPayload, DataParseError> {
    use DataFieldName as N;
    let mut v = Values::new();
    v.set(N::Format, read(bits, N::Format, layout.kinds().format_bits())?);
    let code = v.byte(N::Format);
    let unknown = DataParseError::Format(code);
    // Any subtype shows whether such payloads exist at all; only subtype 7 has a separate table.
    let mut format = layout.select(options, code, 0).ok_or(unknown)?;
    for index in 1.. {
        let Some(field) = layout.fields(format).get(index) else { break };
        if !v.present(field) {
            continue;
        }
        let width = v.width(field);
        let value = read(bits, field.name, width)?;
        v.set(field.name, value);
        match field.name {
            // The tables of format 6 agree up to this field.
            N::Subtype => {
                let subtype = v.byte(N::Subtype);
                format = layout
                    .select(options, code, subtype)
                    .ok_or(DataParseError::Subtype(subtype))?;
            }
            N::Size if v.byte(N::Size) > layout.params().max_size() => {
                return Err(DataParseError::Size(v.byte(N::Size)));
            }
            N::Data | N::Operand => {
                let whole = v.value_bits(layout, format);
                let value = sign_extend(value, width.min(whole)) & mask(whole);
                v.set(field.name, value);
            }
            _ => {}
        }
    }
    if format.narrow_diff() {
        v.set(N::Diff, widen(layout.kinds().compression, v.byte(N::Diff)));
    }
    payload(format, &v)
}

fn payload(format: DataFormat, v: &Values) -> Result<DataPayload, DataParseError> {
    use DataFieldName as N;
    let code = v.byte(N::Format);
    let store = code & 2 != 0;
    let aligned = code & 1 == 0;
    let size = v.byte(N::Size);
    let lrid = v.get(N::Lrid) as u32;
    let data = v.get(N::Data);
    let operand = v.get(N::Operand);
    let address = v.get(N::Address) as u64;
    let raw_diff = v.byte(N::Diff);
    let reserved = DataParseError::Diff(raw_diff);
    let both = || Diff::from_raw(raw_diff).ok_or(reserved);
    let address_diff = || AddressDiff::from_raw(raw_diff).ok_or(reserved);
    let data_diff = || DataDiff::from_raw(raw_diff).ok_or(reserved);
    let raw_subtype = v.byte(N::Subtype);
    let atomic_op = || AtomicOp::from_raw(raw_subtype).ok_or(DataParseError::Subtype(raw_subtype));
    let csr_op = || CsrOp::from_raw(raw_subtype).ok_or(DataParseError::Subtype(raw_subtype));
    let access = |report| DataPayload::Access(Access { store, aligned, size, report });
    let atomic = |report| -> Result<_, DataParseError> {
        Ok(DataPayload::Atomic(Atomic { subtype: atomic_op()?, size, report }))
    };
    Ok(match format {
        DataFormat::Access => access(AccessReport::Both { diff: both()?, data, address }),
        DataFormat::AccessAddress => {
            access(AccessReport::Address { diff: address_diff()?, address })
        }
        DataFormat::AccessData => access(AccessReport::Data { diff: data_diff()?, data }),
        DataFormat::LoadRequest => DataPayload::LoadRequest(LoadRequest {
            aligned,
            size,
            lrid,
            diff: address_diff()?,
            address,
        }),
        DataFormat::LoadResponse => {
            DataPayload::LoadResponse(LoadResponse { size, lrid, resp: v.get_response() })
        }
        DataFormat::Csr => {
            let address = v.csr_address();
            let report = CsrReport::Both {
                diff: data_diff()?,
                data: data as u64,
                operand: (address >> 10 != 3).then_some(operand as u64),
                address,
            };
            DataPayload::Csr(Csr { subtype: csr_op()?, report })
        }
        DataFormat::CsrAddress => {
            let report = CsrReport::Address { diff: address_diff()?, address: v.csr_address() };
            DataPayload::Csr(Csr { subtype: csr_op()?, report })
        }
        DataFormat::Atomic => atomic(AtomicReport::Both { diff: both()?, operand, data, address })?,
        DataFormat::AtomicAddress => {
            atomic(AtomicReport::Address { diff: address_diff()?, address })?
        }
        DataFormat::AtomicData => atomic(AtomicReport::Data { diff: data_diff()?, operand, data })?,
        DataFormat::AtomicRequest => DataPayload::AtomicRequest(AtomicRequest {
            subtype: atomic_op()?,
            size,
            lrid,
            diff: both()?,
            operand,
            address,
        }),
        DataFormat::AtomicResponse => {
            DataPayload::AtomicResponse(AtomicResponse { lrid, resp: v.get_response() })
        }
    })
}
