//! The input of the benchmarks, and how it is decoded.

use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_capture::programs::Symbols;
use hartrace_decoder::calls::{self, CallStack, Frame, Functions, Transfers};
use hartrace_decoder::stream::{Decode, Decoded, Transport};
use hartrace_decoder::{Config, Image, Path, Run, Sink, StreamPos};
use hartrace_encap::Framing;
use hartrace_etrace::{Ioptions, Params, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::EncoderConfig;
use hartrace_golden::walk::{Shape, generate};
use hartrace_isa::{Isa, Xlen};
use std::convert::Infallible;
use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A trace and its program.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) params: Params,
    pub(crate) unit: Unit,
    pub(crate) options: Ioptions,
    /// te_inst_raw.
    pub(crate) stream: Vec<u8>,
    pub(crate) segments: Vec<(u64, Vec<u8>)>,
    pub(crate) elf: Option<Vec<u8>>,
}

/// Those of the reference flow.
pub(crate) const REFERENCE: Params = Params {
    iaddress_width_p: 64,
    iaddress_lsb_p: 1,
    privilege_width_p: 2,
    ecause_width_p: 5,
    context_width_p: 32,
    nocontext_p: true,
    time_width_p: 1,
    notime_p: true,
    f0s_width_p: 0,
    bpred_size_p: 0,
    cache_size_p: 0,
    return_stack_size_p: 0,
    call_counter_size_p: 0,
    sijump_p: false,
    hpred_size_p: 0,
};

/// The simulator's reset code, which is in no ELF file.
pub(crate) const BOOT_ROM: [u32; 5] =
    [0x0000_0297, 0x0202_8593, 0xf140_2573, 0x0182_b283, 0x0002_8067];

/// Two streams of the reference flow if `HARTRACE_DATA` is set, otherwise a random walk.
pub(crate) fn inputs() -> Vec<Input> {
    match std::env::var_os("HARTRACE_DATA") {
        Some(data) => {
            let data = std::path::Path::new(&data);
            vec![vector(data, "coremark_3m", "coremark"), vector(data, "dhrystone", "dhrystone")]
        }
        None => vec![walk()],
    }
}

fn vector(data: &std::path::Path, name: &str, program: &str) -> Input {
    let folder = data.join("etrace-reference");
    let read = |path: &std::path::Path| {
        std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let stream = read(&folder.join(format!("packets/itype4_nocontext_r10/{name}.te_inst_raw")));
    let elf = read(&folder.join(format!("elf/{program}.riscv")));
    let mut segments = segments(&elf);
    segments.push((0x1000, BOOT_ROM.iter().flat_map(|word| word.to_le_bytes()).collect()));
    Input::new(name, stream, segments, Some(elf))
}

/// What is loaded of an ELF file.
pub(crate) fn segments(elf: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(elf).expect("an ELF file");
    let loads = file.segments().expect("segments").iter().filter(|s| s.p_type == elf::abi::PT_LOAD);
    loads.map(|s| (s.p_vaddr, file.segment_data(&s).expect("segment data").to_vec())).collect()
}

fn walk() -> Input {
    let shape = Shape { steps: 1_000_000, absolute: 0, ..Shape::default() };
    let walk = generate(1, &shape.without_sideband().without_traps());
    let config = EncoderConfig { params: REFERENCE, ..EncoderConfig::default() };
    let mut encoder = Encoder::new(config).expect("legal");
    let mut stream = Vec::new();
    let mut out = |payload: hartrace_golden::Encoded| {
        stream.push(0x40 | payload.bytes.len() as u8);
        stream.extend(payload.bytes);
    };
    for row in &walk.rows {
        encoder.retire(row, &mut out);
    }
    encoder.finish(&mut out);
    Input::new("walk", stream, walk.program.segments, None)
}

impl Input {
    /// A trace of the reference flow, in delta mode.
    fn new(
        name: &str,
        stream: Vec<u8>,
        segments: Vec<(u64, Vec<u8>)>,
        elf: Option<Vec<u8>>,
    ) -> Self {
        let (unit, options) = (Unit::Reference, Ioptions::default());
        Self { name: name.into(), params: REFERENCE, unit, options, stream, segments, elf }
    }

    /// The functions of the program.
    pub(crate) fn functions(&self) -> Arc<Functions> {
        let mut symbols = Symbols::default();
        if let Some(elf) = &self.elf {
            symbols.add_elf(elf, 0, hartrace_isa::Xlen::Rv64);
        }
        let functions = symbols.functions().into_iter().map(|function| function.range);
        Arc::new(Functions::new(functions))
    }

    /// How to read it.
    pub(crate) fn config(&self) -> Config {
        Config { params: self.params, unit: self.unit, ..Config::default() }
    }

    /// The program.
    pub(crate) fn image(&self) -> Image {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        for (address, bytes) in &self.segments {
            image.add(*address, bytes);
        }
        image
    }

    /// The stream, repeated `times` times.
    pub(crate) fn reader(&self, times: usize) -> Repeat<'_> {
        Repeat { stream: &self.stream, rest: &[], times }
    }
}

