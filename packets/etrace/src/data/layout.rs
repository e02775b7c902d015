use super::{Compression, CsrWidth, DataKinds, DataParams, Doptions};
use crate::field_names::field_names;

/// The field tables of data-trace payloads.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataFormat {
    /// Unified load or store with address and data.
    Access,
    /// Unified load or store with address only.
    AccessAddress,
    /// Unified load or store with data only.
    AccessData,
    /// Split load, request.
    LoadRequest,
    /// Split load, response.
    LoadResponse,
    /// CSR with address, data and, unless it is read-only, operand.
    Csr,
    /// CSR with address only.
    CsrAddress,
    /// Unified atomic with address and data.
    Atomic,
    /// Unified atomic with address only, and failed store-conditional.
    AtomicAddress,
    /// Unified atomic with data only.
    AtomicData,
    /// Split atomic, request.
    AtomicRequest,
    /// Split atomic, response.
    AtomicResponse,
}

impl DataFormat {
    /// Every table, in order of declaration.
    pub const ALL: [Self; 12] = [
        Self::Access,
        Self::AccessAddress,
        Self::AccessData,
        Self::LoadRequest,
        Self::LoadResponse,
        Self::Csr,
        Self::CsrAddress,
        Self::Atomic,
        Self::AtomicAddress,
        Self::AtomicData,
        Self::AtomicRequest,
        Self::AtomicResponse,
    ];

    /// Whether the diff field is "1 or 2" bits: one if there is only one kind of compression.
    pub(super) const fn narrow_diff(self) -> bool {
        matches!(self, Self::AccessData | Self::Csr | Self::AtomicData | Self::AtomicRequest)
    }
}

field_names! {
    /// A field of a data-trace payload, named as in the specification.
    DataFieldName:
    /// Kind of access.
    Format = "format",
    /// Kind of atomic or CSR access.
    Subtype = "subtype",
    /// The access is `2^size` bytes.
    Size = "size",
    /// Load request identifier.
    Lrid = "lrid",
    /// How address and data are coded.
    Diff = "diff",
    /// Whether the load succeeded, and how its data is coded.
    Resp = "resp",
    /// Bytes of data, minus 1.
    DataLen = "data_len",
    /// Data.
    Data = "data",
    /// Bytes of the operand, minus 1.
    OpLen = "op_len",
    /// Value of the source register.
    Operand = "operand",
    /// Data address.
    Address = "address",
    /// CSR number, bits 11 to 6.
    AddrMsbs = "addr_msbs",
    /// CSR number, bits 5 to 0.
    AddrLsbs = "addr_lsbs",
}

/// How wide a field is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataWidth {
    /// Always this many bits.
    Bits(u8),
    /// As many bits as the value of the size field, so that it can count the bytes of the access.
    Size,
    /// The value of this field plus 1, in bytes.
    Bytes(DataFieldName),
}

/// When the payload contains a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataPresence {
    /// In every payload of this format.
    Always,
    /// Only if resp is not 0.
    UnlessError,
    /// Only if the CSR is writable, that is, unless the two top bits of addr_msbs are set.
    UnlessReadOnly,
}

/// One row of a payload's field table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataField {
    /// The name of the field.
    pub name: DataFieldName,
    /// How wide it is.
    pub width: DataWidth,
    /// When the payload contains it.
    pub presence: DataPresence,
}

const MAX_FIELDS: usize = 9;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct Table {
    fields: [DataField; MAX_FIELDS],
    len: usize,
}

impl Table {
    const fn new() -> Self {
        let unused = DataField {
            name: DataFieldName::Format,
            width: DataWidth::Bits(0),
            presence: DataPresence::Always,
        };
        Self { fields: [unused; MAX_FIELDS], len: 0 }
    }

    fn push(&mut self, name: DataFieldName, width: DataWidth, presence: DataPresence) {
        // The tests check MAX_FIELDS and would find a row that does not fit.
        if let Some(slot) = self.fields.get_mut(self.len) {
            *slot = DataField { name, width, presence };
            self.len = self.len.saturating_add(1);
        }
    }

    fn bits(&mut self, name: DataFieldName, bits: u32) {
        self.push(name, DataWidth::Bits(bits as u8), DataPresence::Always);
    }

