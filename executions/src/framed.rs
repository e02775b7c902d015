use crate::{Source, SourceError};
use hartrace_capture::framing::Transport;
use hartrace_encap::{EmitError, MAX_FRAME};
use hartrace_encoder::{Encoded, Encoder};
use hartrace_etrace::ingress::Retired;
use std::collections::VecDeque;
use std::io::BufRead;
use thiserror::Error;

/// Number of rows to remember; the encoder looks back at only a few.
const REMEMBERED: usize = 64;

/// What is remembered of a row that the encoder has taken.
#[derive(Copy, Clone, Debug)]
pub struct Seen {
    /// Line of the input; trace files have no lines.
    pub line: Option<u64>,
    /// The address of the row.
    pub iaddr: u64,
    time: u64,
}

/// A payload in its frame.
#[derive(Copy, Clone, Debug)]
pub struct Sent<'a> {
    /// The payload.
    pub encoded: Encoded<'a>,
    /// The row it describes, if there is one.
    pub row: Option<Seen>,
    /// The frame.
    pub frame: &'a [u8],
}

/// A packet has no place in a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("packet {packet} cannot be framed: {error}")]
pub struct FramingError {
    /// The number of the packet, from 0.
    pub packet: u64,
    /// Why not.
    pub error: EmitError,
}

/// Encodes what is left of `rows`, and calls `sink` for every frame.
///
/// # Errors
///
/// If a row cannot be read, or a payload not framed; or an error of `sink`.
pub fn encode<R: BufRead, E: From<SourceError> + From<FramingError>>(
    rows: &mut Source<R>,
    encoder: &mut Encoder,
    transport: &Transport,
    mut sink: impl FnMut(Sent<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen: VecDeque<Seen> = VecDeque::new();
    let mut first = 0; // row number of the first one in `seen`
    let mut packet = 0;
    let mut frame = [0; MAX_FRAME];
    let mut result: Result<(), E> = Ok(());
    loop {
        let row = rows.next_row()?;
        if let Some(row) = &row {
            let Retired { iaddr, time, .. } = row.retired;
            seen.push_back(Seen { line: row.line, iaddr, time });
            if seen.len() > REMEMBERED {
                seen.pop_front();
                first += 1;
            }
        }
        let mut send = |encoded: Encoded<'_>| {
            if result.is_err() {
                return;
            }
            let index = encoded.row.checked_sub(first).and_then(|i| usize::try_from(i).ok());
            let row = index.and_then(|i| seen.get(i)).copied();
            let time = row.map_or(0, |seen| seen.time);
            result = match transport.emit(packet, time, encoded.bytes, &mut frame) {
                Ok(len) => sink(Sent { encoded, row, frame: frame.get(..len).unwrap_or(&frame) }),
                Err(error) => Err(FramingError { packet, error }.into()),
            };
            packet += 1;
        };
        match &row {
            Some(row) => encoder.retire(&row.retired, &mut send),
            None => encoder.finish(&mut send),
        }
        if row.is_none() || result.is_err() {
            return result;
        }
    }
}
