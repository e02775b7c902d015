//! A panic on one thread ends the decoding on all of them, and reaches the caller.

use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{Config, Image, Run, Sink, StreamPos};
use hartrace_encap::Framing;
use hartrace_isa::{Isa, Xlen};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Far more than decoding takes; only a thread that waits for ever needs longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where something panics.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    Sink,
    /// A sink that is passed on before its part ends.
    FullSink,
    Make,
    Join,
}

struct Fragile {
    place: Place,
    runs: usize,
}

impl Sink for Fragile {
    fn run(&mut self, at: StreamPos, _: Run<'_>) {
        self.runs += 1;
        let panics = matches!(self.place, Place::Sink | Place::FullSink) && at.packet >= 300;
        assert!(!panics, "the sink");
    }

    fn is_full(&self) -> bool {
        self.place == Place::FullSink && self.runs > 2
    }
}

/// Decodes many short parts. Returns the message of the panic.
fn decode(place: Place, threads: usize) -> Option<String> {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(0x8000_0000, &[0x01, 0x00, 0x82, 0x80]); // c.nop, ret
    // Synchronisations at 0x80000000.
    let capture = [0x45, 0x73, 0x00, 0x00, 0x00, 0xe0].repeat(10_000);
    let transport = Transport::new(Framing::Reference);
    let mut decode = Decode::new(Config::default(), &image, transport);
    decode.threads = NonZeroUsize::new(threads)?;
    decode.part = 60;
    // One thread reads in larger pieces.
    let late = if threads > 1 { 25 } else { 0 };
    let (mut joined, made) = (0, AtomicUsize::new(0));
    let run = || {
        decode.run(
            &capture[..],
            |_| {
                let made = made.fetch_add(1, Ordering::Relaxed);
                assert!(place != Place::Make || made != late, "the maker");
                Fragile { place, runs: 0 }
            },
            |_| {
                joined += 1;
                assert!(place != Place::Join || joined != late + 1, "the join");
                Ok::<(), std::convert::Infallible>(())
            },
        )
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    assert!(place != Place::Join || joined == late + 1, "called after it had panicked");
    panic.downcast_ref::<&str>().map(ToString::to_string)
}

#[test]
fn a_panic_ends_all_threads() {
    for threads in [1, 2, 3, 8] {
        for (place, message) in [
            (Place::Sink, "the sink"),
            (Place::FullSink, "the sink"),
            (Place::Make, "the maker"),
            (Place::Join, "the join"),
        ] {
            let (sender, receiver) = channel();
            std::thread::spawn(move || sender.send(decode(place, threads)));
            let outcome = receiver.recv_timeout(PATIENCE);
            let outcome = outcome.unwrap_or_else(|_| panic!("{place:?}: {threads} threads wait"));
            assert_eq!(outcome.as_deref(), Some(message), "{place:?}, {threads} threads");
        }
    }
}
