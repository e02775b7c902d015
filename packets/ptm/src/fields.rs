use crate::{Address, Atoms, Exception, Isa, Kind, Timestamp};

/// The fields of a packet of a frequent kind without cycles, in one form for all of them.
///
/// [`Reader::read`](crate::Reader::read) returns this type. A [`Packet`](crate::Packet) has a different
/// form for each kind; since the next kind cannot be predicted, choosing the form costs more than reading
/// the packet.
// Two words, since copying them is the most frequent operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    value: u64,
    /// From the lowest byte: header; length; number of outcomes, or of bytes of the address or timestamp;
    /// number of bytes after those.
    told: u32,
    /// From the lowest byte: the last byte of the address, and the two that may follow it.
    more: u32,
}

impl Fields {
    pub(crate) const NONE: Self = Self { value: 0, told: 0, more: 0 };

    /// The fields of a one-byte packet.
    pub(crate) fn single(header: u8) -> Self {
        let (value, count) = match header {
            _ if header & 0x81 == 0x80 => {
                let atoms = Atoms::of(header);
                (atoms.bits(), atoms.len())
            }
            _ if header & 0x81 == 0x01 => ((header >> 1) & 0x3f, 1),
            _ => (0, 0),
        };
        Self::longer([header, 1, count, 0], value.into(), 0)
    }

    #[inline(always)]
    pub(crate) const fn longer(told: [u8; 4], value: u64, more: u32) -> Self {
        Self { value, told: u32::from_le_bytes(told), more }
    }

    /// Whether it is a branch with nothing after its address.
    #[inline(always)]
    pub(crate) const fn is_plain_branch(&self) -> bool {
        self.told & 0xff00_0001 == 1
    }

    /// The kind of the packet.
    #[inline]
    pub const fn kind(&self) -> Kind {
        match self.header() {
            header if header & 1 == 1 => Kind::Branch,
            0x80.. => Kind::Atom,
            0x72 => Kind::Waypoint,
            0x76 => Kind::ExceptionReturn,
            _ => Kind::Timestamp,
        }
    }

    /// Its header byte.
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

    /// The outcomes, the oldest lowest; the bits of an address as sent; or the bits of a timestamp.
    #[inline]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Number of outcomes, or of bytes of the address or timestamp.
    const fn count(&self) -> u8 {
        (self.told >> 16) as u8
    }

    /// Number of bytes after those.
    const fn behind(&self) -> u8 {
        (self.told >> 24) as u8
    }

    /// The outcomes, if the packet contains atoms.
    #[inline]
    pub const fn atoms(&self) -> Option<Atoms> {
        match self.kind() {
            Kind::Atom => Atoms::new(self.count(), self.value as u8),
            _ => None,
        }
    }

    const fn address(&self) -> Address {
        let isa = match (self.count(), (self.more >> 4) & 3) {
            (5, 0) => Some(Isa::Arm),
            (5, 1) => Some(Isa::Thumb),
            (5, _) => Some(Isa::Jazelle),
            _ => None,
        };
        Address { raw: self.value as u32, bytes: self.count(), isa }
    }

    /// Where the program continues, if the packet is a branch.
    #[inline]
    pub const fn branch(&self) -> Option<(Address, Option<Exception>)> {
        let Kind::Branch = self.kind() else { return None };
        let [_, first, second, _] = self.more.to_le_bytes();
        let exception = Exception {
            number: ((first >> 1) & 0xf) as u16 | ((second & 0x1f) as u16) << 4,
            ns: first & 1 != 0,
            alt_isa: first & 0x40 != 0,
            hyp: if self.behind() == 2 { Some(second & 0x20 != 0) } else { None },
        };
        Some((self.address(), if self.behind() > 0 { Some(exception) } else { None }))
    }

    /// The address up to which instructions were executed, if the packet is a waypoint; and whether that is
    /// ThumbEE, if the packet contains this.
    #[inline]
    pub const fn waypoint(&self) -> Option<(Address, Option<bool>)> {
        let Kind::Waypoint = self.kind() else { return None };
        let alt_isa = if self.behind() > 0 { Some(self.more & 0x4000 != 0) } else { None };
        Some((self.address(), alt_isa))
    }

    /// The timestamp, if the packet is one.
    #[inline]
    pub const fn timestamp(&self) -> Option<Timestamp> {
        let Kind::Timestamp = self.kind() else { return None };
        let bits = self.count().wrapping_mul(7);
        let clock_changed = self.header() & 4 != 0;
        Some(Timestamp { value: self.value, bits, clock_changed, cycles: None })
    }
}
