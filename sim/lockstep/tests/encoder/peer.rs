//! The payloads of the RTL, decoded by a decoder that others wrote: the peer crate `riscv-etrace`.
//!
//! It follows delta mode and full addresses. Nothing is lost, as the hart is stalled, so that it has to find every
//! instruction. `docs/peer-differences.md` lists what it does otherwise; these programs contain one of it.

use crate::bundled::{Executed, bundled};
use crate::gaps::addresses;
use hartrace_decoder::Image;
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_etrace::{Ioptions, Params};
use hartrace_executions::executed::Instructions;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::{Bench, Seen, Setting, Traffic};
use libtest_mimic::{Failed, Trial};
use riscv_etrace::binary::{self, error::NoInstruction};
use riscv_etrace::config::Parameters;
use riscv_etrace::instruction::{Instruction, base, bits::Bits};
use riscv_etrace::packet;
use riscv_etrace::tracer::{self, Tracer};
use riscv_etrace::types::stack::VecStack;
use std::num::NonZeroU8;

/// Instructions of each program.
const STEPS: u64 = 20_000;

/// Configurations, and programs for their harts. The peer has no payloads in bytes.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("micro", &["interrupts-rv32"]),
    ("small", &["sort", "calls", "crypto", "interrupts"]),
    ("cva6", &["sort", "calls", "crypto", "interrupts"]),
    ("full", &["sort", "calls", "crypto", "interrupts"]),
];

/// An instruction for addresses without code. A hart may trap there, and the peer wants one nevertheless (P20).
const NOP: u32 = 0x13;

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let trial = |(name, programs): (&'static str, &'static [&'static str])| {
        let run = move || check(name, programs);
        Trial::test(format!("peer/{name}"), run).with_ignored_flag(missing)
    };
    PROGRAMS.into_iter().map(trial).collect()
}

fn check(name: &str, programs: &[&str]) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let config = Config { overflow: Overflow::Stall, ..config };
    let mut bench = Bench::new(&config, &Options::default())?;
    let mut sum = 0;
    for program in programs {
        let executed = bundled(program, STEPS, &config, config.lanes.into())?;
        let instructions = Instructions::of(&executed.image);
        let expected = addresses(&executed.rows, &instructions);
        for full_address in [false, true] {
            if full_address && !config.full_address {
                continue;
            }
            let payloads = traced(&mut bench, &executed, full_address)?;
            let decoded = decoded(&config.etrace, &executed.image, &payloads, expected.len())
                .map_err(|error| format!("{program}: {error}"))?;
            if decoded != expected {
                let pairs = decoded.iter().zip(&expected);
                let at = pairs.take_while(|(ours, theirs)| ours == theirs).count();
                let (found, all) = (decoded.get(at), expected.len());
                return Err(format!("{program}: {found:x?} as number {at} of {all}").into());
            }
            sum += expected.len();
        }
    }
    println!("{name}: {sum} instructions found by the peer");
    Ok(())
}

/// The payloads of the RTL.
fn traced(bench: &mut Bench, on: &Executed, full_address: bool) -> Result<Vec<Vec<u8>>, Failed> {
    let mut payloads = Vec::new();
    let mut watch = |seen: Seen<'_>| {
        if let Seen::Payload(bytes, _) = seen {
            payloads.push(bytes.to_vec());
        }
    };
    let options = Ioptions { full_address, ..Ioptions::default() };
    let setting = Setting { options, resync: (1, 4), ..Setting::default() };
    bench.restart(1)?;
    let traffic = Traffic { back_pressure: 200, idle: 100, ..Traffic::default() };
    let mut session = bench.start(&setting, traffic, &mut watch)?;
    session.push(&on.rows)?;
    session.finish()?;
    Ok(payloads)
}

/// The addresses that the peer finds. A wrong path may have no end, so it is left when there are too many.
fn decoded(
    params: &Params,
    image: &Image,
    payloads: &[Vec<u8>],
    most: usize,
) -> Result<Vec<u64>, String> {
    let width = |value| NonZeroU8::new(value).ok_or("a width of 0");
    let theirs = Parameters {
        iaddress_width_p: width(params.iaddress_width_p)?,
        iaddress_lsb_p: params.iaddress_lsb_p,
        privilege_width_p: width(params.privilege_width_p)?,
        ecause_width_p: width(params.ecause_width_p)?,
        return_stack_size_p: params.return_stack_size_p,
        cache_size_p: params.cache_size_p,
        f0s_width_p: params.f0s_width_p,
        nocontext_p: params.nocontext_p,
        notime_p: params.notime_p,
        sijump_p: params.sijump_p,
        ..Parameters::default()
    };
    let set = if params.iaddress_width_p > 32 { base::Set::Rv64I } else { base::Set::Rv32I };
    let fetch = |address| {
        let bits = Bits::try_from(image.encoding(address).unwrap_or(NOP)).ok();
        bits.map(|bits| Instruction::decode(bits, &set)).ok_or(NoInstruction)
    };
    let built = tracer::builder().with_binary(binary::from_fn(fetch)).with_params(&theirs).build();
    let mut tracer: Tracer<_, VecStack> = built.map_err(|error| format!("{error:?}"))?;
    let mut found = Vec::new();
    for (number, bytes) in payloads.iter().enumerate() {
        let at = |error: &dyn std::fmt::Display| format!("payload {number}: {error}");
        let parsed = packet::builder().with_params(&theirs).decoder(bytes).decode_payload();
        tracer.process_te_inst(&parsed.map_err(|error| at(&error))?).map_err(|error| at(&error))?;
        for item in tracer.by_ref() {
            let item = item.map_err(|error| at(&error))?;
            if item.instruction().is_some() {
                found.push(item.pc());
            }
            if found.len() > most {
                return Err(at(&"more instructions than were executed"));
            }
        }
    }
    Ok(found)
}
