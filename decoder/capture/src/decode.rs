//! Decodes a capture with its program.

use crate::params::Setup;
use crate::perf::{Pieces, Placed, Recording};
use crate::programs::Programs;
use hartrace_decoder::stream::{Decode, Decoded, PacketCounts, Preparer, StreamError};
use hartrace_decoder::{Config, Sink};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Privilege;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Everything that decoding needs, except the capture.
///
/// ```
/// use hartrace_capture::decode::CaptureDecoder;
/// use hartrace_capture::params::{Draft, Given, Setup};
/// use hartrace_capture::programs::Programs;
/// use hartrace_decoder::Count;
/// use std::ops::ControlFlow;
///
/// let draft = Draft::parse("iaddress_width_p = 32\niaddress_lsb_p = 1\n", "params.toml")?;
/// let setup = Setup::new(Some(draft), &Given::default())?;
/// let mut programs = Programs::new(setup.xlen);
/// programs.add_code(0x1000, &[0x01, 0x00, 0x01, 0x00, 0x82, 0x80]); // nop; nop; ret
/// let decoder = CaptureDecoder::new(setup, programs);
/// let trace = [
///     0x45, 0x73, 0x00, 0x04, 0x00, 0x00, // starts at 0x1000
///     0x42, 0x0a, 0x00, // continues to 0x1004
/// ];
/// let mut instructions = 0;
/// decoder.run(&trace[..], 1 << 16, Count::default, |decoded| {
///     instructions += decoded.sinks.iter().map(|(_, count)| count.instructions).sum::<u64>();
///     Ok::<_, std::io::Error>(ControlFlow::Continue(()))
/// })?;
/// assert_eq!(instructions, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CaptureDecoder {
    /// What is known of the stream.
    pub setup: Setup,
    /// The code.
    pub programs: Programs,
    /// How to decode it.
    pub config: Config,
    /// Threads to decode on.
    pub threads: NonZeroUsize,
    /// Where the packets of captures are added up, if they are to be counted.
    counted: Option<Mutex<PacketCounts>>,
}

impl CaptureDecoder {
    /// Follows a stream through programs, on all cores, without trap vectors.
    pub fn new(setup: Setup, programs: Programs) -> Self {
        let config = Config {
            params: setup.params,
            unit: setup.unit,
            compat: setup.compat,
            ..Config::default()
        };
        let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { setup, programs, config, threads, counted: None }
    }

    /// Sets the contents of the trap vector registers, for implicit exceptions.
    pub fn trap_vectors(&mut self, vectors: &BTreeMap<Privilege, u64>) {
        self.config.tvec = vectors.iter().map(|(level, base)| (level.0, *base)).collect();
    }

    /// Counts the packets of the captures that are decoded from now on.
    pub fn count_packets(&mut self) {
        self.counted = Some(Mutex::default());
    }

