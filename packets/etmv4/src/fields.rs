use crate::table::{FieldName, Section, row_of};
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

    /// Of a packet that is nothing but this header.
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

    /// Outcomes of atom packets, with a bit set for E and the oldest lowest; the bits of an address at
    /// their place, or the number of the address register; the bits of a timestamp, or of a number of
    /// elements; of a cycle count in two bytes and of an exception the number of its [`Section`].
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
            header::ATOMS.. => Some(Atoms::raw(self.bits(), self.value as u32)),
            _ => None,
        }
    }

    /// The address of a packet that has one, with or without context; not of a source address.
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

    /// Whether it is an address and nothing else.
    #[inline]
    pub const fn is_address(&self) -> bool {
        self.header() >= header::MATCH && self.header() <= header::LONG64_IS1
    }

    /// Whether it is an address with context.
    #[inline]
    pub const fn is_address_context(&self) -> bool {
        matches!(self.header(), header::CONTEXT64_IS0 | header::CONTEXT64_IS1)
    }

    /// Whether it is a return from an exception.
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

    /// Events, one bit each, if it is that.
    #[inline]
    pub const fn events(&self) -> Option<u8> {
        match self.header() {
            header::EVENT..=header::EVENTS_LAST => Some(self.header() & 0xf),
            _ => None,
        }
    }

    /// A timestamp.
    #[inline]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        if self.header() != header::TIMESTAMP {
            return None;
        }
        let bits = Section::Timestamp.longest().bits((self.len() as u8).wrapping_sub(1));
        Some(Timestamp { value: self.value, bits, cycles: None })
    }
}