    /// data_len and data.
    fn data(&mut self, len: DataWidth, presence: DataPresence) {
        self.push(DataFieldName::DataLen, len, presence);
        self.push(DataFieldName::Data, DataWidth::Bytes(DataFieldName::DataLen), presence);
    }

    /// op_len and operand.
    fn operand(&mut self, len: DataWidth, presence: DataPresence) {
        self.push(DataFieldName::OpLen, len, presence);
        self.push(DataFieldName::Operand, DataWidth::Bytes(DataFieldName::OpLen), presence);
    }
}

/// The field table of every data-trace payload for one parameter set.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataLayout {
    params: DataParams,
    kinds: DataKinds,
    tables: [Table; DataFormat::ALL.len()],
}

impl DataLayout {
    /// The parameters this table was made from.
    pub const fn params(&self) -> &DataParams {
        &self.params
    }

    /// The kinds of access this table was made for.
    pub const fn kinds(&self) -> &DataKinds {
        &self.kinds
    }

    /// The fields of `format`, in transmission order.
    pub fn fields(&self, format: DataFormat) -> &[DataField] {
        self.tables.get(format as usize).and_then(|t| t.fields.get(..t.len)).unwrap_or_default()
    }

    /// Whether an encoder of these kinds ever sends `format`.
    pub const fn has(&self, format: DataFormat) -> bool {
        match format {
            DataFormat::Access | DataFormat::AccessAddress | DataFormat::AccessData => true,
            DataFormat::LoadRequest | DataFormat::LoadResponse => self.kinds.split,
            DataFormat::Csr | DataFormat::CsrAddress => self.kinds.csr.is_some(),
            DataFormat::Atomic => self.kinds.atomics && !self.kinds.split,
            DataFormat::AtomicAddress | DataFormat::AtomicData => self.kinds.atomics,
            DataFormat::AtomicRequest | DataFormat::AtomicResponse => {
                self.kinds.atomics && self.kinds.split
            }
        }
    }

    /// Bits of the longest payload before compression. Some parameters require more than the
    /// [31 bytes](crate::MAX_PAYLOAD_BYTES) of a packet; such a payload may still fit compressed.
    pub fn max_bits(&self) -> u32 {
        let formats = DataFormat::ALL.iter().filter(|f| self.has(**f));
        formats.map(|f| self.max_format_bits(*f)).max().unwrap_or(0)
    }

    /// Bits of the longest payload of one format before compression.
    pub fn max_format_bits(&self, format: DataFormat) -> u32 {
        let fields = self.fields(format);
        fields
            .iter()
            .map(|field| match field.width {
                DataWidth::Bits(bits) => bits.into(),
                DataWidth::Size => self.params.max_size().into(),
                DataWidth::Bytes(len) => {
                    let len = match fields.iter().find(|f| f.name == len).map(|f| f.width) {
                        Some(DataWidth::Bits(bits)) => bits,
                        _ => self.params.max_size(),
                    };
                    8u32.wrapping_shl(len.into())
                }
            })
            .fold(0, u32::saturating_add)
    }

    /// The table for a value of the format field, and of the subtype field where format is 6.
    ///
    /// `None` if the encoder sends no such payload in these modes. Accesses are split only while
    /// both address and data are reported; otherwise one packet is enough.
    ///
    /// Spec: E-Trace 2.0, chapter 8 "Data Trace Encoder Output Packets".
    pub fn select(&self, options: Doptions, code: u8, subtype: u8) -> Option<DataFormat> {
        use DataFormat as F;
        let form = Form::of(options)?;
        let two_phases = self.kinds.split && form == Form::Both;
        let format = match (code, form) {
            (0 | 1, _) if two_phases => F::LoadRequest,
            (0..=3, Form::Both) => F::Access,
            (0..=3, Form::Address) => F::AccessAddress,
            (0..=3, Form::Data) => F::AccessData,
            (4, _) if two_phases => F::LoadResponse,
            (5, Form::Address) => F::CsrAddress,
            // The address of a CSR determines whether there is an operand, so it is always sent.
            (5, _) => F::Csr,
            (6, Form::Address) => F::AtomicAddress,
            // A failed store-conditional has no data in any mode.
            (6, Form::Both) if subtype == 7 => F::AtomicAddress,
            (6, Form::Data) if subtype == 7 => return None,
            (6, Form::Both) if two_phases => F::AtomicRequest,
            (6, Form::Both) => F::Atomic,
            (6, Form::Data) => F::AtomicData,
            (7, _) if two_phases => F::AtomicResponse,
            _ => return None,
        };
        self.has(format).then_some(format)
    }

