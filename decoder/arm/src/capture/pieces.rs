//! Streams that are read when they are needed.

use super::splitter::Splitter;
use super::{BufferSource, Chunk, Layout, Stream};
use hartrace_encap::coresight::Item;
use std::borrow::Cow;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Where the bytes of a stream come from.
#[derive(Clone, Debug)]
pub(super) struct Backing {
    pub(super) layout: Layout,
    pub(super) bytes: Arc<dyn BufferSource>,
    /// The position of the first byte of the stream in the buffer.
    pub(super) first: u64,
}

/// Bytes of a stream that are decoded at once; few in tests, so that there are many pieces.
const PIECE: usize = if cfg!(test) { 150 } else { 1 << 18 };

/// Bytes that are read at once.
const READ: usize = 1 << 16;

/// Passes the bytes of a buffer on in pieces, until `take` returns a break.
pub(super) fn read(
    source: &dyn BufferSource,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let (mut input, mut room) = (source.open()?, vec![0; READ]);
    loop {
        match input.read(&mut room) {
            Ok(0) => return Ok(ControlFlow::Continue(())),
            Ok(count) => {
                let done = take(room.get(..count).unwrap_or_default());
                if done.is_break() {
                    return Ok(done);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Stream {
    /// The same stream with all its bytes in memory.
    pub fn held(&self) -> io::Result<Cow<'_, Self>> {
        if self.backing.is_none() {
            return Ok(Cow::Borrowed(self));
        }
        let mut whole = Self::default();
        self.read_pieces(usize::MAX, |piece, _| {
            whole = std::mem::take(piece);
            ControlFlow::Break(())
        })?;
        Ok(Cow::Owned(whole))
    }

    /// Calls `take` with pieces of the stream, in order, and whether a piece is the last. It returns how many
    /// bytes it has used; the others are at the start of the next piece.
    pub(crate) fn pieces(
        &self,
        mut take: impl FnMut(&Self, bool) -> ControlFlow<(), usize>,
    ) -> io::Result<()> {
        match self.backing {
            Some(_) => self.read_pieces(PIECE, |piece, last| take(piece, last)),
            None => {
                let _ = take(self, true);
                Ok(())
            }
        }
    }

    fn read_pieces(
        &self,
        size: usize,
        mut take: impl FnMut(&mut Self, bool) -> ControlFlow<(), usize>,
    ) -> io::Result<()> {
        let Some(backing) = &self.backing else { return Ok(()) };
        let raw = backing.layout == Layout::Raw;
        let mut piece = Self { id: self.id, ..Self::default() };
        let mut splitter = Splitter::new(backing.layout);
        if raw {
            piece.push(0, 0, &[]);
        }
        let done = read(&*backing.bytes, |bytes| {
            match raw {
                // All of it is one chunk.
                true => piece.bytes.extend_from_slice(bytes),
                false => splitter.feed(bytes, &mut |order, item| piece.add(order, item)),
            }
            if piece.bytes.len() < size {
                return ControlFlow::Continue(());
            }
            match take(&mut piece, false) {
                ControlFlow::Continue(used) => {
                    piece.drop_front(used);
                    ControlFlow::Continue(())
                }
                ControlFlow::Break(()) => ControlFlow::Break(()),
            }
        })?;
        if done.is_break() {
            return Ok(());
        }
        if !raw {
            splitter.finish(&mut |order, item| piece.add(order, item));
        }
        let _ = take(&mut piece, true);
        Ok(())
    }

    /// Adds what belongs to this stream.
    fn add(&mut self, order: u64, item: Item<'_>) {
        match item {
            Item::Data(chunk) if chunk.id.get() == self.id => {
                self.push(chunk.index, order, chunk.bytes);
            }
            Item::Reset => self.reset(),
            _ => {}
        }
    }

    /// Removes bytes that were used.
    fn drop_front(&mut self, used: usize) {
        self.bytes.drain(..used.min(self.bytes.len()));
        // The chunk that contains the first byte that is left, and those after it.
        let first = self.chunks.partition_point(|chunk| chunk.offset <= used).saturating_sub(1);
        self.chunks.drain(..first.min(self.chunks.len()));
        for chunk in &mut self.chunks {
            let Chunk { offset, index, .. } = chunk;
            *index = index.wrapping_add(used.saturating_sub(*offset) as u64);
            *offset = offset.saturating_sub(used);
        }
        // A reset after the last byte that was used has taken effect.
        self.resets.retain(|reset| *reset > used);
        self.resets.iter_mut().for_each(|reset| *reset = reset.saturating_sub(used));
    }
}
