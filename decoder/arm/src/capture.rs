mod pieces;
mod placed;
#[cfg(test)]
mod read;
mod splitter;

use hartrace_encap::coresight::{Fault, Item, Mode, Statistics};
use pieces::Backing;
pub use placed::FileRanges;
use splitter::Splitter;
use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The bytes of a trace buffer, which can be read as often as needed.
pub trait BufferSource: Debug + Send + Sync {
    /// Reads them from the oldest on.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// How the bytes of a trace buffer are laid out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Frames.
    Frames(Mode),
    /// Frames in blocks of a DSTREAM probe.
    Dstream(Mode),
    /// The bytes of one source.
    Raw,
}

/// The bytes of one trace source.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The number of the source; 0 if the buffer has no frames.
    pub id: u8,
    /// All bytes of the source, unless they are read when they are needed: see [`Stream::held`].
    pub bytes: Vec<u8>,
    /// The start of each chunk in `bytes`.
    chunks: Vec<Chunk>,
    /// The positions in `bytes` where the state is reset.
    resets: Vec<usize>,
    /// Where its bytes are read from, if they are not held.
    backing: Option<Backing>,
}

#[derive(Copy, Clone, Debug)]
struct Chunk {
    offset: usize,
    /// Its position in the buffer, as OpenCSD counts: O1.
    index: u64,
    /// Number of chunks, of all sources, before it.
    order: u64,
}

/// A trigger or a flush, which frames carry beside the bytes of sources.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its position in the buffer, as OpenCSD counts: O1.
    pub index: u64,
    /// What it is.
    pub kind: MarkKind,
    /// Sort key among the records of streams of the buffer.
    pub order: u64,
}

/// What a [`Mark`] is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// A trigger, with the byte that identifies it.
    Trigger(u8),
    /// A flush has finished.
    Flush,
}

impl Mark {
    /// The number that frames give it in place of that of a source.
    pub const fn id(&self) -> u8 {
        match self.kind {
            MarkKind::Trigger(_) => 0x7d,
            MarkKind::Flush => 0x7b,
        }
    }
}

/// A trace buffer, split into its sources.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Its sources, by number.
    pub streams: Vec<Stream>,
    /// Triggers and flushes, in order.
    pub marks: Vec<Mark>,
    /// Violations of the frame format.
    pub faults: Vec<Fault>,
    /// How many bytes were used for what.
    pub statistics: Statistics,
}

impl Capture {
    /// Splits a buffer.
    pub fn split(layout: Layout, bytes: &[u8]) -> Self {
        if layout == Layout::Raw {
            let chunks = vec![Chunk { offset: 0, index: 0, order: 0 }];
            let stream = Stream { bytes: bytes.to_vec(), chunks, ..Stream::default() };
            return Self { streams: vec![stream], ..Self::default() };
        }
        let mut capture = Self::default();
        // One for each source number; most remain empty.
        let mut streams = vec![Stream::default(); 128];
        let mut splitter = Splitter::new(layout);
        let mut out = |order, item: Item<'_>| {
            if let Item::Data(chunk) = item {
                if let Some(stream) = streams.get_mut(usize::from(chunk.id.get())) {
                    stream.push(chunk.index, order, chunk.bytes);
                }
            } else if item == Item::Reset {
                streams.iter_mut().for_each(Stream::reset);
            } else {
                capture.note(order, item);
            }
        };
        splitter.feed(bytes, &mut out);
        splitter.finish(&mut out);
        for (mut stream, id) in streams.into_iter().zip(0..) {
            if !stream.bytes.is_empty() {
                stream.id = id;
                capture.streams.push(stream);
            }
        }
        capture.statistics = splitter.statistics();
        capture
    }

    /// Finds the sources of a buffer. Its streams are read when they are needed, piece by piece, and as often
    /// as they are needed: memory does not grow with the length of the buffer.
    ///
    /// # Errors
    ///
    /// If the buffer cannot be read.
    pub fn open(layout: Layout, bytes: impl BufferSource + 'static) -> io::Result<Self> {
        let mut capture = Self::default();
        let bytes: Arc<dyn BufferSource> = Arc::new(bytes);
        let backing = |first| Some(Backing { layout, bytes: bytes.clone(), first });
        if layout == Layout::Raw {
            // An error now is better than a gap later.
            bytes.open()?;
            capture.streams.push(Stream { backing: backing(0), ..Stream::default() });
            return Ok(capture);
        }
        let mut first = [None; 128];
        let mut splitter = Splitter::new(layout);
        let mut out = |order, item: Item<'_>| match item {
            Item::Data(chunk) => {
                if let Some(first) = first.get_mut(usize::from(chunk.id.get())) {
                    first.get_or_insert(chunk.index);
                }
            }
            item => capture.note(order, item),
        };
        let _ = pieces::read(&*bytes, |piece| {
            splitter.feed(piece, &mut out);
            ControlFlow::Continue(())
        })?;
        splitter.finish(&mut out);
        for (first, id) in first.into_iter().zip(0..) {
            if let Some(first) = first {
                capture.streams.push(Stream { id, backing: backing(first), ..Stream::default() });
            }
        }
        capture.statistics = splitter.statistics();
        Ok(capture)
    }

    /// Records what belongs to no source.
    fn note(&mut self, order: u64, item: Item<'_>) {
        match item {
            Item::Fault(fault) => self.faults.push(fault),
            Item::Trigger { index, bytes } => {
                let kinds = bytes.iter().map(|byte| MarkKind::Trigger(*byte));
                self.marks.extend(kinds.map(|kind| Mark { index, kind, order }));
            }
            Item::Flush { index } => self.marks.push(Mark { index, kind: MarkKind::Flush, order }),
            Item::Data(_) | Item::Reset => {}
        }
    }
}

