use crate::table::{Effect, Field, ROWS, Row, Rule, Section, Sections, Shape};
use crate::{Config, Kind};

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

/// The format of all packets in one configuration.
///
/// It answers, header by header and section by section, which bytes a packet has and what they say.
/// That is enough to generate hardware that finds and reads packets.
#[derive(Clone, Debug)]
pub struct Layout {
    config: Config,
    /// What follows each header, and the row it is from.
    headers: [(Class, Option<&'static Row>); 256],
    starts: [Sections; 256],
}

impl Layout {
    /// For a configuration. Identifiers of more than four bytes are taken for ones of four.
    pub fn new(config: &Config) -> Self {
        let mut headers = [(Class::Reserved, None); 256];
        let mut starts = [Sections::NONE; 256];
        for (((class, row), start), header) in headers.iter_mut().zip(&mut starts).zip(0..=u8::MAX)
        {
            let mut rows = ROWS.iter().filter(|row| row.has(header));
            if let Some(met) = rows.clone().find(|row| row.needs.met(config)) {
                (*class, *row) = (Class::Packet(met.kind), Some(met));
                *start = Sections::of(met.sections);
            } else if let Some(other) = rows.find(|row| !row.needs.else_reserved()) {
                *class = Class::NotConfigured(other.kind);
            }
        }
        Self { config: *config, headers, starts }
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What a header byte stands for.
    #[inline]
    pub fn class(&self, header: u8) -> Class {
        self.headers.get(usize::from(header)).map_or(Class::Reserved, |(class, _)| *class)
    }

    /// The packet that a header starts.
    pub fn row(&self, header: u8) -> Option<&'static Row> {
        self.headers.get(usize::from(header)).and_then(|(_, row)| *row)
    }

    /// The sections that always follow a header.
    #[inline]
    pub fn sections(&self, header: u8) -> Sections {
        self.starts.get(usize::from(header)).copied().unwrap_or_default()
    }

    /// The bytes of a section.
    #[inline]
    pub const fn shape(&self, section: Section) -> Shape {
        let shape = section.longest();
        let most = match section {
            Section::Vmid => self.config.vmid_bytes,
            Section::ContextId => self.config.context_id_bytes,
            _ => return shape,
        };
        Shape { most: if most < shape.most { most } else { shape.most }, ..shape }
    }

    /// Where the bits of the number of a section go. No field is wider than the section, and those of
    /// a timestamp no wider than cycle counts are.
    #[inline]
    pub fn fields(&self, section: Section) -> impl Iterator<Item = Field> {
        let shape = self.shape(section);
        let bits = shape.bits(shape.most);
        let most = match section {
            Section::TimestampCycles => self.config.cycle_count_bits,
            _ => u8::MAX,
        };
        section.fields().iter().map(move |field| {
            let width = field.width.min(bits.saturating_sub(field.from)).min(most);
            Field { width, ..*field }
        })
    }

    /// What the bytes of a section decide.
    pub fn rules(&self, section: Section) -> impl Iterator<Item = &'static Rule> {
        section.rules().iter().filter(|rule| {
            rule.needs.met(&self.config)
                && match rule.effect {
                    Effect::Section(section) => self.shape(section).most > 0,
                    Effect::Kind(_) | Effect::Malformed => true,
                }
        })
    }

    /// Whether a packet can turn out to be of a kind.
    pub(crate) fn can_be(&self, row: &Row, kind: Kind) -> bool {
        let decides =
            |section: &Section| self.rules(*section).any(|rule| rule.effect == Effect::Kind(kind));
        row.kind == kind || row.sections.iter().any(decides)
    }
}

/// What is known of a packet while its bytes are read: what it is, and which sections are still to come.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Course {
    pub(crate) kind: Kind,
    pub(crate) pending: Sections,
}

impl Course {
    /// Takes note of what a byte of a section decides; `false` if it is malformed.
    pub(crate) fn note(&mut self, layout: &Layout, section: Section, index: u8, byte: u8) -> bool {
        for rule in section.rules() {
            if rule.holds(&layout.config, index, byte) {
                match rule.effect {
                    Effect::Section(section) if layout.shape(section).most == 0 => {}
                    Effect::Section(section) => self.pending = self.pending.with(section),
                    Effect::Kind(kind) => self.kind = kind,
                    Effect::Malformed => return false,
                }
            }
        }
        true
    }
}
