//! Where traces end.

use crate::event::{Event, StreamPos};
use hartrace_etrace::{Ioptions, QualStatus, Support};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Which sources of a capture are being traced, and which were traced anew, by their events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    on: BTreeSet<Option<u16>>,
    restarts: BTreeMap<Option<u16>, Restarted>,
    /// Where another trace starts before one has ended.
    cut_short: BTreeMap<Option<u16>, StreamPos>,
}

/// A source with more than one trace in a capture. Either the encoder was disabled for a while, or several captures were
/// joined.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// The source, where the framing names sources.
    pub source: Option<u16>,
    /// Where its second trace starts.
    pub at: StreamPos,
    /// Number of traces after that one.
    pub more: u64,
}

impl Endings {
    /// Takes the next event of a source.
    pub fn event(&mut self, source: Option<u16>, at: StreamPos, event: &Event) {
        match event {
            Event::On => {
                self.on.insert(source);
            }
            // After damage it is not known what the last packet was.
            Event::Off(_) | Event::Gap(_) => {
                self.on.remove(&source);
            }
            Event::Restart if self.on.contains(&source) => {
                self.cut_short.entry(source).or_insert(at);
            }
            Event::Restart => match self.restarts.get_mut(&source) {
                Some(restarted) => restarted.more = restarted.more.saturating_add(1),
                None => {
                    self.restarts.insert(source, Restarted { source, at, more: 0 });
                }
            },
            Event::Trap { .. }
            | Event::Context { .. }
            | Event::Time(_)
            | Event::Trigger
            | Event::LeftOut { .. } => {}
        }
    }

    /// Takes damage that may be of any source.
    pub(crate) fn damage(&mut self) {
        self.on.clear();
    }

    /// The sources that are being traced.
    pub fn on(&self) -> impl Iterator<Item = Option<u16>> {
        self.on.iter().copied()
    }

    /// The sources with a trace that has not ended where another one starts, with that place.
    pub fn cut_short(&self) -> impl Iterator<Item = (Option<u16>, StreamPos)> {
        self.cut_short.iter().map(|(source, at)| (*source, *at))
    }

    /// The sources that have another trace after one that has ended.
    pub fn restarts(&self) -> impl Iterator<Item = Restarted> {
        self.restarts.values().copied()
    }
}

impl fmt::Display for Restarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, at, more } = self;
        write!(f, "a second trace starts at byte {}, packet {}", at.byte, at.packet)?;
        source.map_or(Ok(()), |id| write!(f, ", source {id}"))?;
        if *more > 0 {
            write!(f, " ({more} more)")?;
        }
        f.write_str(": the encoder was disabled before it, or captures were joined")
    }
}

/// How far the trace has got that an encoder was enabled for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Session {
    /// There was no synchronisation yet.
    #[default]
    New,
    /// There was one.
    Started,
    /// The encoder was disabled.
    Ended,
}

impl Session {
    /// Takes a support packet, with the modes before it. Returns whether another trace starts. The present one is `on` or not.
    ///
    /// Spec: E-Trace 2.0, 7.5.1: an encoder sends such a packet when it is enabled or disabled, when its modes change, and
    /// when tracing is interrupted. One that changes nothing in a trace that is on was sent by an encoder that was enabled
    /// anew.
    pub(crate) fn restarts(&mut self, on: bool, modes: Ioptions, support: &Support) -> bool {
        let Support { ienable, qual_status, ioptions, .. } = *support;
        match *self {
            Self::Started if !ienable => {
                *self = Self::Ended;
                false
            }
            Self::Started => on && qual_status == QualStatus::NoChange && ioptions == modes,
            Self::Ended if ienable => {
                *self = Self::New;
                true
            }
            Self::New | Self::Ended => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: StreamPos = StreamPos { packet: 3, byte: 9 };

    fn endings(events: &[Event]) -> Endings {
        let mut endings = Endings::default();
        events.iter().for_each(|event| endings.event(Some(2), AT, event));
        endings
    }

    #[test]
    fn what_is_on_at_the_end() {
        let off = Event::Off(QualStatus::EndedRep);
        for (events, on) in [
            (&[][..], 0),
            (&[Event::On], 1),
            (&[Event::On, off], 0),
            (&[Event::On, off, Event::Restart, Event::On], 1),
            (&[Event::On, Event::Restart], 1),
        ] {
            assert_eq!(endings(events).on().count(), on, "{events:?}");
        }
        let joined = endings(&[Event::On, off, Event::Restart, Event::On, off, Event::Restart]);
        let text = joined.restarts().next().unwrap().to_string();
        assert!(text.starts_with("a second trace starts at byte 9, packet 3, source 2 (1 more): "));
        assert_eq!(joined.cut_short().count(), 0);
        let cut = endings(&[Event::On, Event::Restart]);
        assert_eq!((cut.cut_short().count(), cut.restarts().count()), (1, 0));
    }

    #[test]
    fn which_support_packets_start_another_trace() {
        let modes = Ioptions::default();
        let enabled = Support { ienable: true, ..Support::default() };
        let disabled = Support { qual_status: QualStatus::EndedRep, ..Support::default() };
        let mut session = Session::default();
        assert!(!session.restarts(false, modes, &enabled));
        session = Session::Started;
        // New modes, the end of a stretch and a loss are no other trace.
        let full = Ioptions { full_address: true, ..modes };
        let stretch = Support { ienable: true, ..disabled };
        let lost = Support { qual_status: QualStatus::TraceLost, ..enabled };
        for same in [Support { ioptions: full, ..enabled }, stretch, lost] {
            assert!(!session.restarts(true, modes, &same), "{same:?}");
        }
        assert!(session.restarts(true, modes, &enabled));
        assert!(!session.restarts(true, modes, &disabled));
        assert!(session.restarts(false, modes, &enabled));
    }
}
