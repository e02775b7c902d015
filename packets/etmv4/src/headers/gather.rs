//! The positions of the fields of frequent packets: the [`Layout`] in a form without branches.

use super::length::{Length, context_lengths};
use crate::table::{Effect, FieldName, Section, Shape, ones};
use crate::{Context, Kind, Layout};

/// How to read the bytes of a packet of a frequent kind that is longer than one byte.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Gather {
    /// Bits that are part of the value without being moved.
    pub(crate) kept: u64,
    /// Bits of the second byte. They and seven bits of the first, side by side, are multiplied.
    pub(crate) second: u16,
    pub(crate) scale: u8,
    /// As in [`Length`].
    pub(crate) fixed: u8,
    pub(crate) most: u8,
    pub(crate) plain: u8,
    /// If the packet is longer than this, every byte contributes seven bits to the value.
    pub(crate) more: u8,
    /// All ones if a context follows a 64-bit address, else 0.
    pub(crate) context: u8,
}

impl Gather {
    /// Packets that are not read this way.
    pub(crate) const UNKNOWN: Self =
        Self { kept: 0, second: 0, scale: 1, fixed: 0, most: 0, plain: 0, more: 0, context: 0 };

    /// How to read the packets of a header.
    pub(crate) fn of(layout: &Layout, header: u8, length: &Length) -> Self {
        let sections = layout.sections(header);
        let wanted = layout.row(header).is_some_and(|row| is_frequent(row.kind));
        let value = { sections }.next().map(|section| (section, layout.shape(section)));
        // Any other context is at a different position.
        let known = length.fixed > 0 && (!length.context || length.fixed == 9);
        let Some((section, shape)) = value.filter(|_| wanted && known) else {
            return Self::UNKNOWN;
        };
        let &Length { fixed, most, plain, context, .. } = length;
        // The longest timestamp is one byte longer than a word.
        let plain = if most > 8 { 8 } else { plain };
        let context = if context { u8::MAX } else { 0 };
        let bits = Self::bits(section, &shape).unwrap_or(Self::UNKNOWN);
        if bits.more == 0 {
            return Self::UNKNOWN;
        }
        Self { fixed, most, plain, context, ..bits }
    }

    /// Where the bits of a section go; `None` if this form cannot express it.
    fn bits(section: Section, shape: &Shape) -> Option<Self> {
        // The value is the field if the section has only one; otherwise it is the section itself.
        let to = match section.fields() {
            [field] => field.to,
            _ => 0,
        };
        let place = |index: u8| shape.bits(index).wrapping_add(to);
        let none = Self { more: u8::MAX, scale: ones(to).wrapping_add(1) as u8, ..Self::UNKNOWN };
        let whole = |index: u8| shape.width(index) == 8 && place(index) == index.wrapping_mul(8);
        let byte = |index: u8| ones(8).wrapping_shl(u32::from(index).wrapping_mul(8));
        match *shape {
            // The seven lower bits are in place anyway.
            Shape { most: 1, .. } if whole(0) => Some(Self { kept: 0x80, ..none }),
            Shape { most: 0 | 1, .. } => None,
            _ if shape.width(0) == 8 => None,
            Shape { most, .. } => {
                let second = ones(shape.width(1)).wrapping_shl(8) as u16;
                let both = Self { second, ..none };
                let mut others = 2..most.min(8);
                if most == 2 {
                    Some(both)
                } else if { others.clone() }.all(whole) {
                    Some(Self { kept: others.fold(0, |all, index| all | byte(index)), ..both })
                } else if to == 0 && others.all(|index| shape.width(index) == 7) {
                    Some(Self { more: 3, ..both })
                } else {
                    None
                }
            }
        }
    }
}

/// Whether packets of a kind are read many at a time: [`Fields`](crate::Fields) has a form for them.
const fn is_frequent(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::AddressShortIs0
            | Kind::AddressShortIs1
            | Kind::Address32Is0
            | Kind::Address32Is1
            | Kind::Address64Is0
            | Kind::Address64Is1
            | Kind::AddressContext64Is0
            | Kind::AddressContext64Is1
            | Kind::Timestamp
            | Kind::Exception
            | Kind::Commit
            | Kind::CancelF1
            | Kind::CancelF1Mispredict
            | Kind::CycleCountF2
    )
}

/// A context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Identity {
    info: u32,
    vmid: u32,
    context_id: u32,
}

/// The bit of the first byte of a context that announces a section.
const fn announces(section: Section) -> u8 {
    let mut rest = Section::Context.rules();
    while let [rule, others @ ..] = rest {
        if let Effect::Section(other) = rule.effect
            && other as u8 == section as u8
        {
            return rule.test.value;
        }
        rest = others;
    }
    0
}

const HAS_VMID: u8 = announces(Section::Vmid);
const HAS_CONTEXT_ID: u8 = announces(Section::ContextId);

impl Identity {
    pub(crate) const NONE: Self = Self { info: 0, vmid: 0, context_id: 0 };

    #[inline]
    pub(crate) fn context(&self) -> Context {
        let info = self.info as u8;
        let field = |name| Section::Context.extract(name, info.into());
        Context {
            el: field(FieldName::ExceptionLevel) as u8,
            sf: field(FieldName::Sf) != 0,
            ns: field(FieldName::Ns) != 0,
            nse: field(FieldName::Nse) != 0,
            vmid: (info & HAS_VMID != 0).then_some(self.vmid),
            context_id: (info & HAS_CONTEXT_ID != 0).then_some(self.context_id),
        }
    }
}

/// The positions of the identifiers of a context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Identifiers {
    /// Length in bytes of a context, indexed by the two upper bits of its first byte.
    lengths: [u8; 4],
    /// Bits of the first byte that count: an identifier that is not traced has no bytes, O4.
    told: u8,
    vmid_bits: u32,
    vmid: u32,
    context_id: u32,
}

impl Identifiers {
    pub(crate) fn new(layout: &Layout) -> Self {
        let bits = |section| {
            let shape = layout.shape(section);
            shape.bits(shape.most)
        };
        let (vmid, context_id) = (bits(Section::Vmid), bits(Section::ContextId));
        let untold = |bits: u8, bit: u8| if bits > 0 { 0 } else { bit };
        Self {
            lengths: context_lengths(layout),
            told: !(untold(vmid, HAS_VMID) | untold(context_id, HAS_CONTEXT_ID)),
            vmid_bits: vmid.into(),
            vmid: ones(vmid) as u32,
            context_id: ones(context_id) as u32,
        }
    }

    /// Length in bytes of a context that starts with this byte.
    #[inline(always)]
    pub(crate) fn length(&self, info: u8) -> u8 {
        self.lengths.get(usize::from(info >> 6)).copied().unwrap_or(1)
    }

    #[inline(always)]
    pub(crate) fn read(&self, info: u8, ids: u64) -> Identity {
        let info = info & self.told;
        // All ones, or 0.
        let [vmid, id] = [info >> 6, info >> 7].map(|bit| 0u32.wrapping_sub((bit & 1).into()));
        Identity {
            info: info.into(),
            vmid: vmid & self.vmid & ids as u32,
            context_id: id & self.context_id & ids.wrapping_shr(vmid & self.vmid_bits) as u32,
        }
    }
}
