//! Speed beside the peer crate, in one run, on the same packets.
//!
//! With `HARTRACE_DATA` on two streams of the reference flow, otherwise on a random walk. Every
//! figure is the best of several passes over the whole stream, from bytes to visited addresses,
//! starting with nothing decoded. The last lines are `ratio NAME VALUE`, ours over theirs.

use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_decoder::{Config, Count, Image, Path, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Ioptions, Params, Payload, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::EncoderConfig;
use hartrace_isa::{Isa, Xlen};
use hartrace_walk::{Shape, generate};
use riscv_etrace::binary::{self, Adaptable, Binary};
use riscv_etrace::config::Parameters;
use riscv_etrace::instruction::{Instruction, Kind, base, bits::Bits};
use riscv_etrace::{packet, tracer};
use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU8;
use std::path::Path;
use std::time::Instant;

const PASSES: usize = 7;

struct Input {
    name: &'static str,
    params: Params,
    /// te_inst_raw.
    stream: Vec<u8>,
    segments: Vec<(u64, Vec<u8>)>,
    elf: Option<Vec<u8>>,
}

const REFERENCE: Params = Params {
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
};

/// The simulator's reset code, which is in no ELF file.
const BOOT_ROM: [u32; 5] = [0x0000_0297, 0x0202_8593, 0xf140_2573, 0x0182_b283, 0x0002_8067];

fn main() {
    let inputs = match std::env::var_os("HARTRACE_DATA") {
        Some(data) => vec![
            vector(Path::new(&data), "coremark_3m", "coremark"),
            vector(Path::new(&data), "dhrystone", "dhrystone"),
        ],
        None => vec![walk()],
    };
    let mut ratios = Vec::new();
    for input in &inputs {
        measure(input, &mut ratios);
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
}

fn vector(data: &Path, name: &'static str, program: &str) -> Input {
    let folder = data.join("etrace-reference");
    let read = |path: &Path| {
        std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let stream = read(&folder.join(format!("packets/itype4_nocontext_r10/{name}.te_inst_raw")));
    let elf = read(&folder.join(format!("elf/{program}.riscv")));
    let file = ElfBytes::<LittleEndian>::minimal_parse(&elf).expect("an ELF file");
    let loads = file.segments().expect("segments").iter().filter(|s| s.p_type == elf::abi::PT_LOAD);
    let mut segments: Vec<(u64, Vec<u8>)> =
        loads.map(|s| (s.p_vaddr, file.segment_data(&s).expect("segment data").to_vec())).collect();
    segments.push((0x1000, BOOT_ROM.iter().flat_map(|word| word.to_le_bytes()).collect()));
    Input { name, params: REFERENCE, stream, segments, elf: Some(elf) }
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
    Input { name: "walk", params: REFERENCE, stream, segments: walk.program.segments, elf: None }
}

/// Seconds of the best pass, and what it returned.
fn best<T>(mut pass: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..PASSES {
        let start = Instant::now();
        let value = black_box(pass());
        best = best.min(start.elapsed().as_secs_f64());
        result = Some(value);
    }
    (best, result.expect("at least one pass"))
}

/// Visits every address.
#[derive(Default)]
struct Visit {
    instructions: u64,
    sum: u64,
}

impl Visit {
    #[inline]
    fn visit(&mut self, pc: u64) {
        self.instructions += 1;
        self.sum = self.sum.wrapping_add(pc);
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

fn ours<S: Sink + Default>(input: &Input, image: &Image) -> S {
    let config = Config { params: input.params, unit: Unit::Reference, ..Config::default() };
    let mut tracer = Tracer::new(config, image).expect("legal");
    let mut sink = S::default();
    for (packet, item) in Framing::Reference.frames(&input.stream).enumerate() {
        let (byte, Item::Frame(frame)) = item.expect("frames") else { continue };
        tracer.feed_bits(StreamPos { packet: packet as u64, byte }, frame.payload(), &mut sink);
    }
    tracer.finish(&mut sink);
    sink
}

fn ours_parse(input: &Input) -> u64 {
    let layout = input.params.layout(Unit::Reference).expect("legal");
    let mut count = 0;
    for item in Framing::Reference.frames(&input.stream) {
        let (_, Item::Frame(frame)) = item.expect("frames") else { continue };
        let payload = Payload::parse(&layout, Ioptions::default(), &mut frame.payload());
        black_box(payload.expect("payloads"));
        count += 1;
    }
    count
}

fn parameters(p: &Params) -> Parameters {
    let width = |value: u8| NonZeroU8::new(value).expect("not zero");
    Parameters {
        cache_size_p: p.cache_size_p,
        call_counter_size_p: p.call_counter_size_p,
        context_width_p: width(p.context_width_p),
        time_width_p: width(p.time_width_p),
        ecause_width_p: width(p.ecause_width_p),
        f0s_width_p: p.f0s_width_p,
        iaddress_lsb_p: p.iaddress_lsb_p,
        iaddress_width_p: width(p.iaddress_width_p),
        nocontext_p: p.nocontext_p,
        notime_p: p.notime_p,
        privilege_width_p: width(p.privilege_width_p),
        return_stack_size_p: p.return_stack_size_p,
        sijump_p: p.sijump_p,
    }
}

fn theirs<B>(input: &Input, binary: B) -> Visit
where
    B: Binary<Option<Kind>>,
    B::Error: std::fmt::Debug,
{
    let params = parameters(&input.params);
    let mut decoder = packet::builder().with_params(&params).decoder(&input.stream);
    let mut tracer: tracer::Tracer<_> =
        tracer::builder().with_binary(binary).with_params(&params).build().expect("a tracer");
    let mut visit = Visit::default();
    while decoder.bytes_left() > 0 {
        let packet = decoder.decode_smi_packet().expect("packets");
        let payload = packet.decode_payload().expect("payloads");
        tracer.process_payload(&payload).expect("a path");
        for item in tracer.by_ref() {
            let item = item.expect("a path");
            if item.instruction().is_some() {
                visit.instructions += 1;
                visit.sum = visit.sum.wrapping_add(item.pc());
            }
        }
    }
    visit
}

fn theirs_parse(input: &Input) -> u64 {
    let params = parameters(&input.params);
    let mut decoder = packet::builder().with_params(&params).decoder(&input.stream);
    let mut count = 0;
    while decoder.bytes_left() > 0 {
        let packet = decoder.decode_smi_packet().expect("packets");
        black_box(packet.decode_payload().expect("payloads"));
        count += 1;
    }
    count
}

/// Every instruction, decoded beforehand: the best a caller can give the peer.
fn table(input: &Input) -> HashMap<u64, Instruction> {
    let image = image(input);
    let mut table = HashMap::new();
    for (start, bytes) in &input.segments {
        for offset in (0..bytes.len() as u64).step_by(2) {
            let at = offset as usize;
            let mut word = [0; 4];
            let rest = &bytes[at..];
            let len = rest.len().min(4);
            word[..len].copy_from_slice(&rest[..len]);
            // The peer wants no more than the instruction.
            let Some(insn) = image.insn(start + offset) else { continue };
            let mask = if insn.size == 2 { 0xffff } else { u32::MAX };
            if let Ok(bits) = Bits::try_from(u32::from_le_bytes(word) & mask) {
                let insn = Instruction::decode(bits, &base::Set::Rv64I);
                table.insert(start + offset, insn);
            }
        }
    }
    table
}

fn image(input: &Input) -> Image {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    for (address, bytes) in &input.segments {
        image.add(*address, bytes);
    }
    image
}

fn measure(input: &Input, ratios: &mut Vec<(String, f64)>) {
    let image = image(input);
    let (visit_time, visit) = best(|| ours::<Visit>(input, &image));
    let (count_time, count) = best(|| ours::<Count>(input, &image));
    let (parse_time, packets) = best(|| ours_parse(input));
    assert_eq!((count.instructions, count.gaps), (visit.instructions, 0));

    // As in the peer's example: the ELF file, boxed, with the boot ROM beside it.
    let elf_time = input.elf.as_ref().map(|elf| {
        let (time, theirs) = best(|| {
            let file = ElfBytes::<LittleEndian>::minimal_parse(elf).expect("an ELF file");
            let program: binary::elf::Elf<'_, _, _, base::Set> =
                binary::elf::Elf::new(file).expect("an ELF file");
            let program = program.boxed();
            let rom: Vec<u8> = BOOT_ROM.iter().flat_map(|word| word.to_le_bytes()).collect();
            let rom = binary::from_segment(rom, base::Set::Rv64I).with_offset(0x1000).boxed();
            theirs(input, binary::Multi::from(vec![program, rom]))
        });
        assert_eq!((theirs.instructions, theirs.sum), (visit.instructions, visit.sum));
        time
    });
    let table = table(input);
    let (table_time, theirs_table) = best(|| {
        let fetch = |address| table.get(&address).cloned().ok_or(binary::error::NoInstruction);
        theirs(input, binary::from_fn(fetch))
    });
    assert_eq!((theirs_table.instructions, theirs_table.sum), (visit.instructions, visit.sum));
    let (their_parse_time, their_packets) = best(|| theirs_parse(input));
    assert_eq!(packets, their_packets);

    let rate = |time: f64| visit.instructions as f64 / time / 1e6;
    let bytes = |time: f64| input.stream.len() as f64 / time / 1e6;
    println!("{}: {} instructions, {packets} packets", input.name, visit.instructions);
    println!("  ours, every address     {:9.1} M instructions/s", rate(visit_time));
    println!("  ours, counting          {:9.1} M instructions/s", rate(count_time));
    if let Some(time) = elf_time {
        println!("  peer, ELF               {:9.1} M instructions/s", rate(time));
    }
    println!("  peer, prepared table    {:9.1} M instructions/s", rate(table_time));
    println!("  ours, packets only      {:9.1} MB/s", bytes(parse_time));
    println!("  peer, packets only      {:9.1} MB/s", bytes(their_parse_time));

    let mut ratio = |what: &str, value: f64| ratios.push((format!("{}-{what}", input.name), value));
    if let Some(time) = elf_time {
        ratio("addresses-over-peer-elf", time / visit_time);
        ratio("counting-over-peer-elf", time / count_time);
    }
    ratio("addresses-over-peer-table", table_time / visit_time);
    ratio("counting-over-peer-table", table_time / count_time);
    ratio("packets-over-peer", their_parse_time / parse_time);
}
