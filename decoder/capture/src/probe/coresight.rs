//! Arm trace: frames, their sources, and the protocol of each by its synchronisation packets.

use hartrace_encap::coresight::{Deformatter, Dstream, Item, Mode, Statistics};
use hartrace_etmv4 as etmv4;
use hartrace_ptm as ptm;
use serde_json::{Value, json};
use std::fmt;

/// How the bytes of sources are packed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Frames of 16 bytes, from the first byte.
    Frames,
    /// Frames between synchronisation words of a trace port.
    Port,
    /// The same, in blocks of a DSTREAM probe.
    Dstream,
    /// The bytes of one source, without frames.
    Raw,
}

impl Packing {
    const ALL: [Self; 4] = [Self::Frames, Self::Dstream, Self::Port, Self::Raw];
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frames => "CoreSight frames",
            Self::Port => "CoreSight frames with synchronisation words",
            Self::Dstream => "CoreSight frames with synchronisation words, in DSTREAM blocks",
            Self::Raw => "one source without frames",
        })
    }
}

/// A trace unit, as far as its packets show.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// ETMv4, or ETE without packets that only ETE has.
    Etmv4(etmv4::Config),
    /// ETE.
    Ete(etmv4::Config),
    /// PTM.
    Ptm(ptm::Config),
    /// Neither; perhaps ETMv3, ITM or STM.
    Other,
}

impl Unit {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Etmv4(_) => "ETMv4 or ETE",
            Self::Ete(_) => "ETE",
            Self::Ptm(_) => "PTM",
            Self::Other => "neither ETMv4, ETE nor PTM",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Etmv4(config) | Self::Ete(config) => {
                let (context, vmid) = (config.context_id_bytes, config.vmid_bytes);
                write!(f, ", {context} bytes of context and {vmid} of VMID")
            }
            Self::Ptm(config) => {
                let cycles = if config.cycle_accurate { "with" } else { "without" };
                write!(f, " {cycles} cycles, {} bytes of context", config.context_id_bytes)
            }
            Self::Other => Ok(()),
        }
    }
}

/// The bytes of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its number; `None` without frames.
    pub id: Option<u8>,
    /// Number of bytes.
    pub bytes: u64,
    /// What sends it.
    pub unit: Unit,
    /// Other configurations that read the packets as well.
    pub alike: usize,
    /// What was counted with this unit.
    pub tally: Tally,
}

/// What was found in the bytes of a source.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets.
    pub packets: u64,
    /// Alignment synchronisations.
    pub asyncs: u64,
    /// Those that the packet follows which has to: trace info, or I-sync.
    pub starts: u64,
    /// Bytes that are no packet.
    pub bad: u64,
    /// Packets of ETE only.
    pub ete: u64,
}

impl Tally {
    fn is_likely(&self, unit: &Unit) -> bool {
        // Eleven zeros are more specific than the five of PTM: a short capture may have nothing else.
        let sure = self.starts > 0 || (self.asyncs > 0 && !matches!(unit, Unit::Ptm(_)));
        sure && self.starts.saturating_mul(2) >= self.asyncs.saturating_sub(1)
            && self.bad.saturating_mul(50) <= self.packets
    }

    /// The better one is greater.
    fn rank(&self) -> (u64, std::cmp::Reverse<u64>, u64) {
        (self.starts, std::cmp::Reverse(self.bad), self.packets)
    }
}

/// A capture as Arm trace.
#[derive(Clone, Debug)]
pub struct CoreSight {
    /// How the bytes of sources are packed.
    pub packing: Packing,
    /// How many bytes were used for what.
    pub statistics: Statistics,
    /// The sources, by number.
    pub streams: Vec<Stream>,
}

