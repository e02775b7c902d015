//! The lengths of packets, without reading their fields.

use crate::layout::Course;
use crate::table::{End, Section, Sections};
use crate::{Class, Kind, Layout};

/// The length of a packet, as far as its header determines it: fixed bytes, then either up to `most`
/// bytes that end with one whose bit 7 is clear, or a context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Length {
    pub(crate) kind: Kind,
    /// Bytes that are always present, including the header.
    pub(crate) fixed: u8,
    pub(crate) most: u8,
    /// If more bytes than this precede one with bit 7 clear, this table does not give the length.
    pub(crate) plain: u8,
    /// A context follows.
    pub(crate) context: bool,
}

impl Length {
    /// The packet has to be read to know its length.
    pub(crate) const UNKNOWN: Self =
        Self { kind: Kind::Extension, fixed: 0, most: 0, plain: 0, context: false };

    /// The length of packets with this header, if the table can express it.
    pub(crate) fn of(layout: &Layout, header: u8) -> Self {
        let Class::Packet(kind) = layout.class(header) else { return Self::UNKNOWN };
        let none = Self { kind, fixed: 1, most: 0, plain: u8::MAX, context: false };
        layout
            .sections(header)
            .try_fold(none, |before, section| before.then(layout, section))
            .unwrap_or(Self::UNKNOWN)
    }

    /// Adds a section. A section that ends where a byte marks its end must be the last one and follow
    /// the header directly.
    fn then(self, layout: &Layout, section: Section) -> Option<Self> {
        let shape = layout.shape(section);
        if self.most > 0 || self.context {
            return None;
        }
        if section == Section::Context {
            return Some(Self { context: true, ..self });
        }
        if !layout.rules(section).is_empty() {
            return None;
        }
        match shape.end {
            End::Fixed => Some(Self { fixed: self.fixed.wrapping_add(shape.most), ..self }),
            _ if self.fixed > 1 => None,
            End::Bounded => Some(Self { most: shape.most, ..self }),
            End::Unbounded => Some(Self { most: shape.most, plain: shape.most, ..self }),
        }
    }
}

/// Length in bytes of a context, indexed by the two upper bits of its first byte.
pub(crate) fn context_lengths(layout: &Layout) -> [u8; 4] {
    [0x00, 0x40, 0x80, 0xc0].map(|info| {
        let mut course = Course { kind: Kind::Context, pending: Sections::NONE };
        course.note(layout, Section::Context, 0, info);
        course.pending.fold(1, |all, section| layout.shape(section).most.wrapping_add(all))
    })
}
