use super::DataLayout;
use core::fmt;

/// The data-trace parameters, under the specification's names.
///
/// Only `daddress_width_p`, `data_width_p` and `lrid_width_p` shape payloads; the others describe
/// the port of the hart. With the `serde` feature the keys of a parameter file are these names.
///
/// Spec: E-Trace 2.0, chapter 10 "Parameters and Discovery", data trace attributes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct DataParams {
    /// Width of data addresses.
    pub daddress_width_p: u8,
    /// Width of the data bus; the widest access is the largest power of two of bytes that fits.
    pub data_width_p: u8,
    /// Width of the dsize signal.
    pub dsize_width_p: u8,
    /// Width of the dtype signal.
    pub dtype_width_p: u8,
    /// Width of the dblock signal.
    pub dblock_width_p: u8,
    /// Width of the iaddr_lsbs signal.
    pub iaddr_lsbs_width_p: u8,
    /// Width of load request identifiers.
    pub lrid_width_p: u8,
    /// Width of the lresp signal.
    pub lresp_width_p: u8,
    /// Width of the ldata signal.
    pub ldata_width_p: u8,
    /// Width of the sdata signal.
    pub sdata_width_p: u8,
}

/// The values that follow from the attribute defaults of the specification.
impl Default for DataParams {
    fn default() -> Self {
        Self {
            daddress_width_p: 32,
            data_width_p: 32,
            dsize_width_p: 3,
            dtype_width_p: 1,
            dblock_width_p: 1,
            iaddr_lsbs_width_p: 1,
            lrid_width_p: 1,
            lresp_width_p: 1,
            ldata_width_p: 32,
            sdata_width_p: 32,
        }
    }
}

impl DataParams {
    /// The field table of these parameters for an encoder that traces `kinds`.
    ///
    /// The longest payload may need more than the 31 bytes a packet can hold (16-byte atomics do);
    /// see [`DataLayout::max_bits`].
    pub fn layout(&self, kinds: DataKinds) -> Result<DataLayout, DataParamsError> {
        // Widths of the port are checked only against the limits that the specification states.
        let ranges = [
            ("daddress_width_p", self.daddress_width_p, 1, 64),
            ("data_width_p", self.data_width_p, 8, 128),
            ("dsize_width_p", self.dsize_width_p, 1, u8::MAX),
            ("dtype_width_p", self.dtype_width_p, 1, 4),
            ("dblock_width_p", self.dblock_width_p, 1, u8::MAX),
            ("iaddr_lsbs_width_p", self.iaddr_lsbs_width_p, 1, u8::MAX),
            ("lrid_width_p", self.lrid_width_p, 1, 32),
            ("lresp_width_p", self.lresp_width_p, 1, u8::MAX),
            ("ldata_width_p", self.ldata_width_p, 1, u8::MAX),
            ("sdata_width_p", self.sdata_width_p, 1, u8::MAX),
        ];
        for (name, value, min, max) in ranges {
            if value < min || value > max {
                return Err(DataParamsError { name, value, min, max });
            }
        }
        Ok(DataLayout::build(*self, kinds))
    }

    /// The largest value of the size field: the widest access is `2^max_size` bytes.
    pub const fn max_size(&self) -> u8 {
        match (self.data_width_p >> 3).checked_ilog2() {
            Some(log) => log as u8,
            None => 0,
        }
    }

    /// Width of the size field.
    ///
    /// Spec: E-Trace 2.0, chapter 8, `max(1, clog2(clog2(data_width_p/8 + 1)))`.
    pub const fn size_bits(&self) -> u32 {
        // clog2(n + 1) is one more than floor(log2(n)), for every n but 0.
        match clog2(self.max_size().saturating_add(1)) {
            0 => 1,
            bits => bits,
        }
    }
}

const fn clog2(n: u8) -> u32 {
    match n.saturating_sub(1).checked_ilog2() {
        Some(log) => log.saturating_add(1),
        None => 0,
    }
}

/// A parameter is out of range.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataParamsError {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: u8,
    /// Smallest legal value.
    pub min: u8,
    /// Largest legal value.
    pub max: u8,
}

impl fmt::Display for DataParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} is not in {}..={}", self.name, self.value, self.min, self.max)
    }
}

impl core::error::Error for DataParamsError {}

/// What the encoder traces besides loads and stores, and how.
///
/// None of this has a parameter in the specification, but all of it shapes payloads.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct DataKinds {
    /// Loads and atomics are reported in two packets, request and response.
    pub split: bool,
    /// Atomics are traced.
    pub atomics: bool,
    /// Accesses to CSRs of this width are traced; `None` if no CSR access is.
    pub csr: Option<CsrWidth>,
    /// How data may be compressed.
    pub compression: Compression,
}

impl DataKinds {
    /// Width of the format field: 2 bits if there are only unified loads and stores.
    ///
    /// Spec: E-Trace 2.0, 8.1.1 "format field".
    pub const fn format_bits(&self) -> u32 {
        if self.split || self.atomics || self.csr.is_some() { 3 } else { 2 }
    }
}

/// Width of the hart's CSRs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum CsrWidth {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

impl CsrWidth {
    /// Width of data_len and op_len.
    ///
    /// Spec: E-Trace 2.0, 8.3.3 "data_len and op_len fields".
    pub const fn len_bits(self) -> u32 {
        match self {
            Self::Bits32 => 2,
            Self::Bits64 => 3,
        }
    }
}

/// Which data compression the encoder offers.
///
/// Where the specification makes the diff field "1 or 2" bits wide, it is one bit if there is only
/// one kind, and the bit says whether it was used.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Compression {
    /// XOR with the previous value, or none.
    Xor,
    /// Difference from the previous value.
    Difference,
    /// Either; the diff field selects one.
    #[default]
    Both,
}

/// Which run-time data-trace modes are on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Doptions {
    /// Addresses are not reported (trTeDataNoAddr).
    pub no_address: bool,
    /// Data is not reported (trTeDataNoValue).
    pub no_data: bool,
    /// Addresses are never differences.
    pub full_daddress: bool,
    /// Data is never compressed.
    pub full_data: bool,
}

impl Doptions {
    /// The modes of a support packet's doptions field; `None` if a bit without meaning is set.
    pub const fn from_raw(doptions: u8) -> Option<Self> {
        if doptions > 0xf {
            return None;
        }
        Some(Self {
            no_address: doptions & 1 != 0,
            no_data: doptions & 2 != 0,
            full_daddress: doptions & 4 != 0,
            full_data: doptions & 8 != 0,
        })
    }

    /// The doptions field of a support packet.
    pub const fn raw(self) -> u8 {
        (self.no_address as u8)
            | (self.no_data as u8) << 1
            | (self.full_daddress as u8) << 2
            | (self.full_data as u8) << 3
    }
}