impl fmt::Display for CoreSight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Arm trace: {}", self.packing)?;
        for stream in &self.streams {
            let id = stream.id.map_or_else(String::new, |id| format!("id {id:#04x}: "));
            let Tally { packets, asyncs, starts, bad, .. } = stream.tally;
            writeln!(f, "  {id}{}, {} bytes", stream.unit, stream.bytes)?;
            if stream.unit != Unit::Other {
                let info =
                    if matches!(stream.unit, Unit::Ptm(_)) { "I-sync" } else { "trace info" };
                let many = format!("{packets} packets, {bad} of them malformed");
                writeln!(f, "    {many}; {asyncs} A-sync, {starts} followed by {info}")?;
            }
            if stream.alike > 0 {
                let what = "the sizes of context and VMID do not matter, or not all";
                writeln!(f, "    {} other configurations read it as well: {what}", stream.alike)?;
            }
        }
        Ok(())
    }
}

impl CoreSight {
    pub(super) fn json(&self) -> Value {
        let streams = self.streams.iter().map(|stream| {
            let Tally { packets, asyncs, starts, bad, .. } = stream.tally;
            json!({
                "id": stream.id,
                "bytes": stream.bytes,
                "unit": stream.unit.name(),
                "description": stream.unit.to_string(),
                "alike": stream.alike,
                "packets": packets,
                "asyncs": asyncs,
                "starts": starts,
                "bad": bad,
            })
        });
        json!({
            "packing": self.packing.to_string(),
            "likely": self.is_likely(),
            "streams": streams.collect::<Vec<_>>(),
        })
    }

    /// Finds the packing in which most sources have synchronisations.
    pub(super) fn find(bytes: &[u8]) -> Option<Self> {
        let found = Packing::ALL.into_iter().filter_map(|packing| Self::read(packing, bytes));
        let mut found: Vec<Self> = found.filter(|found| found.points() > 0).collect();
        // The first one if they are equal.
        found.sort_by_key(|found| std::cmp::Reverse(found.points()));
        found.into_iter().next()
    }

    /// Whether a source is certain, and almost all bytes belong to sources.
    pub fn is_likely(&self) -> bool {
        let Statistics { data, reserved, unsynchronised, .. } = self.statistics;
        let stray = reserved.saturating_add(unsynchronised);
        let lost = self.packing != Packing::Raw && stray.saturating_mul(10) > data;
        !lost && self.streams.iter().any(|stream| stream.unit != Unit::Other)
    }

    /// Bytes of sources that are certain.
    fn points(&self) -> u64 {
        let sure = self.streams.iter().filter(|stream| stream.unit != Unit::Other);
        sure.fold(0, |sum, stream| sum.saturating_add(stream.bytes))
    }

    fn read(packing: Packing, bytes: &[u8]) -> Option<Self> {
        if packing == Packing::Raw {
            let statistics = Statistics { data: bytes.len() as u64, ..Statistics::default() };
            return Some(Self { packing, statistics, streams: vec![Stream::of(None, bytes)] });
        }
        let mode = if packing == Packing::Frames { Mode::Aligned } else { Mode::Fsync };
        let mut deformatter = Deformatter::new(mode);
        let mut sources: Vec<Vec<u8>> = vec![Vec::new(); 128];
        let mut out = |item: Item<'_>| {
            if let Item::Data(chunk) = item
                && let Some(source) = sources.get_mut(usize::from(chunk.id.get()))
            {
                source.extend_from_slice(chunk.bytes);
            }
        };
        if packing == Packing::Dstream {
            Dstream::new().feed(bytes, &mut |piece| deformatter.feed(piece, &mut out));
        } else {
            deformatter.feed(bytes, &mut out);
        }
        deformatter.finish(&mut out);
        let with_bytes = (0u8..).zip(sources).filter(|(_, bytes)| !bytes.is_empty());
        let streams = with_bytes.map(|(id, bytes)| Stream::of(Some(id), &bytes)).collect();
        Some(Self { packing, statistics: deformatter.statistics(), streams })
    }
}

impl Stream {
    /// Reads the bytes of a source in all ways.
    fn of(id: Option<u8>, bytes: &[u8]) -> Self {
        let mut found: Vec<(Unit, Tally)> = Vec::new();
        for config in etmv4_configs() {
            let tally = etmv4_tally(config, bytes);
            let unit = if tally.ete > 0 { Unit::Ete(config) } else { Unit::Etmv4(config) };
            found.push((unit, tally));
        }
        found.extend(ptm_configs().map(|config| (Unit::Ptm(config), ptm_tally(config, bytes))));
        let best = found.iter().filter(|(unit, tally)| tally.is_likely(unit));
        let best = best.map(|(_, tally)| tally.rank()).max();
        let mut best = found.into_iter().filter(|(_, tally)| Some(tally.rank()) == best);
        let (unit, tally) = best.next().unwrap_or((Unit::Other, Tally::default()));
        Self { id, bytes: bytes.len() as u64, unit, alike: best.count(), tally }
    }
}

