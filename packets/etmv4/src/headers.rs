mod gather;
mod length;

pub(crate) use gather::Identity;
pub(crate) use length::Length;

use crate::layout::{Class, Layout};
use crate::table::header_of;
use crate::{Atoms, Config, Fields, Kind};
use gather::{Gather, Identifiers};
use length::context_lengths;

/// Tables for each header byte, computed from the [`Layout`] in advance. Packets are read with
/// them.
#[derive(Clone, Debug)]
pub struct Headers {
    layout: Layout,
    /// The atoms that each header stands for, possibly none: most packets contain nothing else.
    atoms: [Atoms; 256],
    lengths: [Length; 256],
    contexts: [u8; 4],
    gathers: [Gather; 256],
    templates: [Fields; 256],
    identifiers: Identifiers,
    exception_return: u8,
}

impl Headers {
    /// Computes the tables for a configuration.
    pub fn new(config: &Config) -> Self {
        let layout = Layout::new(config);
        let mut headers = Self {
            atoms: [Atoms::NONE; 256],
            lengths: [Length::UNKNOWN; 256],
            contexts: context_lengths(&layout),
            gathers: [Gather::UNKNOWN; 256],
            templates: [Fields::NONE; 256],
            identifiers: Identifiers::new(&layout),
            exception_return: match layout.class(header_of(Kind::ExceptionReturn)) {
                Class::Packet(_) => header_of(Kind::ExceptionReturn),
                _ => u8::MAX,
            },
            layout,
        };
        let tables = headers.atoms.iter_mut().zip(&mut headers.lengths);
        let more = headers.gathers.iter_mut().zip(&mut headers.templates);
        for (((atoms, length), (gather, template)), header) in tables.zip(more).zip(0..=u8::MAX) {
            *atoms = Atoms::of(header).unwrap_or(Atoms::NONE);
            *length = Length::of(&headers.layout, header);
            *gather = Gather::of(&headers.layout, header, length);
            *template = Fields::of_header(header);
        }
        headers
    }

    /// The format of the packets.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        self.layout.config()
    }

    /// The meaning of a header byte.
    #[inline]
    pub fn class(&self, header: u8) -> Class {
        self.layout.class(header)
    }

    /// The atoms that a header byte stands for; empty if it starts another packet.
    #[inline]
    pub fn atoms(&self, header: u8) -> Atoms {
        self.atoms.get(usize::from(header)).copied().unwrap_or(Atoms::NONE)
    }

    #[inline]
    pub(crate) fn length(&self, header: u8) -> Length {
        self.lengths.get(usize::from(header)).copied().unwrap_or(Length::UNKNOWN)
    }

    /// How to read the packets of a header.
    #[inline]
    pub(crate) fn gather(&self, header: u8) -> &Gather {
        self.gathers.get(usize::from(header)).unwrap_or(&Gather::UNKNOWN)
    }

    /// The fields of a packet that consists only of this header.
    #[inline]
    pub(crate) fn template(&self, header: u8) -> Fields {
        self.templates.get(usize::from(header)).copied().unwrap_or(Fields::NONE)
    }

    #[inline]
    pub(crate) const fn identifiers(&self) -> &Identifiers {
        &self.identifiers
    }

    /// The header of a return from an exception; a header of atoms if there is no such packet.
    #[inline]
    pub(crate) const fn exception_return(&self) -> u8 {
        self.exception_return
    }

    /// Length in bytes of a context that starts with this byte.
    #[inline]
    pub(crate) fn context_length(&self, info: u8) -> u8 {
        self.contexts.get(usize::from(info >> 6)).copied().unwrap_or(1)
    }
}