    pub(super) fn build(params: DataParams, kinds: DataKinds) -> Self {
        let mut layout = Self { params, kinds, tables: [Table::new(); DataFormat::ALL.len()] };
        for (format, table) in DataFormat::ALL.into_iter().zip(&mut layout.tables) {
            *table = build_table(&params, &kinds, format);
        }
        layout
    }
}

/// The parts of a payload that the modes leave in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Form {
    Both,
    Address,
    Data,
}

impl Form {
    /// `None` if there is nothing left to report.
    const fn of(options: Doptions) -> Option<Self> {
        match (options.no_address, options.no_data) {
            (false, false) => Some(Self::Both),
            (false, true) => Some(Self::Address),
            (true, false) => Some(Self::Data),
            (true, true) => None,
        }
    }
}

/// Spec: E-Trace 2.0, chapter 8, the tables of each packet.
fn build_table(params: &DataParams, kinds: &DataKinds, format: DataFormat) -> Table {
    use DataFieldName as N;
    use DataFormat as F;
    use DataPresence::{Always, UnlessError, UnlessReadOnly};
    let address_bits = params.daddress_width_p.into();
    let data_bits = params.data_width_p.into();
    let lrid_bits = params.lrid_width_p.into();
    let diff_bits = match kinds.compression {
        Compression::Xor | Compression::Difference if format.narrow_diff() => 1,
        _ => 2,
    };
    let mut t = Table::new();
    t.bits(N::Format, kinds.format_bits());
    match format {
        // Two bits in every CSR table, although one of the tables prints 3.
        F::Csr | F::CsrAddress => t.bits(N::Subtype, 2),
        F::Atomic | F::AtomicAddress | F::AtomicData | F::AtomicRequest => t.bits(N::Subtype, 3),
        _ => {}
    }
    if !matches!(format, F::Csr | F::CsrAddress | F::AtomicResponse) {
        t.bits(N::Size, params.size_bits());
    }
    match format {
        F::Access => {
            t.bits(N::Diff, diff_bits);
            t.data(DataWidth::Size, Always);
            t.bits(N::Address, address_bits);
        }
        F::AccessAddress | F::AtomicAddress => {
            t.bits(N::Diff, 1);
            t.bits(N::Address, address_bits);
        }
        F::AccessData => {
            t.bits(N::Diff, diff_bits);
            t.bits(N::Data, data_bits);
        }
        F::LoadRequest => {
            t.bits(N::Lrid, lrid_bits);
            t.bits(N::Diff, 1);
            t.bits(N::Address, address_bits);
        }
        F::LoadResponse => {
            t.bits(N::Lrid, lrid_bits);
            t.bits(N::Resp, 2);
            t.push(N::Data, DataWidth::Bits(params.data_width_p), UnlessError);
        }
        F::Csr => {
            let len = DataWidth::Bits(kinds.csr.map_or(0, CsrWidth::len_bits) as u8);
            t.bits(N::Diff, diff_bits);
            t.data(len, Always);
            t.bits(N::AddrMsbs, 6);
            t.operand(len, UnlessReadOnly);
            t.bits(N::AddrLsbs, 6);
        }
        F::CsrAddress => {
            t.bits(N::Diff, 1);
            t.bits(N::AddrMsbs, 6);
            t.bits(N::AddrLsbs, 6);
        }
        F::Atomic => {
            t.bits(N::Diff, diff_bits);
            t.operand(DataWidth::Size, Always);
            t.data(DataWidth::Size, Always);
            t.bits(N::Address, address_bits);
        }
        F::AtomicData => {
            t.bits(N::Diff, diff_bits);
            t.operand(DataWidth::Size, Always);
            t.bits(N::Data, data_bits);
        }
        F::AtomicRequest => {
            t.bits(N::Lrid, lrid_bits);
            t.bits(N::Diff, diff_bits);
            t.operand(DataWidth::Size, Always);
            t.bits(N::Address, address_bits);
        }
        F::AtomicResponse => {
            // data_len is "size" bits, but there is no size field: the widest access decides.
            t.bits(N::Lrid, lrid_bits);
            t.bits(N::Resp, 2);
            t.data(DataWidth::Bits(params.max_size()), UnlessError);
        }
    }
    t
}
