use crate::table::{FieldName, Section, row_of};
use crate::{Address, Atoms, Exception, Form, Is, Kind, Return, Timestamp};

/// The fields of a packet of a frequent kind, in one form for all of them.
///
/// [`Reader::read`](crate::Reader::read) returns this type. A [`Packet`](crate::Packet) has a different
/// form for each kind; since the next kind cannot be predicted, choosing the form costs more than
/// reading the packet.
// Two words, since copying them is the most frequent operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    pub(crate) value: u64,
    /// From the lowest byte: header, length, bits.
    told: u32,
    /// The index of its context in the batch, if it has one.
    pub(crate) context: u32,
}

/// The kind that each header stands for, in the configurations that have it.
static KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut rest: &mut [Option<Kind>] = &mut kinds;
    let mut header = 0u8;
    while let [first, others @ ..] = rest {
        if let Some(row) = row_of(header) {
            *first = Some(row.kind);
        }
        rest = others;
        header = header.wrapping_add(1);
    }
    kinds
};

/// Headers of packets that have a form here.
mod header {
    use crate::Kind::*;
    use crate::table::header_of;

    pub(super) const TIMESTAMP: u8 = header_of(Timestamp);
    pub(super) const EXCEPTION: u8 = header_of(Exception);
    pub(super) const EXCEPTION_RETURN: u8 = header_of(ExceptionReturn);
    pub(super) const EVENT: u8 = header_of(Event);
    pub(super) const EVENTS_LAST: u8 = EVENT | 0xf;
    pub(super) const ATOMS: u8 = header_of(AtomF6);
    pub(super) const MATCH: u8 = header_of(AddressMatch);
    pub(super) const SHORT_IS0: u8 = header_of(AddressShortIs0);
    pub(super) const SHORT_IS1: u8 = header_of(AddressShortIs1);
    pub(super) const LONG32_IS0: u8 = header_of(Address32Is0);
    pub(super) const LONG32_IS1: u8 = header_of(Address32Is1);
    pub(super) const LONG64_IS0: u8 = header_of(Address64Is0);
    pub(super) const LONG64_IS1: u8 = header_of(Address64Is1);
    pub(super) const CONTEXT64_IS0: u8 = header_of(AddressContext64Is0);
    pub(super) const CONTEXT64_IS1: u8 = header_of(AddressContext64Is1);
}

impl Fields {
    pub(crate) const NONE: Self = Self { value: 0, told: 0, context: 0 };

    /// The fields of a packet that consists only of this header.
    pub(crate) fn of_header(header: u8) -> Self {
        let fields = row_of(header).map_or(&[][..], |row| row.fields);
        let matches = fields.iter().find(|field| field.name == FieldName::Match);
        let (bits, value) = match (Atoms::of(header), matches) {
            (Some(atoms), _) => (atoms.len(), atoms.bits().into()),
            (None, Some(field)) => (0, field.extract(header.into())),
            (None, None) => (0, 0),
        };
        Self { value, told: u32::from_le_bytes([header, 1, bits, 0]), context: 0 }
    }

    /// The fields of a longer packet.
    #[inline(always)]
    pub(crate) const fn longer(header: u8, len: u8, value: u64, context: u32) -> Self {
        Self { value, told: header as u32 | (len as u32) << 8, context }
    }

    /// The kind of the packet.
    #[inline]
    pub fn kind(&self) -> Kind {
        KINDS.get(usize::from(self.header())).copied().flatten().unwrap_or(Kind::Extension)
    }

    /// The header byte, which contains all the information of many packets.
    #[inline]
    pub const fn header(&self) -> u8 {
        self.told as u8
    }

    /// Length of the packet in bytes; never 0.
    #[inline]
    pub const fn len(&self) -> usize {
        (self.told >> 8) as usize & 0xff
    }

    /// Always `false`.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of the packet. For atoms: the outcomes, a set bit for E, the oldest lowest. For an
    /// address: its bits in place, or the number of the address register. For a timestamp or a number
    /// of elements: its bits. For a cycle count in two bytes or an exception: the number of its
    /// [`Section`].
    #[inline]
    pub const fn value(&self) -> u64 {
        self.value
    }

    const fn bits(&self) -> u8 {
        (self.told >> 16) as u8
    }

    /// The outcomes, if the packet contains atoms.
    #[inline]
    pub const fn atoms(&self) -> Option<Atoms> {
        match self.header() {
            header::ATOMS.. => Some(Atoms::raw(self.bits(), self.value as u32)),
            _ => None,
        }
    }

    /// The address, if the packet has one, with or without context; not a source address.
    #[inline]
    pub const fn address(&self) -> Option<Address> {
        use Is::*;
        let (form, is) = match self.header() {
            header::MATCH..header::SHORT_IS0 => {
                return Some(Address { form: Form::Match(self.value as u8), is: Is0, value: 0 });
            }
            header::SHORT_IS0 => (Form::Short { two: self.len() == 3 }, Is0),
            header::SHORT_IS1 => (Form::Short { two: self.len() == 3 }, Is1),
            header::LONG32_IS0 => (Form::Long32, Is0),
            header::LONG32_IS1 => (Form::Long32, Is1),
            header::LONG64_IS0 | header::CONTEXT64_IS0 => (Form::Long64, Is0),
            header::LONG64_IS1 | header::CONTEXT64_IS1 => (Form::Long64, Is1),
            _ => return None,
        };
        Some(Address { form, is, value: self.value })
    }

    /// Whether the packet is an address without context.
    #[inline]
    pub const fn is_address(&self) -> bool {
        self.header() >= header::MATCH && self.header() <= header::LONG64_IS1
    }

    /// Whether the packet is an address with context.
    #[inline]
    pub const fn is_address_context(&self) -> bool {
        matches!(self.header(), header::CONTEXT64_IS0 | header::CONTEXT64_IS1)
    }

    /// Whether the packet is a return from an exception.
    #[inline]
    pub const fn is_exception_return(&self) -> bool {
        self.header() == header::EXCEPTION_RETURN
    }

    /// The exception of an exception packet.
    #[inline]
    pub const fn exception(&self) -> Option<Exception> {
        if self.header() != header::EXCEPTION {
            return None;
        }
        let section = Section::Exception;
        Some(Exception {
            number: section.extract(FieldName::Type, self.value) as u16,
            returns: Return::of(section.extract(FieldName::Returns, self.value)),
            fault_pending: section.extract(FieldName::FaultPending, self.value) != 0,
        })
    }

    /// The events, one bit each, if the packet is an event packet.
    #[inline]
    pub const fn events(&self) -> Option<u8> {
        match self.header() {
            header::EVENT..=header::EVENTS_LAST => Some(self.header() & 0xf),
            _ => None,
        }
    }

    /// The timestamp, if the packet is one.
    #[inline]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        if self.header() != header::TIMESTAMP {
            return None;
        }
        let bits = Section::Timestamp.longest().bits((self.len() as u8).wrapping_sub(1));
        Some(Timestamp { value: self.value, bits, cycles: None })
    }
}
