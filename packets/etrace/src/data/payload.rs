use super::DataFormat;

/// Every data-trace payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataPayload {
    /// Formats 0 to 3: a load or store.
    Access(Access),
    /// Formats 0 and 1: the request of a split load.
    LoadRequest(LoadRequest),
    /// Format 4: the response to a split load.
    LoadResponse(LoadResponse),
    /// Format 5: a CSR access.
    Csr(Csr),
    /// Format 6: an atomic.
    Atomic(Atomic),
    /// Format 6: the request of a split atomic.
    AtomicRequest(AtomicRequest),
    /// Format 7: the response to a split atomic.
    AtomicResponse(AtomicResponse),
}

impl DataPayload {
    /// Which field table this payload follows.
    pub const fn format(&self) -> DataFormat {
        match self {
            Self::Access(p) => match p.report {
                AccessReport::Both { .. } => DataFormat::Access,
                AccessReport::Address { .. } => DataFormat::AccessAddress,
                AccessReport::Data { .. } => DataFormat::AccessData,
            },
            Self::LoadRequest(_) => DataFormat::LoadRequest,
            Self::LoadResponse(_) => DataFormat::LoadResponse,
            Self::Csr(p) => match p.report {
                CsrReport::Both { .. } => DataFormat::Csr,
                CsrReport::Address { .. } => DataFormat::CsrAddress,
            },
            Self::Atomic(p) => match p.report {
                AtomicReport::Both { .. } => DataFormat::Atomic,
                AtomicReport::Address { .. } => DataFormat::AtomicAddress,
                AtomicReport::Data { .. } => DataFormat::AtomicData,
            },
            Self::AtomicRequest(_) => DataFormat::AtomicRequest,
            Self::AtomicResponse(_) => DataFormat::AtomicResponse,
        }
    }

    /// Value of the format field.
    pub const fn code(&self) -> u8 {
        match self {
            Self::Access(p) => match (p.store, p.aligned) {
                (false, true) => 0,
                (false, false) => 1,
                (true, true) => 2,
                (true, false) => 3,
            },
            Self::LoadRequest(p) => !p.aligned as u8,
            Self::LoadResponse(_) => 4,
            Self::Csr(_) => 5,
            Self::Atomic(_) | Self::AtomicRequest(_) => 6,
            Self::AtomicResponse(_) => 7,
        }
    }
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $raw:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $raw,)*
        }

        impl $name {
            /// The meaning of the raw field; `None` if it is reserved.
            pub const fn from_raw(raw: u8) -> Option<Self> {
                match raw {
                    $($raw => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The raw field.
            pub const fn raw(self) -> u8 {
                self as u8
            }

            /// The name used in listings.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

codes! {
    /// How address and data relate to the previous access of the same size.
    Diff {
        /// Full address and data.
        Sync = 0 "sync",
        /// Address is a difference, data an XOR.
        Xor = 1 "xor",
        /// Address is a difference, data is full.
        Full = 2 "full",
        /// Address and data are differences.
        Difference = 3 "diff",
    }
}

codes! {
    /// How an address relates to that of the previous access of the same size.
    AddressDiff {
        /// Full address.
        Full = 0 "full",
        /// A difference.
        Difference = 1 "diff",
    }
}

codes! {
    /// How data relates to that of the previous access of the same size.
    ///
    /// The raw codes are those of the two-bit field. In a one-bit field
    /// ([`Compression`](super::Compression)) 1 stands for the compression that the encoder offers.
    DataDiff {
        /// Full data.
        Full = 0 "full",
        /// An XOR.
        Xor = 1 "xor",
        /// A difference.
        Difference = 3 "diff",
    }
}

codes! {
    /// What an atomic does.
    AtomicOp {
        /// amoswap.
        Swap = 0 "swap",
        /// amoadd.
        Add = 1 "add",
        /// amoand.
        And = 2 "and",
        /// amoor.
        Or = 3 "or",
        /// amoxor.
        Xor = 4 "xor",
        /// amomax, amomaxu.
        Max = 5 "max",
        /// amomin, amominu.
        Min = 6 "min",
        /// A store-conditional that failed. It stored nothing, so only its address is reported.
        ScFailure = 7 "sc_failure",
    }
}

codes! {
    /// What a CSR instruction does.
    CsrOp {
        /// Read and write.
        ReadWrite = 0 "rw",
        /// Read and set bits.
        ReadSet = 1 "rs",
        /// Read and clear bits.
        ReadClear = 2 "rc",
    }
}

/// A load or store in one packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Store, not load.
    pub store: bool,
    /// The address is a multiple of the size, and is sent without its `size` low bits.
    pub aligned: bool,
    /// The access is `2^size` bytes.
    pub size: u8,
    /// The reported parts.
    pub report: AccessReport,
}

/// The reported parts of a load or store.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessReport {
    /// Address and data.
    Both {
        /// How they are coded.
        diff: Diff,
        /// Data, in `2^size` bytes.
        data: u128,
        /// Address field.
        address: u64,
    },
    /// Only the address: the mode is no_data.
    Address {
        /// How it is coded.
        diff: AddressDiff,
        /// Address field.
        address: u64,
    },
    /// Only the data: the mode is no_address.
    Data {
        /// How it is coded.
        diff: DataDiff,
        /// Data, in `2^size` bytes.
        data: u128,
    },
}

/// The request of a split load.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadRequest {
    /// The address is a multiple of the size, and is sent without its `size` low bits.
    pub aligned: bool,
    /// The load is `2^size` bytes.
    pub size: u8,
    /// Identifier that the response repeats.
    pub lrid: u32,
    /// How the address is coded.
    pub diff: AddressDiff,
    /// Address field.
    pub address: u64,
}

/// The result of a split load or atomic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// resp 0: an error; there is no data.
    Error,
    /// resp 1: XOR with the previous data.
    Xor(u128),
    /// resp 2: full data.
    Full(u128),
    /// resp 3: difference from the previous data.
    Difference(u128),
}

