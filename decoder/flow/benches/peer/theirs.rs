//! The same benchmarks with the peer crate.

use crate::input::{BOOT_ROM, Input, Visit};
use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_etrace::Params;
use riscv_etrace::binary::{self, Adaptable, Binary};
use riscv_etrace::config::Parameters;
use riscv_etrace::instruction::{Instruction, Kind, base, bits::Bits};
use riscv_etrace::{packet, tracer};
use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU8;
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

/// Decodes a stream `times` times.
fn decode<B>(input: &Input, times: usize, binary: B) -> Visit
where
    B: Binary<Option<Kind>>,
    B::Error: std::fmt::Debug,
{
    let params = parameters(&input.params);
    let stream = input.stream.repeat(times);
    let mut decoder = packet::builder().with_params(&params).decoder(&stream);
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

/// Parses all packets; returns their number.
pub(crate) fn parse(input: &Input) -> u64 {
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

/// Every instruction, decoded in advance: the best input that a caller can give the peer.
pub(crate) fn table(input: &Input) -> HashMap<u64, Instruction> {
    let image = input.image();
    let mut table = HashMap::new();
    for (start, bytes) in &input.segments {
        for offset in (0..bytes.len() as u64).step_by(2) {
            let at = offset as usize;
            let mut word = [0; 4];
            let rest = &bytes[at..];
            let len = rest.len().min(4);
            word[..len].copy_from_slice(&rest[..len]);
            // The peer needs only the instruction.
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

/// With the ELF file, boxed, and the boot ROM beside it, as in the peer's example.
pub(crate) fn with_elf(input: &Input, times: usize, elf: &[u8]) -> Visit {
    let file = ElfBytes::<LittleEndian>::minimal_parse(elf).expect("an ELF file");
    let program: binary::elf::Elf<'_, _, _, base::Set> =
        binary::elf::Elf::new(file).expect("an ELF file");
    let rom: Vec<u8> = BOOT_ROM.iter().flat_map(|word| word.to_le_bytes()).collect();
    let rom = binary::from_segment(rom, base::Set::Rv64I).with_offset(0x1000).boxed();
    decode(input, times, binary::Multi::from(vec![program.boxed(), rom]))
}

/// With a prepared table.
pub(crate) fn with_table(input: &Input, times: usize, table: &HashMap<u64, Instruction>) -> Visit {
    let fetch = |address| table.get(&address).cloned().ok_or(binary::error::NoInstruction);
    decode(input, times, binary::from_fn(fetch))
}