impl Stream {
    /// Adds bytes at a position in the buffer.
    fn push(&mut self, index: u64, order: u64, bytes: &[u8]) {
        // Adjacent bytes form one chunk, unless another source came between.
        self.chunks.push(Chunk { offset: self.bytes.len(), index, order });
        self.bytes.extend_from_slice(bytes);
    }

    /// Resets the state after the last byte.
    fn reset(&mut self) {
        self.resets.push(self.bytes.len());
    }

    /// A part of the stream, with the positions of its bytes.
    pub fn part(&self, bytes: std::ops::Range<usize>) -> Self {
        let shift = |offset: usize| offset.saturating_sub(bytes.start);
        // The chunk that contains the first byte, and those after it.
        let first = self.chunks.partition_point(|chunk| chunk.offset <= bytes.start);
        let last = self.chunks.partition_point(|chunk| chunk.offset < bytes.end);
        let chunks = self.chunks.get(first.saturating_sub(1)..last).unwrap_or_default();
        let chunk = |chunk: &Chunk| {
            let cut = bytes.start.saturating_sub(chunk.offset) as u64;
            let index = chunk.index.wrapping_add(cut);
            Chunk { offset: shift(chunk.offset), index, order: chunk.order }
        };
        let resets = self.resets.iter().filter(|reset| bytes.contains(reset));
        Self {
            id: self.id,
            bytes: self.bytes.get(bytes.clone()).unwrap_or_default().to_vec(),
            chunks: chunks.iter().map(chunk).collect(),
            resets: resets.copied().map(shift).collect(),
            backing: None,
        }
    }

    /// The position of its first byte in the buffer.
    pub fn first(&self) -> u64 {
        self.backing.as_ref().map_or_else(|| self.positions().index(0), |backing| backing.first)
    }

    /// Number of its bytes before a position in the buffer.
    pub fn before(&self, index: u64) -> usize {
        let later = self.chunks.partition_point(|chunk| chunk.index < index);
        let end = self.chunks.get(later).map_or(self.bytes.len(), |chunk| chunk.offset);
        let Some(chunk) = later.checked_sub(1).and_then(|before| self.chunks.get(before)) else {
            return 0;
        };
        let within = usize::try_from(index.saturating_sub(chunk.index)).unwrap_or(usize::MAX);
        chunk.offset.saturating_add(within).min(end)
    }

