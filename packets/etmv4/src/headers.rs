use crate::shape::{Shape, context_lengths};
use crate::{Atoms, Config, Kind};

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
        for ((shape, class), header) in shapes.iter_mut().zip(classes).zip(0..=u8::MAX) {
            if let Class::Packet(kind) = class {
                *shape = Shape::of(config, kind, header);
            }
        }
        Self { config: *config, classes, atoms, shapes, contexts: context_lengths(config) }
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

/// Spec: IHI 0064, "Instruction trace packets".
fn classify(config: &Config, header: u8) -> Class {
    let version = config.version;
    let ete = config.is_ete();
    let kind = match header {
        0x00 => Kind::Extension,
        0x01 => Kind::TraceInfo,
        0x02 | 0x03 => Kind::Timestamp,
        0x04 => Kind::TraceOn,
        0x05 if config.v8_m && version >= 0x42 => Kind::FunctionReturn,
        0x06 => Kind::Exception,
        0x07 => return given(!ete, Kind::ExceptionReturn),
        0x09 if version >= 0x53 => Kind::Ite,
        0x0a if ete => Kind::TransactionStart,
        0x0b if ete => Kind::TransactionCommit,
        0x0c | 0x0d => Kind::CycleCountF2,
        0x0e | 0x0f => Kind::CycleCountF1,
        0x10..=0x1f => Kind::CycleCountF3,
        0x20..=0x27 => return given(config.data, Kind::NumberedMarker),
        0x28..=0x2c => return given(config.data, Kind::UnnumberedMarker),
        0x2d => Kind::Commit,
        0x2e => Kind::CancelF1,
        0x2f => Kind::CancelF1Mispredict,
        0x30..=0x33 => Kind::Mispredict,
        0x34..=0x37 => Kind::CancelF2,
        0x38..=0x3f => Kind::CancelF3,
        0x40..=0x42 => return given(config.conditional, Kind::ConditionalF2),
        0x43 => return given(config.conditional, Kind::ConditionalFlush),
        0x44..=0x46 => return given(config.conditional, Kind::ResultF4),
        0x48..=0x4a | 0x4c..=0x4e => return given(config.conditional, Kind::ResultF2),
        0x50..=0x5f => return given(config.conditional, Kind::ResultF3),
        0x68..=0x6b | 0x6e | 0x6f => return given(config.conditional, Kind::ResultF1),
        0x6c => return given(config.conditional, Kind::ConditionalF1),
        0x6d => return given(config.conditional, Kind::ConditionalF3),
        0x70 if version >= 0x43 => Kind::Ignore,
        0x71..=0x7f => Kind::Event,
        0x80 | 0x81 => Kind::Context,
        0x82 => Kind::AddressContext32Is0,
        0x83 => Kind::AddressContext32Is1,
        0x85 => Kind::AddressContext64Is0,
        0x86 => Kind::AddressContext64Is1,
        0x88 if version >= 0x46 => Kind::TimestampMarker,
        0x90..=0x92 => Kind::AddressMatch,
        0x95 => Kind::AddressShortIs0,
        0x96 => Kind::AddressShortIs1,
        0x9a => Kind::Address32Is0,
        0x9b => Kind::Address32Is1,
        0x9d => Kind::Address64Is0,
        0x9e => Kind::Address64Is1,
        0xa0..=0xa2 | 0xa5 | 0xa6 | 0xaa..=0xac | 0xaf if config.q => Kind::Q,
        0xb0..=0xb2 if ete => Kind::SourceMatch,
        0xb4 if ete => Kind::SourceShortIs0,
        0xb5 if ete => Kind::SourceShortIs1,
        0xb6 if ete => Kind::Source32Is0,
        0xb7 if ete => Kind::Source32Is1,
        0xb8 if ete => Kind::Source64Is0,
        0xb9 if ete => Kind::Source64Is1,
        0xc0..=0xd4 | 0xe0..=0xf4 => Kind::AtomF6,
        0xd5..=0xd7 | 0xf5 => Kind::AtomF5,
        0xd8..=0xdb => Kind::AtomF2,
        0xdc..=0xdf => Kind::AtomF4,
        0xf6 | 0xf7 => Kind::AtomF1,
        0xf8..=0xff => Kind::AtomF3,
        _ => return Class::Reserved,
    };
    Class::Packet(kind)
}

fn given(condition: bool, kind: Kind) -> Class {
    if condition { Class::Packet(kind) } else { Class::NotConfigured(kind) }
}
