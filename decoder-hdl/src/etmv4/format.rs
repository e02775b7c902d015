//! What hardware has to know of the format, derived from its table.

use super::Config;
use hartrace_etmv4::{
    Class as HeaderClass, Effect, End, FieldName, Kind, Layout, Rule, Section, Sections, Shape,
    Test,
};
use std::collections::BTreeSet;

/// A register that packets change.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The newest address register.
    Address,
    Timestamp,
    Vmid,
    ContextId,
    /// Exception level (2 bits), NSE, SF, NS.
    Context,
    /// A cycle count.
    Cycles,
    /// The threshold of cycle counts.
    Threshold,
    /// The number of an exception (10 bits), and what its address means (2 bits).
    Exception,
    /// Elements that a packet commits or cancels, or instructions of a Q element.
    Count,
}

impl Target {
    pub(crate) const ALL: [Self; 9] = [
        Self::Address,
        Self::Timestamp,
        Self::Vmid,
        Self::ContextId,
        Self::Context,
        Self::Cycles,
        Self::Threshold,
        Self::Exception,
        Self::Count,
    ];

    /// Its place for a field of a section, and where the field starts in it.
    fn of(section: Section, field: FieldName) -> Option<(Self, u32)> {
        let context = section == Section::Context;
        Some(match field {
            FieldName::Address => (Self::Address, 0),
            FieldName::Timestamp => (Self::Timestamp, 0),
            FieldName::Vmid => (Self::Vmid, 0),
            FieldName::ContextId => (Self::ContextId, 0),
            FieldName::ExceptionLevel if context => (Self::Context, 0),
            FieldName::Nse => (Self::Context, 2),
            FieldName::Sf => (Self::Context, SF),
            FieldName::Ns => (Self::Context, 4),
            // The cycles of a timestamp are no cycle count.
            FieldName::Cycles if section != Section::TimestampCycles => (Self::Cycles, 0),
            FieldName::Threshold => (Self::Threshold, 0),
            FieldName::Type => (Self::Exception, 0),
            FieldName::Returns => (Self::Exception, RETURNS),
            FieldName::Commit | FieldName::Cancel | FieldName::Instructions => (Self::Count, 0),
            _ => return None,
        })
    }

    pub(crate) fn width(self, config: &Config) -> u32 {
        match self {
            Self::Address => config.address_bits,
            Self::Timestamp => config.timestamp_bits,
            Self::Vmid => 8 * u32::from(config.unit.vmid_bytes),
            Self::ContextId => 8 * u32::from(config.unit.context_id_bytes),
            Self::Context => 5,
            // Three bytes, of which the last has eight bits.
            Self::Cycles => 22,
            Self::Threshold => config.unit.cycle_count_bits.into(),
            Self::Exception => 12,
            Self::Count => 32 * u32::from(config.has_counts()),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Timestamp => "timestamp",
            Self::Vmid => "vmid",
            Self::ContextId => "context_id",
            Self::Context => "context",
            Self::Cycles => "cycles",
            Self::Threshold => "threshold",
            Self::Exception => "exception",
            Self::Count => "count",
        }
    }
}

/// The bit of SF in the context.
pub(crate) const SF: u32 = 3;

/// The first bit of what the address after an exception means.
pub(crate) const RETURNS: u32 = 10;

/// Bits of a byte that go to a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    /// The byte, counted from 0.
    pub(crate) index: u32,
    /// Its lowest bit that is written.
    pub(crate) from: u32,
    pub(crate) width: u32,
    pub(crate) target: Target,
    /// The lowest bit that is written to.
    pub(crate) to: u32,
}

/// Sections between which the hardware does not have to distinguish: they have the same bytes, and the same
/// effects.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// For signals.
    pub(crate) name: String,
    pub(crate) sections: Vec<Section>,
    pub(crate) shape: Shape,
    pub(crate) rules: Vec<Rule>,
    pub(crate) writes: Vec<Write>,
}

/// The format of one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) layout: Layout,
    pub(crate) classes: Vec<Class>,
    /// Sections that can be known to follow while another one is read.
    pub(crate) pending: Vec<Section>,
    /// Pairs of them that can be known at the same time, in order.
    together: BTreeSet<(Section, Section)>,
    /// Comparisons of bytes that decide something.
    pub(crate) tests: Vec<(u8, u8)>,
}

/// Zeros of an alignment synchronisation, with the header.
pub(crate) const ZEROS: u32 = 11;

