use crate::headers::kind_of;
use crate::{Address, Atoms, Exception, Form, Is, Kind, Return, Timestamp};

/// What a packet of a frequent kind says, in one form for all of them.
///
/// It is what [`Reader::read`](crate::Reader::read) gives: a [`Packet`](crate::Packet) has a form of its
/// own for each kind, and to choose one costs more than to read it, where nobody can predict which comes
/// next.
// Two words: they are copied more often than anything else is done with them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    pub(crate) value: u64,
    /// From the lowest byte: header, length, bits.
    told: u32,
    /// Which of the contexts of its batch it has, if any.
    pub(crate) context: u32,
}

/// What every header stands for, in the configurations that have it.
static KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut rest: &mut [Option<Kind>] = &mut kinds;
    let mut header = 0u8;
    while let [first, others @ ..] = rest {
        *first = kind_of(header);
        rest = others;
        header = header.wrapping_add(1);
    }
    kinds
};

impl Fields {
    pub(crate) const NONE: Self = Self { value: 0, told: 0, context: 0 };

    /// Of a packet of one byte.
    pub(crate) const fn single(header: u8, bits: u8, value: u64) -> Self {
        Self { value, told: u32::from_le_bytes([header, 1, bits, 0]), context: 0 }
    }

    /// Of a longer one.
    #[inline(always)]
    pub(crate) const fn longer(header: u8, len: u8, value: u64, context: u32) -> Self {
        Self { value, told: header as u32 | (len as u32) << 8, context }
    }

    /// What it is.
    #[inline]
    pub fn kind(&self) -> Kind {
        KINDS.get(usize::from(self.header())).copied().flatten().unwrap_or(Kind::Extension)
    }

    /// Its header byte, which holds all there is to say about many packets.
    #[inline]
    pub const fn header(&self) -> u8 {
        self.told as u8
    }

    /// How many bytes it has; never 0.
    #[inline]
    pub const fn len(&self) -> usize {
        (self.told >> 8) as usize & 0xff
    }

    /// Never.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Outcomes of atom packets, with a bit set for E and the oldest lowest; the bits of an address at their
    /// place, or the number of the address register; the bits of a timestamp, or of a number of elements; of
    /// a cycle count in two bytes the second; of an exception seven bits of each of its bytes.
    #[inline]
    pub const fn value(&self) -> u64 {
        self.value
    }

    const fn bits(&self) -> u8 {
        (self.told >> 16) as u8
    }

    /// The outcomes, if it is atoms.
    #[inline]
    pub const fn atoms(&self) -> Option<Atoms> {
        match self.header() {
            0xc0.. => Some(Atoms::raw(self.bits(), self.value as u32)),
            _ => None,
        }
    }

    /// The address of a packet that has one, with or without context; not of a source address.
    #[inline]
    pub const fn address(&self) -> Option<Address> {
        use Is::*;
        let (form, is) = match self.header() {
            0x90..=0x92 => {
                return Some(Address { form: Form::Match(self.value as u8), is: Is0, value: 0 });
            }
            0x95 => (Form::Short { two: self.len() == 3 }, Is0),
            0x96 => (Form::Short { two: self.len() == 3 }, Is1),
            0x9a | 0x82 => (Form::Long32, Is0),
            0x9b | 0x83 => (Form::Long32, Is1),
            0x9d | 0x85 => (Form::Long64, Is0),
            0x9e | 0x86 => (Form::Long64, Is1),
            _ => return None,
        };
        Some(Address { form, is, value: self.value })
    }

    /// Whether it is an address and nothing else.
    #[inline]
    pub const fn is_address(&self) -> bool {
        self.header() & 0xf0 == 0x90
    }

    /// Whether it is an address with context.
    #[inline]
    pub const fn is_address_context(&self) -> bool {
        matches!(self.header(), 0x85 | 0x86)
    }

    /// Whether it is a return from an exception.
    #[inline]
    pub const fn is_exception_return(&self) -> bool {
        self.header() == 0x07
    }

    /// The exception of an exception packet.
    #[inline]
    pub const fn exception(&self) -> Option<Exception> {
        if self.header() != 0x06 {
            return None;
        }
        let raw = self.value as u16;
        let returns = match (raw & 0x40 != 0, raw & 1 != 0) {
            (false, false) => Return::None,
            (false, true) => Return::Address,
            (true, false) => Return::Target,
            (true, true) => Return::Reserved,
        };
        let number = (raw >> 1) & 0x1f | (raw >> 2) & 0x3e0;
        Some(Exception { number, returns, fault_pending: raw & 0x1000 != 0 })
    }

    /// Events, one bit each, if it is that.
    #[inline]
    pub const fn events(&self) -> Option<u8> {
        match self.header() {
            0x71..=0x7f => Some(self.header() & 0xf),
            _ => None,
        }
    }

    /// A timestamp.
    #[inline]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        if self.header() != 0x02 {
            return None;
        }
        let bits = (self.len() as u8).wrapping_sub(1).wrapping_mul(7);
        Some(Timestamp { value: self.value, bits, cycles: None })
    }
}
