//! Linters report no warning on generated decoders.

use hartrace_decoder_hdl::etmv4::{Config, decoder};
use hartrace_decoder_hdl::{Decoder, analysis, etrace, frame, top, walker};
use hartrace_encap::EncapParams;
use hartrace_etmv4::Config as Unit;
use hartrace_etrace::{Params, Unit as Encoder};
use hartrace_hdl_tools::lint;
use libtest_mimic::Arguments;
use std::path::Path;
use std::process::ExitCode;

/// Decoders for E-Trace with few and many fields.
fn encoders() -> [(&'static str, etrace::Config); 4] {
    let params = Params { iaddress_width_p: 64, ..Params::default() };
    let encap = EncapParams::new(0, 0, 0).expect("no fields");
    let plain = etrace::Config { unroll: 4, params, unit: Encoder::Hartrace, encap, aligned: true };
    let many = Params {
        nocontext_p: false,
        notime_p: false,
        f0s_width_p: 1,
        bpred_size_p: 4,
        cache_size_p: 5,
        return_stack_size_p: 3,
        iaddress_lsb_p: 0,
        ..params
    };
    let encap = EncapParams::new(11, 8, 7).expect("widths are in range");
    let many = etrace::Config { params: many, encap, aligned: false, ..plain };
    [
        ("etrace_four_bytes", plain),
        ("etrace_one_byte", etrace::Config { unroll: 1, ..many }),
        ("etrace_three_bytes", etrace::Config { unroll: 3, ..many }),
        ("etrace_eight_bytes", etrace::Config { unroll: 8, ..many }),
    ]
}

/// Walkers behind two of them: with no tables of the encoder, and with all.
fn walkers() -> [(&'static str, walker::Config); 2] {
    let [(_, plain), .., (_, many)] = encoders();
    let small = walker::Config { rows: 2, ..walker::Config::new(plain, 256) };
    [("walker_plain", small), ("walker_many", walker::Config::new(many, 1 << 12))]
}

/// Everything in one module: behind a walker, behind frames, and with packets alone.
fn tops() -> [(&'static str, top::Config); 3] {
    let [_, (_, many)] = walkers();
    let [.., (_, three), _] = encoders();
    let framed = top::Config::new(Decoder::Etmv4(Config::default()));
    [
        ("top_walker", top::Config::new(Decoder::Follower(many))),
        ("top_frames", top::Config { frames: true, ..framed }),
        ("top_packets", top::Config::new(Decoder::Etrace(three))),
    ]
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let usual = Config::default();
    let ete = Unit { version: 0x53, vmid_bytes: 4, q: true, commopt: false, ..usual.unit };
    let bare = Unit { vmid_bytes: 0, context_id_bytes: 0, ..usual.unit };
    let configs = [
        ("one_byte", Config { unroll: 1, ..usual }),
        ("four_bytes", usual),
        ("eight_bytes", Config { unroll: 8, ..usual }),
        ("ete", Config { unit: ete, ..usual }),
        ("no_identifiers", Config { unit: bare, address_bits: 32, timestamp_bits: 48, ..usual }),
    ];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let trials = configs.into_iter().flat_map(|(name, config)| {
        let design = decoder(&config).expect("there is one").files();
        lint::trials(folder, name, &[design])
    });
    let encoders = encoders().into_iter().flat_map(|(name, config)| {
        let design = etrace::decoder(&config).expect("there is one").files();
        lint::trials(folder, name, &[design])
    });
    let stages = [1, 4].into_iter().flat_map(|decoders| {
        let design = frame::stage(&frame::Config { decoders }).expect("there is one").files();
        lint::trials(folder, &format!("frames_for_{decoders}"), &[design])
    });
    let walkers = walkers().into_iter().flat_map(|(name, config)| {
        let design = walker::walker(&config).expect("there is one").files();
        lint::trials(folder, name, &[design])
    });
    let usual = Config::default();
    let returns = Unit { return_stack: true, ..usual.unit };
    let arm = [
        ("etmv4_walker", Config { unit: returns, ..usual }),
        ("etmv4_walker_plain", Config { unit: ete, unroll: 1, ..usual }),
    ];
    let arm = arm.into_iter().flat_map(|(name, config)| {
        let config = walker::etmv4::Config::new(config, 1 << 10);
        let design = walker::etmv4::follower(&config).expect("there is one").files();
        lint::trials(folder, name, &[design])
    });
    let walkers = walkers.chain(arm);
    let usual = analysis::Config::default();
    let small = analysis::Config {
        address_bits: 32,
        lanes: 1,
        kinds: 1,
        lengths: 1,
        entries: 16,
        count_bits: 2,
        windows: 2,
        window_bits: 16,
        ..usual
    };
    let design = analysis::analysis(&small).expect("there is one").files();
    let analyses = lint::trials(folder, "small_analysis", &[design]);
    let tops = tops().into_iter().flat_map(|(name, config)| {
        let design = top::top(&config).expect("there is one").files();
        lint::trials(folder, name, &[design])
    });
    let all =
        trials.chain(encoders).chain(stages).chain(walkers).chain(analyses).chain(tops).collect();
    libtest_mimic::run(&arguments, all).exit_code()
}