    /// The ends of the independent parts of a piece, and whether a part really ends there: the last one of
    /// a piece that is not the last may go on.
    pub(crate) fn parts(&self, last: bool) -> impl Iterator<Item = (usize, bool)> + '_ {
        let resets = self.resets.iter().map(|end| (*end, true));
        resets.chain([(self.bytes.len(), last)])
    }

    /// The ends of the independent parts of the stream; the last one is the end of the stream.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        let resets = self.resets.iter().copied().filter(|end| (1..self.bytes.len()).contains(end));
        resets.chain([self.bytes.len()])
    }

    /// A reader of positions, for offsets that only grow.
    pub(crate) fn positions(&self) -> Positions<'_> {
        Positions::new(&self.chunks)
    }
}

/// Maps bytes of a stream to positions in the buffer.
pub(crate) struct Positions<'a> {
    chunks: &'a [Chunk],
    /// Start of the next chunk, and the distance between positions and offsets up to there.
    until: usize,
    apart: u64,
}

impl<'a> Positions<'a> {
    fn new(chunks: &'a [Chunk]) -> Self {
        let mut positions = Self { chunks, until: 0, apart: 0 };
        positions.settle();
        positions
    }

    fn settle(&mut self) {
        self.until = match self.chunks {
            [_, next, ..] => next.offset,
            _ => usize::MAX,
        };
        let first = self.chunks.first();
        self.apart = first.map_or(0, |chunk| chunk.index.wrapping_sub(chunk.offset as u64));
    }

    #[inline]
    fn go_to(&mut self, offset: usize) {
        if offset >= self.until {
            self.advance(offset);
        }
    }

    #[cold]
    fn advance(&mut self, offset: usize) {
        while let [_, rest @ ..] = self.chunks
            && offset >= self.until
        {
            self.chunks = rest;
            self.settle();
        }
    }

    /// The position of a byte in the buffer.
    #[inline]
    pub(crate) fn index(&mut self, offset: usize) -> u64 {
        self.go_to(offset);
        self.apart.wrapping_add(offset as u64)
    }

    /// Number of chunks, of all sources, that were complete when this byte arrived.
    pub(crate) fn order(&mut self, offset: usize) -> u64 {
        self.go_to(offset);
        self.chunks.first().map_or(0, |chunk| chunk.order)
    }

    /// Number of bytes from this one to the end of its chunk.
    pub(crate) fn rest(&mut self, offset: usize) -> usize {
        self.go_to(offset);
        match self.until {
            usize::MAX => usize::MAX,
            until => until.saturating_sub(offset),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use hartrace_encap::coresight::{Formatter, TraceId};

    /// A part of a stream has the same bytes, from the same positions.
    #[test]
    fn parts() {
        for seed in 0..50 {
            let mut rng = Rng::with_seed(seed);
            let (mut formatter, mut frames) = (Formatter::new(), Vec::new());
            for _ in 0..rng.usize(1..30) {
                let bytes: Vec<u8> = (0..rng.usize(1..50)).map(|_| rng.u8(..)).collect();
                let id = TraceId::new(rng.u8(1..4)).unwrap();
                formatter.write(id, &bytes, &mut |frame| frames.extend_from_slice(frame));
            }
            formatter.finish(&mut |frame| frames.extend_from_slice(frame));
            for stream in Capture::split(Layout::Frames(Mode::Aligned), &frames).streams {
                let mut positions = stream.positions();
                let all = 0..stream.bytes.len();
                let places: Vec<(u64, u64)> =
                    all.map(|offset| (positions.index(offset), positions.order(offset))).collect();
                // Between frames, where sources are distinguished; and at any byte.
                for index in 0..frames.len() as u64 + 20 {
                    let right = places.iter().filter(|(place, _)| *place < index).count();
                    assert_eq!(stream.before(index), right, "seed {seed}, before {index}");
                }
                let start = rng.usize(0..stream.bytes.len());
                let end = rng.usize(start..=stream.bytes.len());
                let part = stream.part(start..end);
                assert_eq!((part.id, &part.bytes[..]), (stream.id, &stream.bytes[start..end]));
                let mut positions = part.positions();
                for (offset, place) in places[start..end].iter().enumerate() {
                    let found = (positions.index(offset), positions.order(offset));
                    assert_eq!(found, *place, "seed {seed}, {start} + {offset}");
                }
                assert_eq!(stream.first(), places[0].0);
            }
        }
    }
}