impl Response {
    /// Value of the resp field.
    pub const fn raw(self) -> u8 {
        match self {
            Self::Error => 0,
            Self::Xor(_) => 1,
            Self::Full(_) => 2,
            Self::Difference(_) => 3,
        }
    }

    /// The data, unless this is an error.
    pub const fn data(self) -> Option<u128> {
        match self {
            Self::Error => None,
            Self::Xor(data) | Self::Full(data) | Self::Difference(data) => Some(data),
        }
    }

    /// The name used in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Xor(_) => "xor",
            Self::Full(_) => "full",
            Self::Difference(_) => "diff",
        }
    }
}

/// The response to a split load.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadResponse {
    /// The load was of `2^size` bytes.
    pub size: u8,
    /// The request this answers.
    pub lrid: u32,
    /// The answer, in `2^size` bytes.
    pub resp: Response,
}

/// A CSR access.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Csr {
    /// What it does.
    pub subtype: CsrOp,
    /// The reported parts.
    pub report: CsrReport,
}

/// The reported parts of a CSR access.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum CsrReport {
    /// Address, data and operand.
    Both {
        /// How the data is coded.
        diff: DataDiff,
        /// Data, in the bytes of a CSR.
        data: u64,
        /// The value of rs1, in the bytes of a CSR; absent for read-only CSRs, which are those
        /// with address bits 11 and 10 set.
        operand: Option<u64>,
        /// CSR number.
        address: u16,
    },
    /// Only the address: the mode is no_data.
    Address {
        /// How it is coded.
        diff: AddressDiff,
        /// CSR number, or a difference of CSR numbers in 12 bits.
        address: u16,
    },
}

/// An atomic in one packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// What it does.
    pub subtype: AtomicOp,
    /// The access is `2^size` bytes.
    pub size: u8,
    /// The reported parts.
    pub report: AtomicReport,
}

/// The reported parts of an atomic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum AtomicReport {
    /// Address, data and operand.
    Both {
        /// How they are coded.
        diff: Diff,
        /// The value of rs2, in `2^size` bytes.
        operand: u128,
        /// Data, in `2^size` bytes.
        data: u128,
        /// Address field, without the `size` low bits.
        address: u64,
    },
    /// Only the address: the mode is no_data, or it is a failed store-conditional.
    Address {
        /// How it is coded.
        diff: AddressDiff,
        /// Address field, without the `size` low bits.
        address: u64,
    },
    /// Only data and operand: the mode is no_address.
    Data {
        /// How the data is coded.
        diff: DataDiff,
        /// The value of rs2, in `2^size` bytes.
        operand: u128,
        /// Data, in `2^size` bytes.
        data: u128,
    },
}

/// The request of a split atomic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtomicRequest {
    /// What it does.
    pub subtype: AtomicOp,
    /// The access is `2^size` bytes.
    pub size: u8,
    /// Identifier that the response repeats.
    pub lrid: u32,
    /// How address and operand are coded.
    pub diff: Diff,
    /// The value of rs2, in `2^size` bytes.
    pub operand: u128,
    /// Address field, without the `size` low bits.
    pub address: u64,
}

/// The response to a split atomic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtomicResponse {
    /// The request this answers.
    pub lrid: u32,
    /// The answer. The payload does not contain the width of the access, so data has the width of
    /// the widest access, sign-extended from the actual one.
    pub resp: Response,
}
