use crate::layout::Course;
use crate::table::{Section, Sections};
use crate::{Class, Kind, Layout, ParseError};

/// The role of one byte of a stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The section it belongs to; `None` if it is a header.
    pub section: Option<Section>,
    /// Index of the byte in that section, from 0.
    pub index: u8,
    /// The packet, or the error, that ends with this byte.
    pub end: Option<Result<Kind, ParseError>>,
}

/// Follows packets byte by byte.
///
/// It finds the same packets as [`Packet::parse`](crate::Packet::parse), but keeps none of their
/// content: its state is the state that a hardware decoder keeps in registers between bytes. The
/// byte after the end of a packet is treated as a header, even after a malformed packet. For a
/// stream that may start anywhere, use [`Reader`](crate::Reader).
///
/// ```
/// use hartrace_etmv4::{Config, Kind, Layout, Section, Stepper};
///
/// let layout = Layout::new(&Config::default());
/// let mut stepper = Stepper::default();
/// assert_eq!(stepper.step(&layout, 0x95).section, None); // the header of a short address
/// let step = stepper.step(&layout, 0xac);
/// assert_eq!((step.section, step.index, step.end), (Some(Section::ShortIs0), 0, None));
/// let step = stepper.step(&layout, 0x09);
/// assert_eq!((step.index, step.end), (1, Some(Ok(Kind::AddressShortIs0))));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stepper {
    /// The next byte; `None` if it is a header.
    at: Option<At>,
}

/// A position in a packet, after its header.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct At {
    section: Section,
    index: u8,
    course: Course,
    /// Bytes before it; only errors report it.
    len: u8,
}

impl Stepper {
    /// Processes the next byte and returns its role.
    pub fn step(&mut self, layout: &Layout, byte: u8) -> Step {
        match self.at.take() {
            None => Step { section: None, index: 0, end: self.header(layout, byte) },
            Some(at) => Step {
                section: Some(at.section),
                index: at.index,
                end: self.payload(layout, at, byte),
            },
        }
    }

    /// The section that the next byte belongs to; `None` if it is a header.
    pub fn section(&self) -> Option<Section> {
        self.at.map(|at| at.section)
    }

    /// The sections that are known to follow the section of the next byte.
    pub fn pending(&self) -> Sections {
        self.at.map_or(Sections::NONE, |at| at.course.pending)
    }

    fn header(&mut self, layout: &Layout, byte: u8) -> Option<Result<Kind, ParseError>> {
        match layout.class(byte) {
            Class::Packet(kind) => {
                self.next_section(Course { kind, pending: layout.sections(byte) }, 1)
            }
            Class::Reserved => Some(Err(ParseError::Reserved(byte))),
            Class::NotConfigured(_) => Some(Err(ParseError::NotConfigured(byte))),
        }
    }

    fn payload(&mut self, layout: &Layout, at: At, byte: u8) -> Option<Result<Kind, ParseError>> {
        let At { section, index, mut course, len } = at;
        let len = len.saturating_add(1);
        let shape = layout.shape(section);
        let fits = course.note(layout, section, index, byte);
        if !fits || shape.overruns(index, byte) {
            return Some(Err(ParseError::BadSequence { kind: course.kind, len }));
        }
        if shape.ends(index, byte) {
            return self.next_section(course, len);
        }
        self.at = Some(At { section, index: index.saturating_add(1), course, len });
        None
    }

    /// Continues with the first pending section; if there is none, the packet ends.
    fn next_section(&mut self, mut course: Course, len: u8) -> Option<Result<Kind, ParseError>> {
        match course.pending.next() {
            Some(section) => {
                self.at = Some(At { section, index: 0, course, len });
                None
            }
            None => Some(course.end().ok_or(ParseError::BadSequence { kind: course.kind, len })),
        }
    }
}
