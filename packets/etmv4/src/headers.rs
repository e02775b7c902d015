use crate::layout::{Layout, template};
use crate::many::Identifiers;
use crate::shape::{Shape, context_lengths};
use crate::{Atoms, Config, Fields, Kind};

/// What a header byte stands for in a configuration.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// It starts a packet.
    Packet(Kind),
    /// It never starts a packet.
    Reserved,
    /// It starts a packet of this kind in other configurations.
    NotConfigured(Kind),
}

/// The table of all header bytes, for one configuration.
#[derive(Clone, Debug)]
pub struct Headers {
    config: Config,
    classes: [Class; 256],
    /// The atoms of headers that stand for some, or none: most packets are nothing else.
    atoms: [Atoms; 256],
    shapes: [Shape; 256],
    contexts: [u8; 4],
    layouts: [Layout; 256],
    templates: [Fields; 256],
    identifiers: Identifiers,
}

impl Headers {
    /// For a configuration.
    pub fn new(config: &Config) -> Self {
        let mut classes = [Class::Reserved; 256];
        for (class, header) in classes.iter_mut().zip(0..=u8::MAX) {
            *class = classify(config, header);
        }
        let mut atoms = [Atoms::NONE; 256];
        for (atoms, header) in atoms.iter_mut().zip(0..=u8::MAX) {
            *atoms = Atoms::of(header).unwrap_or(Atoms::NONE);
        }
        let mut shapes = [Shape::UNKNOWN; 256];
        let mut layouts = [Layout::UNKNOWN; 256];
        let mut templates = [Fields::NONE; 256];
        for (template, header) in templates.iter_mut().zip(0..=u8::MAX) {
            *template = self::template(header);
        }
        let both = shapes.iter_mut().zip(&mut layouts);
        for (((shape, layout), class), header) in both.zip(classes).zip(0..=u8::MAX) {
            if let Class::Packet(kind) = class {
                *shape = Shape::of(config, kind, header);
                *layout = Layout::of(kind, *shape);
            }
        }
        let contexts = context_lengths(config);
        let identifiers = Identifiers::new(config, contexts);
        Self { config: *config, classes, atoms, shapes, contexts, layouts, templates, identifiers }
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The atoms that a header byte stands for; empty if it is of another packet.
    #[inline]
    pub fn atoms(&self, header: u8) -> Atoms {
        self.atoms.get(usize::from(header)).copied().unwrap_or(Atoms::NONE)
    }

    #[inline]
    pub(crate) fn shape(&self, header: u8) -> Shape {
        self.shapes.get(usize::from(header)).copied().unwrap_or(Shape::UNKNOWN)
    }

    /// What to make of the packets of a header.
    #[inline]
    pub(crate) fn layout(&self, header: u8) -> &Layout {
        self.layouts.get(usize::from(header)).unwrap_or(&Layout::UNKNOWN)
    }

    /// What a packet says that is nothing but this header.
    #[inline]
    pub(crate) fn template(&self, header: u8) -> Fields {
        self.templates.get(usize::from(header)).copied().unwrap_or(Fields::NONE)
    }

    #[inline]
    pub(crate) const fn identifiers(&self) -> &Identifiers {
        &self.identifiers
    }

    /// The header of a return from an exception; that of atoms if there is no such packet.
    #[inline]
    pub(crate) const fn exception_return(&self) -> u8 {
        if self.config.is_ete() { u8::MAX } else { 0x07 }
    }

    /// Bytes of a context that starts with this one.
    #[inline]
    pub(crate) fn context_length(&self, info: u8) -> u8 {
        self.contexts.get(usize::from(info >> 6)).copied().unwrap_or(1)
    }

    /// What a header byte stands for.
    #[inline]
    pub fn class(&self, header: u8) -> Class {
        self.classes.get(usize::from(header)).copied().unwrap_or(Class::Reserved)
    }
}

/// The packet that starts with a header byte, in configurations that have it.
// Spec: IHI 0064, "Instruction trace packets".
pub(crate) const fn kind_of(header: u8) -> Option<Kind> {
    Some(match header {
        0x00 => Kind::Extension,
        0x01 => Kind::TraceInfo,
        0x02 | 0x03 => Kind::Timestamp,
        0x04 => Kind::TraceOn,
        0x05 => Kind::FunctionReturn,
        0x06 => Kind::Exception,
        0x07 => Kind::ExceptionReturn,
        0x09 => Kind::Ite,
        0x0a => Kind::TransactionStart,
        0x0b => Kind::TransactionCommit,
        0x0c | 0x0d => Kind::CycleCountF2,
        0x0e | 0x0f => Kind::CycleCountF1,
        0x10..=0x1f => Kind::CycleCountF3,
        0x20..=0x27 => Kind::NumberedMarker,
        0x28..=0x2c => Kind::UnnumberedMarker,
        0x2d => Kind::Commit,
        0x2e => Kind::CancelF1,
        0x2f => Kind::CancelF1Mispredict,
        0x30..=0x33 => Kind::Mispredict,
        0x34..=0x37 => Kind::CancelF2,
        0x38..=0x3f => Kind::CancelF3,
        0x40..=0x42 => Kind::ConditionalF2,
        0x43 => Kind::ConditionalFlush,
        0x44..=0x46 => Kind::ResultF4,
        0x48..=0x4a | 0x4c..=0x4e => Kind::ResultF2,
        0x50..=0x5f => Kind::ResultF3,
        0x68..=0x6b | 0x6e | 0x6f => Kind::ResultF1,
        0x6c => Kind::ConditionalF1,
        0x6d => Kind::ConditionalF3,
        0x70 => Kind::Ignore,
        0x71..=0x7f => Kind::Event,
        0x80 | 0x81 => Kind::Context,
        0x82 => Kind::AddressContext32Is0,
        0x83 => Kind::AddressContext32Is1,
        0x85 => Kind::AddressContext64Is0,
        0x86 => Kind::AddressContext64Is1,
        0x88 => Kind::TimestampMarker,
        0x90..=0x92 => Kind::AddressMatch,
        0x95 => Kind::AddressShortIs0,
        0x96 => Kind::AddressShortIs1,
        0x9a => Kind::Address32Is0,
        0x9b => Kind::Address32Is1,
        0x9d => Kind::Address64Is0,
        0x9e => Kind::Address64Is1,
        0xa0..=0xa2 | 0xa5 | 0xa6 | 0xaa..=0xac | 0xaf => Kind::Q,
        0xb0..=0xb2 => Kind::SourceMatch,
        0xb4 => Kind::SourceShortIs0,
        0xb5 => Kind::SourceShortIs1,
        0xb6 => Kind::Source32Is0,
        0xb7 => Kind::Source32Is1,
        0xb8 => Kind::Source64Is0,
        0xb9 => Kind::Source64Is1,
        0xc0..=0xd4 | 0xe0..=0xf4 => Kind::AtomF6,
        0xd5..=0xd7 | 0xf5 => Kind::AtomF5,
        0xd8..=0xdb => Kind::AtomF2,
        0xdc..=0xdf => Kind::AtomF4,
        0xf6 | 0xf7 => Kind::AtomF1,
        0xf8..=0xff => Kind::AtomF3,
        _ => return None,
    })
}

/// Spec: as above.
fn classify(config: &Config, header: u8) -> Class {
    let Some(kind) = kind_of(header) else { return Class::Reserved };
    let version = config.version;
    let ete = config.is_ete();
    let given =
        |condition| if condition { Class::Packet(kind) } else { Class::NotConfigured(kind) };
    let exists = |condition| if condition { Class::Packet(kind) } else { Class::Reserved };
    match header {
        0x05 => exists(config.v8_m && version >= 0x42),
        0x07 => given(!ete),
        0x09 => exists(version >= 0x53),
        0x0a | 0x0b => exists(ete),
        0x20..=0x2c => given(config.data),
        0x40..=0x6f => given(config.conditional),
        0x70 => exists(version >= 0x43),
        0x88 => exists(version >= 0x46),
        0xa0..=0xaf => exists(config.q),
        0xb0..=0xb9 => exists(ete),
        _ => Class::Packet(kind),
    }
}