    /// The packets that were counted.
    pub fn packets(&self) -> PacketCounts {
        let counted = self.counted.as_ref();
        counted
            .map(|all| all.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }

    /// Decodes a capture in parts of about `part` bytes. Each part goes to a sink that `sink` makes, and
    /// the sinks go to `join`, in order. Breaks when `join` does.
    ///
    /// # Errors
    ///
    /// Those of `input` and of `join`, and parameters that no encoder can have.
    pub fn run<S: Sink + Send, E: Send>(
        &self,
        input: impl Read + Send,
        part: usize,
        sink: impl Fn() -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, E> + Send,
    ) -> Result<ControlFlow<()>, StreamError<E>> {
        let decode = Decode { part, ..self.decode() };
        ended(decode.run(input, |_| sink(), |decoded| broken(join(decoded))))
    }

    /// The same for the rest of a capture, from a frame on. `options` are the modes in force there; places in the capture
    /// are counted from there.
    ///
    /// # Errors
    ///
    /// As of [`run`](Self::run).
    pub fn run_rest<S: Sink + Send, E: Send>(
        &self,
        options: Ioptions,
        input: impl Read + Send,
        part: usize,
        sink: impl Fn() -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, E> + Send,
    ) -> Result<ControlFlow<()>, StreamError<E>> {
        let mut decode = Decode { part, options, ..self.decode() };
        decode.transport.find_sync = false;
        ended(decode.run(input, |_| sink(), |decoded| broken(join(decoded))))
    }

    /// Decodes a whole capture like [`run`](Self::run), with sinks that are prepared before they go to `join`, and use
    /// about `ahead` bytes while they wait for it: see [`Decode::run_prepared`] and [`Decode::ahead`].
    ///
    /// # Errors
    ///
    /// As of [`run`](Self::run).
    pub fn run_prepared<S: Sink + Send, E: Send>(
        &self,
        input: impl Read + Send,
        part: usize,
        ahead: usize,
        sink: impl Fn() -> S + Sync,
        preparer: &Preparer<'_, S>,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, E> + Send,
    ) -> Result<ControlFlow<()>, StreamError<E>> {
        let decode = Decode { part, ahead, ..self.decode() };
        ended(decode.run_prepared(input, |_| sink(), preparer, |decoded| broken(join(decoded))))
    }

    /// How a capture is decoded.
    pub fn decode(&self) -> Decode<'_> {
        let transport = self.setup.transport.stream();
        Decode {
            // In force until the first support packet, which a capture may lack.
            options: self.setup.options,
            threads: self.threads,
            counted: self.counted.as_ref(),
            ..Decode::new(self.config.clone(), self.programs.images(), transport)
        }
    }

    /// Whether the same bytes are decoded to the same instructions, at any place in a capture.
    pub fn is_same(&self, other: &Self) -> bool {
        let known = |decoder: &Self| {
            let Setup { params, unit, compat, options, transport, .. } = decoder.setup;
            (params, unit, compat, options, transport, decoder.config.tvec.clone())
        };
        known(self) == known(other) && self.programs.is_same(&other.programs)
    }

    /// The same for E-Trace in a recording of perf, piece by piece: see [`Pieces::run`].
    ///
    /// # Errors
    ///
    /// As of [`run`](Self::run).
    pub fn run_recorded<'r, S: Sink + Send, E: Send>(
        &'r self,
        recording: &'r Recording,
        sink: impl Fn(Placed<'r>) -> S + Sync,
        mut join: impl FnMut(Decoded<S>) -> Result<ControlFlow<()>, E> + Send,
    ) -> Result<ControlFlow<()>, StreamError<E>> {
        let pieces = Pieces {
            recording,
            programs: &self.programs,
            config: self.config.clone(),
            options: self.setup.options,
            transport: self.setup.transport.stream(),
            threads: self.threads,
        };
        ended(pieces.run(sink, |decoded| broken(join(decoded))))
    }
}

/// A reader that fills the whole buffer, however little arrives at a time: for those who use nothing before
/// the end, and work better on large pieces.
#[derive(Debug)]
pub struct Filling<R>(
    /// What is read.
    pub R,
);

impl<R: Read> Read for Filling<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut full: usize = 0;
        while let Some(rest) = room.get_mut(full..).filter(|rest| !rest.is_empty()) {
            match self.0.read(rest) {
                Ok(0) => break,
                Ok(count) => full = full.saturating_add(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(full)
    }
}

/// A break as an error, which ends the decoding.
fn broken<E>(joined: Result<ControlFlow<()>, E>) -> Result<(), Option<E>> {
    match joined {
        Ok(ControlFlow::Continue(())) => Ok(()),
        Ok(ControlFlow::Break(())) => Err(None),
        Err(error) => Err(Some(error)),
    }
}

/// The reverse of [`broken`].
fn ended<E>(
    outcome: Result<(), StreamError<Option<E>>>,
) -> Result<ControlFlow<()>, StreamError<E>> {
    match outcome {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(StreamError::Join(None)) => Ok(ControlFlow::Break(())),
        Err(StreamError::Join(Some(error))) => Err(StreamError::Join(error)),
        Err(StreamError::Params(error)) => Err(StreamError::Params(error)),
        Err(StreamError::Input(error)) => Err(StreamError::Input(error)),
    }
}
