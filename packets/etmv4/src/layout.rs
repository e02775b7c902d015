use crate::table::{Effect, Field, FieldName, ROWS, Row, Rule, Section, Sections, Shape};
use crate::{Config, Kind};

/// The meaning of a header byte in a configuration.
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
/// It describes, header by header and section by section, which bytes a packet has and what they mean.
/// That is enough to generate hardware that finds and reads packets.
#[derive(Clone, Debug)]
pub struct Layout {
    config: Config,
    classes: [Class; 256],
    /// The row of each header, and its sections.
    rows: [u8; 256],
    starts: [Sections; 256],
    sections: [Content; Section::ALL.len()],
}

/// The largest number of fields and of rules in a section. A test checks that none has more.
const MAX_FIELDS: usize = 6;
const MAX_RULES: usize = 5;

/// The content of a section.
#[derive(Copy, Clone, Debug)]
struct Content {
    shape: Shape,
    fields: [Field; MAX_FIELDS],
    fields_len: u8,
    rules: [Rule; MAX_RULES],
    rules_len: u8,
}

impl Content {
    const NONE: Self = Self {
        shape: Shape::fixed(0),
        fields: [Field::new(FieldName::Info, 0, 0); MAX_FIELDS],
        fields_len: 0,
        rules: [Rule::NONE; MAX_RULES],
        rules_len: 0,
    };

    fn of(config: &Config, section: Section) -> Self {
        let shape = shape(config, section);
        let bits = shape.bits(shape.most);
        let most = match section {
            Section::TimestampCycles => config.cycle_count_bits,
            _ => u8::MAX,
        };
        let mut content = Self { shape, ..Self::NONE };
        for (to, field) in content.fields.iter_mut().zip(section.fields()) {
            let width = field.width.min(bits.saturating_sub(field.from)).min(most);
            *to = Field { width, ..*field };
            content.fields_len = content.fields_len.saturating_add(1);
        }
        let rules = section.rules().iter().filter(|rule| {
            let adds_none = match rule.effect {
                Effect::Section(section) => self::shape(config, section).most == 0,
                Effect::Kind(_) | Effect::Malformed => false,
            };
            rule.needs.met(config) && !adds_none
        });
        for (to, rule) in content.rules.iter_mut().zip(rules) {
            *to = *rule;
            content.rules_len = content.rules_len.saturating_add(1);
        }
        content
    }
}

/// The bytes of a section in a configuration.
const fn shape(config: &Config, section: Section) -> Shape {
    let shape = section.longest();
    let most = match section {
        Section::Vmid => config.vmid_bytes,
        Section::ContextId => config.context_id_bytes,
        _ => return shape,
    };
    Shape { most: if most < shape.most { most } else { shape.most }, ..shape }
}

impl Layout {
    /// Computes the format for a configuration. Identifiers longer than four bytes count as four.
    pub fn new(config: &Config) -> Self {
        let mut classes = [Class::Reserved; 256];
        let (mut rows, mut starts) = ([u8::MAX; 256], [Sections::NONE; 256]);
        let of_rows = rows.iter_mut().zip(&mut starts);
        for ((class, (number, start)), header) in classes.iter_mut().zip(of_rows).zip(0..=u8::MAX) {
            let mut rows = ROWS.iter().zip(0u8..).filter(|(row, _)| row.has(header));
            if let Some((row, of)) = rows.clone().find(|(row, _)| row.needs.met(config)) {
                (*class, *number) = (Class::Packet(row.kind), of);
                *start = Sections::of(row.sections);
            } else if let Some((row, _)) = rows.find(|(row, _)| !row.needs.else_reserved()) {
                *class = Class::NotConfigured(row.kind);
            }
        }
        let mut sections = [Content::NONE; Section::ALL.len()];
        for (content, section) in sections.iter_mut().zip(Section::ALL) {
            *content = Content::of(config, *section);
        }
        Self { config: *config, classes, rows, starts, sections }
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The meaning of a header byte.
    #[inline]
    pub fn class(&self, header: u8) -> Class {
        self.classes.get(usize::from(header)).copied().unwrap_or(Class::Reserved)
    }

    /// The packet that a header starts.
    #[inline]
    pub fn row(&self, header: u8) -> Option<&'static Row> {
        self.rows.get(usize::from(header)).and_then(|row| ROWS.get(usize::from(*row)))
    }

    /// The sections that always follow a header.
    #[inline]
    pub fn sections(&self, header: u8) -> Sections {
        self.starts.get(usize::from(header)).copied().unwrap_or_default()
    }

    #[inline]
    fn content(&self, section: Section) -> &Content {
        self.sections.get(section as usize).unwrap_or(&Content::NONE)
    }

    /// The bytes of a section.
    #[inline]
    pub fn shape(&self, section: Section) -> Shape {
        self.content(section).shape
    }

    /// Where the bits of the number of a section go. No field is wider than the section, and the cycles
    /// of a timestamp are no wider than cycle counts.
    #[inline]
    pub fn fields(&self, section: Section) -> &[Field] {
        let Content { fields, fields_len, .. } = self.content(section);
        fields.get(..usize::from(*fields_len)).unwrap_or_default()
    }

    /// What the bytes of a section decide.
    #[inline]
    pub fn rules(&self, section: Section) -> &[Rule] {
        let Content { rules, rules_len, .. } = self.content(section);
        rules.get(..usize::from(*rules_len)).unwrap_or_default()
    }

    /// Whether a packet of this row can have a kind.
    pub(crate) fn can_be(&self, row: &Row, kind: Kind) -> bool {
        let decides = |section: &Section| {
            self.rules(*section).iter().any(|rule| rule.effect == Effect::Kind(kind))
        };
        row.kind == kind || row.sections.iter().any(decides)
    }
}

/// The state of a packet while its bytes are read: its kind, and the sections that still follow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Course {
    pub(crate) kind: Kind,
    pub(crate) pending: Sections,
}

impl Course {
    /// Applies the decisions of a byte of a section; `false` if it is malformed.
    pub(crate) fn note(&mut self, layout: &Layout, section: Section, index: u8, byte: u8) -> bool {
        let mut rules = layout.rules(section).iter().filter(|rule| rule.holds(index, byte));
        rules.all(|rule| self.follow(rule.effect))
    }

    /// The same for the first bytes of a section; returns the index of a malformed one.
    #[inline]
    pub(crate) fn note_all(&mut self, rules: &[Rule], bytes: &[u8]) -> Option<usize> {
        let first = bytes.first()?;
        for rule in rules {
            let index = match (rule.first, usize::from(rule.last)) {
                (_, 0) => rule.test.passes(*first).then_some(0),
                (first, last) => {
                    let tested =
                        bytes.get(..=last).unwrap_or(bytes).get(first.into()..).unwrap_or_default();
                    let passes = tested.iter().position(|byte| rule.test.passes(*byte));
                    passes.map(|index| index.saturating_add(first.into()))
                }
            };
            if index.is_some() && !self.follow(rule.effect) {
                return index;
            }
        }
        None
    }

    #[inline]
    fn follow(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::Section(section) => self.pending = self.pending.with(section),
            Effect::Kind(kind) => self.kind = kind,
            Effect::Malformed => return false,
        }
        true
    }

    /// The kind of the packet if it ends here; `None` if it may not end here.
    #[inline]
    pub(crate) fn end(&self) -> Option<Kind> {
        (self.kind != Kind::Extension).then_some(self.kind)
    }
}
