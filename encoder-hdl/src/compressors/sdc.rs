//! rSDC: a cache of streams, and for each stream its last successor, without upper address bits.

mod cache;
mod coder;
mod detector;
mod runs;

use super::CompressorError;
use super::bits::{FieldsOut, Words};
use super::tables::Clear;
use coder::CoderOut;
use detector::{DetectorOut, Stream};
use hartrace_rtl::{Component, Module};

/// Bits of an address that the cache keeps, the lowest of which is zero and left out.
const LOW: u32 = 20;

/// Sizes of the cache and its predictor: those of the software model.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sdc {
    /// Width of addresses, 32 or 64.
    pub xlen: u32,
    /// Entries of the cache and of the predictor, a power of two.
    pub entries: u32,
    /// Ways, a power of two.
    pub ways: u32,
    /// The set is determined by the address bits from this one upwards and the length.
    pub shift: u32,
    /// The run-length counter.
    pub run: RunLength,
}

/// Initial values and limits of the counter of runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Initial number of bits.
    pub w0: u32,
    /// Smallest number of bits.
    pub wmin: u32,
    /// Largest number of bits.
    pub wmax: u32,
    /// The monitor, 0 to 15, initially and after each change.
    pub m0: u32,
}

impl Sdc {
    /// rSDC-128, with the values of the source.
    pub const REDUCED: Self = Self {
        xlen: 64,
        entries: 128,
        ways: 4,
        shift: 4,
        run: RunLength { w0: 3, wmin: 1, wmax: 10, m0: 8 },
    };

    fn sets(&self) -> u32 {
        self.entries / self.ways
    }

    /// Width of the number of a stream.
    fn index(&self) -> u32 {
        self.entries.ilog2()
    }

    fn check(&self) -> Result<(), CompressorError> {
        let Self { xlen, entries, ways, shift, run } = *self;
        let RunLength { w0, wmin, wmax, m0 } = run;
        let power = |n: u32, most: u32| n.is_power_of_two() && (2..=most).contains(&n);
        let sizes = power(entries, 1 << 16) && power(ways, 16) && ways * 2 <= entries;
        let bits = shift >= 1 && sizes && shift + self.sets().ilog2() < LOW;
        let counts = 1 <= wmin && wmin <= w0 && w0 <= wmax && wmax <= 32 && (1..15).contains(&m0);
        match [32, 64].contains(&xlen) && bits && counts {
            true => Ok(()),
            false => Err(CompressorError(
                "rSDC: xlen is 32 or 64, entries and ways are powers of two, up to 65536 entries in 2 sets or more of 2 \
                 to 16 ways; shift is at least 1 and leaves a bit of 20 above the set, and run is 1 <= wmin <= w0 <= \
                 wmax <= 32, 1 <= m0 <= 14",
            )),
        }
    }
}

/// The module `te_sdc`.
///
/// `flush_i` ends the trace, and the stream that is open with it. It has to stay set until `empty_o`; a new trace starts
/// with a reset.
///
/// # Errors
///
/// If there is no such cache.
pub fn sdc(config: &Sdc) -> Result<Component, CompressorError> {
    config.check()?;
    let m = Module::new(
        "te_sdc",
        "Compresses what retires, one instruction per cycle: streams of instructions are numbers in a cache,\n\
         and those that follow each other as before are only counted.",
    )
    .clocked();
    let itype = m.input("itype_i", 4, "how it ends");
    let iaddr = m.input("iaddr_i", config.xlen, "address of the instruction");
    let iretire = m.input("iretire_i", 2, "half-words of the instruction that retires");
    let stall_o = m.output("stall_o", 1, "what retires has to be held");
    let words = Words::new(&m);

    let clear = Clear::new(&m, config.entries);
    let accepts = m.wire("stream_taken", 1);
    let detector = m.inst(
        "i_detector",
        &detector::build(config),
        &[
            ("itype_i", &itype),
            ("iaddr_i", &iaddr),
            ("iretire_i", &iretire),
            ("stall_i", &clear.active),
            ("end_i", words.flush()),
            ("ready_i", &accepts),
        ],
    );
    let streams = DetectorOut::of(&detector);
    m.assign(&stall_o, &streams.stall);
    let ends = m.let_("ends", words.flush() & &streams.ended);
    let taken = m.wire("field_taken", 1);
    let stream = Stream::of(&detector).to_inputs();
    let mut ports = vec![
        ("valid_i", &streams.valid),
        ("end_i", &ends),
        ("clear_i", &clear.active),
        ("clear_index_i", &clear.index),
        ("ready_i", &taken),
    ];
    ports.extend(stream.iter().map(|(port, signal)| (port.as_str(), signal)));
    let coder = m.inst("i_coder", &coder::build(config), &ports);
    let fields = FieldsOut::of(&coder);
    m.assign(&accepts, &fields.ready);
    let ended = &streams.ended & CoderOut::of(&coder).ended;
    let rests = m.let_("rests", ended & !&fields.valid);
    words.pack(&m, coder::field_bits(config), (&fields, &taken), &rests);
    Ok(m.finish())
}