/// Configurations that differ in how packets are read, simple ones first.
fn etmv4_configs() -> impl Iterator<Item = etmv4::Config> {
    let versions = [0x42, 0x51].into_iter();
    let sizes = versions.flat_map(|version| [0, 4].map(|context| (version, context)));
    sizes.flat_map(|(version, context_id_bytes)| {
        [0, 1, 2, 4].map(|vmid_bytes| etmv4::Config {
            version,
            context_id_bytes,
            vmid_bytes,
            q: true,
            ..etmv4::Config::default()
        })
    })
}

fn ptm_configs() -> impl Iterator<Item = ptm::Config> {
    let sizes = [0, 1, 2, 4].into_iter();
    let sizes = sizes.flat_map(|context_id_bytes| [false, true].map(|c| (context_id_bytes, c)));
    sizes.flat_map(|(context_id_bytes, cycle_accurate)| {
        [true, false].map(|timestamp_64| ptm::Config {
            context_id_bytes,
            cycle_accurate,
            timestamp_64,
            ..ptm::Config::default()
        })
    })
}

fn etmv4_tally(config: etmv4::Config, mut bytes: &[u8]) -> Tally {
    use etmv4::Kind;
    let mut reader = etmv4::Reader::new(etmv4::Headers::new(&config));
    let (mut tally, mut last) = (Tally::default(), None);
    while let Some((found, len)) = reader.next(bytes) {
        let kind = match found {
            etmv4::Found::Packet(kind) => Some(kind),
            etmv4::Found::Unsynchronised => None,
            etmv4::Found::Bad(_) => {
                tally.bad = tally.bad.saturating_add(1);
                None
            }
        };
        let is_start = kind == Some(Kind::TraceInfo) && last == Some(Kind::Async);
        let is_ete = kind.is_some_and(|kind| {
            matches!(
                kind,
                Kind::Ite
                    | Kind::TransactionStart
                    | Kind::TransactionCommit
                    | Kind::TransactionFail
                    | Kind::TimestampMarker
                    | Kind::Reset
                    | Kind::SourceMatch
                    | Kind::SourceShortIs0
                    | Kind::SourceShortIs1
                    | Kind::Source32Is0
                    | Kind::Source32Is1
                    | Kind::Source64Is0
                    | Kind::Source64Is1
            )
        });
        tally.count(kind.is_some(), kind == Some(Kind::Async), is_start);
        tally.ete = tally.ete.saturating_add(is_ete.into());
        last = kind;
        bytes = bytes.get(len..).unwrap_or_default();
    }
    tally
}

fn ptm_tally(config: ptm::Config, mut bytes: &[u8]) -> Tally {
    use ptm::Kind;
    let mut reader = ptm::Reader::new(config);
    let (mut tally, mut last) = (Tally::default(), None);
    while let Some((found, len)) = reader.next(bytes) {
        let kind = match found {
            ptm::Found::Packet(kind) => Some(kind),
            ptm::Found::Unsynchronised => None,
            ptm::Found::Bad(_) => {
                tally.bad = tally.bad.saturating_add(1);
                None
            }
        };
        let is_start = kind == Some(Kind::ISync) && last == Some(Kind::Async);
        tally.count(kind.is_some(), kind == Some(Kind::Async), is_start);
        last = kind;
        bytes = bytes.get(len..).unwrap_or_default();
    }
    tally
}

impl Tally {
    fn count(&mut self, is_packet: bool, is_async: bool, is_start: bool) {
        self.packets = self.packets.saturating_add(is_packet.into());
        self.asyncs = self.asyncs.saturating_add(is_async.into());
        self.starts = self.starts.saturating_add(is_start.into());
    }
}
