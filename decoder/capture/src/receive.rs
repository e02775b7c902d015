//! Trace that arrives while it is read: from a serial port, a pipe or a file.
//!
//! [`open`] sets a serial port up. [`receive`] writes what arrives to a capture, at once, so that nothing is lost
//! however the program ends.

use crate::framing::Transport;
use hartrace_encap::{Deframer, Framing, Item};
use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// When to end, besides at the end of the input.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After this many bytes of the capture.
    pub bytes: Option<u64>,
    /// After this time.
    pub time: Option<Duration>,
}

/// Why receiving ended early.
#[derive(Debug, Error)]
pub enum ReceiveError {
    /// The input cannot be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The capture cannot be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
}

/// What was received.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes of the capture.
    pub bytes: u64,
    /// Bytes before the first place where framing is certain, if that was looked for.
    pub skipped: u64,
    /// Packets in the capture.
    pub packets: u64,
    /// Places where bytes are no packet.
    pub damaged: u64,
    /// Whether no place was found where framing is certain, although it was looked for. Everything that arrived is in the
    /// capture then.
    pub unsynchronised: bool,
}

impl Received {
    /// Whether there are packets, and nothing else.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.packets > 0 && self.damaged == 0 && !self.unsynchronised
    }
}

impl Display for Received {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { bytes, skipped, packets, damaged, unsynchronised } = self;
        if *bytes == 0 {
            return f.write_str("nothing arrived");
        }
        write!(f, "{bytes} bytes, {packets} packets")?;
        if *skipped > 0 {
            write!(f, "; {skipped} bytes before them were skipped")?;
        }
        if *damaged > 0 {
            write!(f, "; damaged in {damaged} places")?;
        }
        if *unsynchronised {
            f.write_str("; everything is kept, since there is no run of null packets in it")?;
        }
        Ok(())
    }
}

/// Opens a serial port, a pipe or a file. A serial port gets this speed, 8 data bits, no parity and one stop bit, and
/// passes all bytes on as they are.
///
/// # Errors
///
/// If it cannot be opened, or has no such speed.
pub fn open(path: &Path, baud: u32) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
        if path.metadata()?.file_type().is_char_device() {
            // Otherwise, opening may wait for a carrier, and Ctrl-C may come from the port.
            let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
            let mut options = File::options();
            let port = options.read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
            if rustix::termios::isatty(&port) {
                set_up(&port, baud)?;
            }
            let flags = rustix::fs::fcntl_getfl(&port)?;
            rustix::fs::fcntl_setfl(&port, flags.difference(rustix::fs::OFlags::NONBLOCK))?;
            return Ok(port);
        }
    }
    #[cfg(not(unix))]
    let _ = baud;
    File::open(path)
}

#[cfg(unix)]
fn set_up(port: &File, baud: u32) -> io::Result<()> {
    use rustix::termios::{ControlModes, OptionalActions, tcgetattr, tcsetattr};
    let mut settings = tcgetattr(port)?;
    settings.make_raw();
    settings.control_modes.remove(ControlModes::CSTOPB | ControlModes::CRTSCTS);
    settings.control_modes.insert(ControlModes::CLOCAL | ControlModes::CREAD);
    settings.set_speed(baud)?;
    // What arrived earlier, perhaps at another speed, is dropped.
    Ok(tcsetattr(port, OptionalActions::Flush, &settings)?)
}

/// Time after which limits are checked again.
const TICK: Duration = Duration::from_millis(50);