impl Format {
    pub(crate) fn new(config: &Config) -> Self {
        let layout = Layout::new(&config.unit);
        let mut used = BTreeSet::new();
        let mut pending = BTreeSet::new();
        let mut together = BTreeSet::new();
        for header in headers(&layout) {
            let mut open: BTreeSet<Section> = layout.sections(header).collect();
            while let Some(section) = open.pop_first() {
                used.insert(section);
                open.extend(adds(layout.rules(section)));
                pending.extend(&open);
                for first in &open {
                    together.extend(open.range(first..).skip(1).map(|second| (*first, *second)));
                }
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        for section in used {
            let (shape, rules) = (layout.shape(section), layout.rules(section).to_vec());
            let writes = writes(config, &layout, section);
            let known = classes.iter_mut().find(|class| {
                (class.shape, &class.rules, &class.writes) == (shape, &rules, &writes)
            });
            match known {
                Some(class) => class.sections.push(section),
                None => {
                    let name = snake(&format!("{section:?}"));
                    classes.push(Class { name, sections: vec![section], shape, rules, writes });
                }
            }
        }
        for class in classes.iter_mut().filter(|class| class.sections.len() > 1) {
            class.name = match class.shape.end {
                End::Fixed => format!("other_{}", class.shape.most),
                End::Bounded => format!("other_to_{}", class.shape.most),
                End::Unbounded => format!("other_number_{}", class.shape.most),
            };
        }
        // The kind of a packet matters later, except where a header alone does not determine one.
        let matters = |class: &Class, rule: &&Rule| {
            !matches!(rule.effect, Effect::Kind(_)) || decides_kind(&layout, class)
        };
        let rules = classes
            .iter()
            .flat_map(|class| class.rules.iter().filter(move |rule| matters(class, rule)));
        let tests: BTreeSet<_> = rules.map(|rule| (rule.test.mask, rule.test.value)).collect();
        let (pending, tests) = (pending.into_iter().collect(), tests.into_iter().collect());
        Self { layout, classes, pending, together, tests }
    }

    /// The number of the class of a section.
    pub(crate) fn class(&self, section: Section) -> usize {
        let found = self.classes.iter().position(|class| class.sections.contains(&section));
        found.unwrap_or_else(|| panic!("{section:?} is in no class"))
    }

    /// Sections that come before this one if they are pending too.
    pub(crate) fn before(&self, section: Section) -> impl Iterator<Item = usize> + '_ {
        let pairs = self.together.iter().filter(move |(_, second)| *second == section);
        pairs.filter_map(|(first, _)| self.pending.iter().position(|other| other == first))
    }

    /// Sections after a header: the first one, and those that follow it.
    pub(crate) fn sections(&self, header: u8) -> (Option<Section>, Sections) {
        let mut rest = self.layout.sections(header);
        (rest.next(), rest)
    }

    /// Sections of packets whose header alone does not say what they are.
    pub(crate) fn extensions(&self) -> BTreeSet<Section> {
        let rows = headers(&self.layout).filter_map(|header| self.layout.row(header));
        let extensions = rows.filter(|row| row.kind == Kind::Extension);
        let mut open: Vec<Section> = extensions.flat_map(|row| row.sections).copied().collect();
        let mut found = BTreeSet::new();
        while let Some(section) = open.pop() {
            if found.insert(section) {
                open.extend(adds(self.layout.rules(section)));
            }
        }
        found
    }

    /// The number of a comparison.
    pub(crate) fn test(&self, test: &Test) -> usize {
        let found = self.tests.iter().position(|other| *other == (test.mask, test.value));
        found.unwrap_or_else(|| panic!("{test:?} is not among the tests"))
    }

    /// The number of bytes of the longest section.
    pub(crate) fn longest(&self) -> u32 {
        self.classes.iter().map(|class| class.shape.most.into()).max().unwrap_or(1)
    }
}

/// Whether the header before a section makes no packet unless a byte of it decides its kind.
pub(crate) fn decides_kind(layout: &Layout, class: &Class) -> bool {
    headers(layout).filter_map(|header| layout.row(header)).any(|row| {
        let first = row.sections.first();
        row.kind == Kind::Extension && first.is_some_and(|first| class.sections.contains(first))
    })
}

/// Headers that start packets.
pub(crate) fn headers(layout: &Layout) -> impl Iterator<Item = u8> + '_ {
    (0..=u8::MAX).filter(|header| matches!(layout.class(*header), HeaderClass::Packet(_)))
}

fn adds(rules: &[Rule]) -> impl Iterator<Item = Section> + '_ {
    rules.iter().filter_map(|rule| match rule.effect {
        Effect::Section(section) => Some(section),
        Effect::Kind(_) | Effect::Malformed => None,
    })
}

/// Where the bits of a section go.
fn writes(config: &Config, layout: &Layout, section: Section) -> Vec<Write> {
    let shape = layout.shape(section);
    let mut writes = Vec::new();
    for index in 0..shape.most {
        let (low, width) = (u32::from(shape.bits(index)), u32::from(shape.width(index)));
        for field in layout.fields(section) {
            let Some((target, at)) = Target::of(section, field.name) else { continue };
            let (first, end) = (u32::from(field.from), u32::from(field.from + field.width));
            let (start, stop) = (low.max(first), (low + width).min(end));
            let to = at + u32::from(field.to) + start.saturating_sub(first);
            let room = target.width(config).saturating_sub(to);
            let width = stop.saturating_sub(start).min(room);
            if width > 0 {
                let index = index.into();
                writes.push(Write { index, from: start - low, width, target, to });
            }
        }
    }
    writes
}

/// `LikeThis` as `like_this`.
pub(crate) fn snake(name: &str) -> String {
    let mut text = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}
