//! The generated E-Trace decoder against software: every record, whatever the bytes are.

use hartrace_decoder_hdl::etrace::Config;
use hartrace_encap::EncapParams;
use hartrace_etrace::{Params, Unit};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::decoder::etrace::random::{self, Stream};
use hartrace_lockstep::decoder::{EtraceBench, EtraceReport, Lanes};
use libtest_mimic::{Failed, Trial};

/// An encoder of CVA6 with all modes, and its encapsulation.
fn everything(unroll: u32) -> Config {
    let params = Params {
        iaddress_width_p: 64,
        ecause_width_p: 6,
        f0s_width_p: 1,
        bpred_size_p: 6,
        cache_size_p: 4,
        return_stack_size_p: 3,
        ..Params::default()
    };
    let encap = EncapParams::new(0, 0, 0).unwrap_or_else(|error| panic!("{error}"));
    Config { unroll, params, unit: Unit::Hartrace, encap, aligned: false }
}

/// Some bits of srcID, type and timestamp share bytes, and there are other fields.
fn unaligned(unroll: u32) -> Config {
    let config = everything(unroll);
    let encap = EncapParams::new(11, 3, 7).and_then(|encap| encap.with_instruction_type(2));
    let encap = encap.unwrap_or_else(|error| panic!("{error}"));
    let params = Params {
        iaddress_width_p: 39,
        iaddress_lsb_p: 0,
        context_width_p: 17,
        nocontext_p: false,
        time_width_p: 40,
        notime_p: false,
        ..config.params
    };
    Config { params, encap, unit: Unit::Reference, aligned: true, ..config }
}

/// Checks a report; every stream must have this many records that can be decoded.
fn check(what: &str, report: &EtraceReport, least: u64) -> Result<(), Failed> {
    let decoded: u64 = report.records[..8].iter().sum();
    if report.differences > 0 || decoded < least {
        let first = report.first.as_deref().unwrap_or_default();
        let EtraceReport { differences, records, .. } = report;
        return Err(format!("{what}: {differences} differences in {records:?}: {first}").into());
    }
    Ok(())
}

fn trial(config: &Config, len: usize, all_formats: bool) -> Result<(), Failed> {
    let bench = EtraceBench::new(config, &Options::default())?;
    let seed = u64::from(config.unroll);
    let source = 0x5a5a & ((1u32 << config.encap.src_id_bits()) - 1) as u16;
    let stream = |fill: &dyn Fn(&mut Stream)| -> Result<Vec<u8>, Failed> {
        let mut stream = Stream::new(config, source, seed)?;
        fill(&mut stream);
        Ok(stream.bytes().to_vec())
    };
    let packets = stream(&|stream| stream.packets(len))?;
    for lanes in [Lanes::Full, Lanes::Holes(seed)] {
        let report = bench.compare(&packets, source, lanes)?;
        check("packets", &report, len as u64 / 40)?;
        if all_formats && report.records.contains(&0) {
            return Err(format!("not every format and fault: {:?}", report.records).into());
        }
        if report.known < len as u64 / 100 {
            return Err(format!("only {} addresses are known", report.known).into());
        }
        if lanes == Lanes::Full && report.cycles != report.bytes.div_ceil(config.unroll.into()) {
            return Err(format!("{} bytes in {} cycles", report.bytes, report.cycles).into());
        }
    }
    let shortest = stream(&|stream| stream.shortest(len))?;
    check("shortest", &bench.compare(&shortest, source, Lanes::Full)?, 100)?;
    let damaged = stream(&|stream| stream.damaged(len))?;
    for lanes in [Lanes::Full, Lanes::Holes(!seed)] {
        check("damaged", &bench.compare(&damaged, source, lanes)?, 100)?;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let random: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(len).collect();
    // Without a run of null packets, nothing is decoded, unless the stream starts with a header.
    check("random", &bench.compare(&random, source, Lanes::Full)?, 0)
}

/// The trials of this decoder.
pub(crate) fn trials(len: usize, missing: bool) -> Vec<Trial> {
    // Streams are compared five times, and records are wide.
    let len = len / 10;
    let mut trials = Vec::new();
    for unroll in 1..=8 {
        let mut configs = vec![("everything", everything(unroll), true)];
        if [1, 3, 4, 8].contains(&unroll) {
            configs.push(("unaligned", unaligned(unroll), true));
        } else {
            configs.push(("random", random::config(unroll, unroll.into()), false));
        }
        for (name, config, all_formats) in configs {
            let test = move || {
                trial(&config, len, all_formats)
                    .map_err(|error| format!("{config:?}: {:?}", error.message()).into())
            };
            let name = format!("etrace_{name}_{unroll}");
            trials.push(Trial::test(name, test).with_ignored_flag(missing));
        }
    }
    trials
}