/// Writes what arrives to a capture, until the input ends, a limit is reached or `stop` is set. If the transport
/// finds synchronisation, the capture starts with the first frame whose start is certain.
///
/// # Errors
///
/// If reading or writing fails. A serial port that is disconnected ends the input.
pub fn receive(
    mut input: impl Read + Send + 'static,
    output: &mut dyn Write,
    transport: &Transport,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<Received, ReceiveError> {
    // Reading may wait for ever, so that it has a thread of its own.
    let (sender, blocks) = sync_channel::<io::Result<Vec<u8>>>(64);
    let reading = thread::Builder::new().spawn(move || {
        let mut block = [0; 4096];
        loop {
            let read = match input.read(&mut block) {
                Ok(len) => Ok(block.get(..len).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_gone(&error) => Ok(Vec::new()),
                Err(error) => Err(error),
            };
            let is_last = read.as_ref().map_or(true, Vec::is_empty);
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    reading.map_err(ReceiveError::Read)?;
    let mut writer = Writer::new(transport, limits.bytes);
    let end = limits.time.and_then(|time| Instant::now().checked_add(time));
    while !writer.is_full() && !stop.load(Ordering::Relaxed) {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            break;
        }
        match blocks.recv_timeout(left.map_or(TICK, |left| left.min(TICK))) {
            Ok(block) => match block.map_err(ReceiveError::Read)? {
                block if block.is_empty() => break,
                block => writer.take(&block, output).map_err(ReceiveError::Write)?,
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    writer.finish(output).map_err(ReceiveError::Write)?;
    Ok(writer.received)
}

/// Whether an error says that nobody is at the other end any more.
fn is_gone(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    #[cfg(not(unix))]
    return error.kind() == ErrorKind::BrokenPipe;
}

/// Bytes that are looked at again while synchronisation is looked for: more than the longest run that is needed.
const KEPT: usize = 256;

/// Bytes in which synchronisation is looked for. If it is not there, they are the start of the capture: whoever reads it
/// can look further.
const SEARCHED: usize = 16 << 20;

/// Writes the capture, and counts what is in it.
struct Writer {
    framing: Framing,
    /// Bytes before synchronisation, while it is looked for.
    before: Option<Vec<u8>>,
    most: u64,
    deframer: Deframer,
    received: Received,
}

impl Writer {
    fn new(transport: &Transport, most: Option<u64>) -> Self {
        let framing = transport.framing;
        Self {
            framing,
            before: transport.stream().find_sync.then(Vec::new),
            most: most.unwrap_or(u64::MAX),
            deframer: Deframer::new(framing),
            received: Received::default(),
        }
    }

    fn is_full(&self) -> bool {
        self.received.bytes >= self.most
    }

    fn take(&mut self, bytes: &[u8], output: &mut dyn Write) -> io::Result<()> {
        let Some(mut before) = self.before.take() else { return self.write(bytes, output) };
        let from = before.len().saturating_sub(KEPT);
        before.extend_from_slice(bytes);
        let rest = before.get(from..).unwrap_or_default();
        if let Some(start) = self.framing.sync_forward(rest, from as u64) {
            let start = from.saturating_add(start);
            self.received.skipped = start as u64;
            return self.write(before.get(start..).unwrap_or_default(), output);
        }
        self.before = Some(before);
        if self.before.as_ref().is_some_and(|before| before.len() >= SEARCHED) {
            self.finish(output)?;
        }
        Ok(())
    }

    /// Keeps what was looked through in vain.
    fn finish(&mut self, output: &mut dyn Write) -> io::Result<()> {
        match self.before.take() {
            Some(before) if !before.is_empty() => {
                self.received.unsynchronised = true;
                self.write(&before, output)
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8], output: &mut dyn Write) -> io::Result<()> {
        let left = usize::try_from(self.most.saturating_sub(self.received.bytes));
        let bytes = bytes.get(..left.unwrap_or(usize::MAX)).unwrap_or(bytes);
        output.write_all(bytes)?;
        output.flush()?;
        let received = &mut self.received;
        received.bytes = received.bytes.saturating_add(bytes.len() as u64);
        self.deframer.feed(bytes, &mut |_, item| match item {
            Ok(Item::Frame(_)) => received.packets = received.packets.saturating_add(1),
            Ok(Item::Null(_)) => {}
            Err(_) => received.damaged = received.damaged.saturating_add(1),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_encap::EncapParams;

    /// Gives its bytes a few at a time.
    struct Slowly(Vec<u8>, usize);

    impl Read for Slowly {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(to.len());
            to[..len].copy_from_slice(&self.0[..len]);
            self.0.drain(..len);
            Ok(len)
        }
    }

    fn encap(find_sync: bool) -> Transport {
        let params = EncapParams::new(0, 0, 0).unwrap();
        Transport::of(Framing::Encap(params), None).finding_sync(find_sync)
    }

    fn run(bytes: &[u8], step: usize, find_sync: bool, limits: Limits) -> (Vec<u8>, Received) {
        let (mut capture, stop) = (Vec::new(), AtomicBool::new(false));
        let input = Slowly(bytes.to_vec(), step);
        let received = receive(input, &mut capture, &encap(find_sync), &limits, &stop).unwrap();
        (capture, received)
    }

    #[test]
    fn starts_after_a_run_of_null_packets() {
        let packets = [2, 0x85, 0, 1, 9];
        for junk in [0, 1, 40, 1000] {
            let mut bytes = vec![0x1f; junk];
            bytes.extend([0; 40]);
            bytes.extend(packets);
            for step in [1, 7, 4096] {
                let (capture, received) = run(&bytes, step, true, Limits::default());
                // A run that is long enough counts as found before it has ended.
                let nulls = capture.len() - packets.len();
                assert!(capture.ends_with(&packets) && nulls <= 8, "{junk} {step}: {capture:x?}");
                assert!(capture[..nulls].iter().all(|byte| *byte == 0));
                assert_eq!(received.skipped as usize + capture.len(), bytes.len());
                assert_eq!((received.packets, received.damaged), (2, 0));
            }
        }
        let (capture, received) = run(&[0x1f; 1000], 7, true, Limits::default());
        assert_eq!(capture, [0x1f; 1000], "{received}");
        assert!(received.unsynchronised && !received.is_sound());
        let text = received.to_string();
        assert!(text.ends_with("everything is kept, since there is no run of null packets in it"));
        // More than is searched.
        let long = vec![0x1f; SEARCHED + 10_000];
        let (capture, received) = run(&long, 4096, true, Limits::default());
        assert!(capture == long && received.unsynchronised);
    }

    #[test]
    fn ends_at_its_limits() {
        let bytes = [2, 0x85, 0].repeat(100);
        let limits = Limits { bytes: Some(151), ..Limits::default() };
        let (capture, received) = run(&bytes, 7, false, limits);
        assert_eq!(capture, bytes[..151]);
        assert_eq!(received, Received { bytes: 151, packets: 50, ..Received::default() });

        /// Never gives anything.
        struct Silent;
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                thread::sleep(Duration::from_secs(60));
                Ok(0)
            }
        }
        let start = Instant::now();
        let limits = Limits { time: Some(Duration::from_millis(120)), ..Limits::default() };
        let stop = AtomicBool::new(false);
        let received = receive(Silent, &mut Vec::new(), &encap(false), &limits, &stop).unwrap();
        assert_eq!(received, Received::default());
        stop.store(true, Ordering::Relaxed);
        receive(Silent, &mut Vec::new(), &encap(false), &Limits::default(), &stop).unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
