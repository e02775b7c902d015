//! Speed beside the peer crate, in one run, on the same packets.
//!
//! With `HARTRACE_DATA` on two streams of the reference flow, otherwise on a random walk. Every
//! figure is the best of several passes over the whole stream, from bytes to visited addresses,
//! starting with nothing decoded. The last lines are `ratio NAME VALUE`, ours over theirs.

mod input;

use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_decoder::{Count, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{Framing, Item};
use hartrace_etrace::{Ioptions, Params, Payload, Unit};
use input::{BOOT_ROM, Input};
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

fn main() {
    let mut ratios = Vec::new();
    match std::env::var_os("HARTRACE_DATA") {
        Some(data) => {
            for (name, program) in [("coremark_3m", "coremark"), ("dhrystone", "dhrystone")] {
                let input = Input::vector(Path::new(&data), name, program);
                let elf = input::read(&input::elf_path(Path::new(&data), program));
                measure(&input, Some(&elf), &mut ratios);
            }
        }
        None => measure(&Input::walk(), None, &mut ratios),
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
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

impl Sink for Visit {
    #[inline]
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|pc| {
            self.instructions += 1;
            self.sum = self.sum.wrapping_add(pc);
        });
    }
}

fn ours<S: Sink + Default>(input: &Input, image: &Image) -> S {
    let config = input.config();
    let layout = config.params.layout(config.unit).expect("legal");
    let mut tracer = Tracer::new(config, image).expect("legal");
    let mut sink = S::default();
    for (packet, item) in Framing::Reference.frames(&input.stream).enumerate() {
        let (byte, Item::Frame(frame)) = item.expect("frames") else { continue };
        let payload = Payload::parse(&layout, tracer.options(), &mut frame.payload());
        let at = StreamPos { packet: packet as u64, byte };
        tracer.feed(at, &payload.expect("payloads"), &mut sink);
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
    let image = input.image();
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

fn measure(input: &Input, elf: Option<&[u8]>, ratios: &mut Vec<(String, f64)>) {
    let image = input.image();
    let (visit_time, visit) = best(|| ours::<Visit>(input, &image));
    let (count_time, count) = best(|| ours::<Count>(input, &image));
    let (parse_time, packets) = best(|| ours_parse(input));
    assert_eq!((count.instructions, count.gaps), (visit.instructions, 0));

    // As in the peer's example: the ELF file, boxed, with the boot ROM beside it.
    let elf_time = elf.map(|elf| {
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