/// Reads the same bytes several times, without copying them.
pub(crate) struct Repeat<'a> {
    stream: &'a [u8],
    rest: &'a [u8],
    times: usize,
}

impl Read for Repeat<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        // As much as there is room for, as from a file.
        let mut done = 0;
        while done < room.len() {
            if self.rest.is_empty() && self.times > 0 {
                self.rest = self.stream;
                self.times -= 1;
            }
            match self.rest.read(&mut room[done..])? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    }
}

/// Decodes a stream `times` times, as the command line does. Returns the result of `join`.
pub(crate) fn decode<S: Sink + Default + Send>(
    input: &Input,
    image: &Image,
    times: usize,
    threads: usize,
    mut join: impl FnMut(&mut S, S) + Send,
) -> S {
    let mut all = S::default();
    decode_into(input, image, times, threads, S::default, |part| join(&mut all, part));
    all
}

/// The same; `make` makes an empty part, and `join` takes each part in order.
pub(crate) fn decode_into<S: Sink + Send>(
    input: &Input,
    image: &Image,
    times: usize,
    threads: usize,
    make: impl Fn() -> S + Sync,
    mut join: impl FnMut(S) + Send,
) {
    let mut decode = Decode::new(input.config(), image, Transport::new(Framing::Reference));
    decode.options = input.options;
    decode.threads = NonZeroUsize::new(threads).expect("at least one");
    // As the command line does where there is one result at the end.
    decode.part = 1 << 20;
    let result = decode.run(
        input.reader(times),
        |_| make(),
        |part: Decoded<S>| {
            part.sinks.into_iter().for_each(|(_, sink)| join(sink));
            Ok::<(), Infallible>(())
        },
    );
    result.expect("nothing fails");
}

/// Follows call stacks, and counts calls.
pub(crate) fn follow_calls(
    input: &Input,
    image: &Image,
    times: usize,
    functions: &Arc<Functions>,
) -> (u64, u64) {
    let mut stack = CallStack::new(Arc::clone(functions), Calls(0));
    let make = || Transfers::new(Arc::clone(functions));
    decode_into(input, image, times, 1, make, |part| stack.replay(&part));
    (stack.instructions(), stack.finish().0)
}

struct Calls(u64);

impl calls::Visit for Calls {
    fn enter(&mut self, _: &Frame, _: u64) {
        self.0 += 1;
    }

    fn leave(&mut self, _: &Frame, _: u64) {}
}

/// Visits every address.
#[derive(Default)]
pub(crate) struct Visit {
    pub(crate) instructions: u64,
    pub(crate) sum: u64,
}

impl Visit {
    #[inline]
    pub(crate) fn visit(&mut self, pc: u64) {
        self.instructions += 1;
        self.sum = self.sum.wrapping_add(pc);
    }

    pub(crate) fn join(&mut self, next: Self) {
        self.instructions += next.instructions;
        self.sum = self.sum.wrapping_add(next.sum);
    }
}

impl Sink for Visit {
    const ADDRESSES: bool = true;

    #[inline]
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|pc| self.visit(pc));
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        path.addresses(|pc| self.visit(pc));
    }
}
