//! Linters report no warnings about the RTL of the named configurations, nor about the corners of
//! the parameters. Random configurations are checked where they are simulated, in `sim/lockstep`.

use hartrace_encoder_hdl::compressors::{self, RunLength, Sdc, Tmbp, Widths, sdc, tmbp};
use hartrace_encoder_hdl::{Compression, Config, Overflow, ResyncUnit, encoder};
use hartrace_etrace::Params;
use hartrace_hdl_tools::lint::Design;
use hartrace_rtl::Component;
use libtest_mimic::Arguments;
use std::path::Path;

fn main() {
    let args = Arguments::from_args();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut trials = Vec::new();
    for (name, config) in Config::all_named() {
        trials.extend(hartrace_hdl_tools::lint::trials(folder, &name, &[design(&config)]));
    }
    let designs: Vec<Design> = corners().iter().map(design).collect();
    let name = format!("corners_{}", designs.len());
    trials.extend(hartrace_hdl_tools::lint::trials(folder, &name, &designs));
    let designs: Vec<Design> = compressors().iter().map(Component::files).collect();
    let name = format!("compressors_{}", designs.len());
    trials.extend(hartrace_hdl_tools::lint::trials(folder, &name, &designs));
    libtest_mimic::run(&args, trials).exit();
}

fn design(config: &Config) -> Design {
    encoder(config).expect("a legal configuration").files()
}

/// The named compressors, and some with parameters at their limits.
fn compressors() -> Vec<Component> {
    let widths = |size, step| Widths { size, step };
    let smallest = Tmbp {
        xlen: 32,
        entries: 2,
        bhr_bits: 1,
        ras: 0,
        pc_shift: 0,
        whole_targets: false,
        branches: widths(32, 32),
        targets: widths(31, 32),
        instructions: widths(1, 32),
        counter_bits: 8,
        ..Tmbp::TINY
    };
    let largest = Tmbp {
        entries: 1 << 16,
        bhr_bits: 16,
        ras: 256,
        ibtb: 1 << 15,
        ways: 8,
        pc_shift: 12,
        path_targets: true,
        branches: widths(1, 1),
        targets: widths(1, 1),
        instructions: widths(1, 1),
        ..Tmbp::BASE
    };
    let others = [
        smallest,
        Tmbp { ibtb: 2, ways: 1, ..smallest },
        Tmbp { ras: 2, ..smallest },
        largest,
        Tmbp { xlen: 32, ras: 0, ..largest },
        Tmbp::TINY,
        Tmbp::SMALL,
    ];
    let smallest = Sdc {
        xlen: 32,
        entries: 4,
        ways: 2,
        shift: 1,
        run: RunLength { w0: 1, wmin: 1, wmax: 1, m0: 1 },
    };
    let largest = Sdc {
        entries: 1 << 16,
        ways: 16,
        shift: 7,
        run: RunLength { w0: 32, wmin: 2, wmax: 32, m0: 14 },
        ..Sdc::REDUCED
    };
    let caches = [smallest, largest, Sdc { xlen: 32, ..largest }];
    let named = compressors::NAMES.iter().map(|name| compressors::named(name).expect("a name"));
    let others = others.iter().map(|config| tmbp(config).expect("legal parameters"));
    let caches = caches.iter().map(|config| sdc(config).expect("legal parameters"));
    named.chain(others).chain(caches).collect()
}

/// All parameters at their minimum and at their maximum, and each feature removed or added on its
/// own.
fn corners() -> Vec<Config> {
    let smallest = Config {
        lanes: 1,
        iretire_width_p: 2,
        itype_width_p: 3,
        full_address: false,
        ingress_depth: 2,
        resync: vec![ResyncUnit::Packets],
        overflow: Overflow::Drop,
        etrace: Params {
            iaddress_width_p: 24,
            iaddress_lsb_p: 2,
            privilege_width_p: 1,
            ecause_width_p: 1,
            ..Params::default()
        },
        ..Config::default()
    };
    let largest = Config {
        lanes: 4,
        iretire_width_p: 16,
        itype_width_p: 4,
        full_address: true,
        implicit_exception: true,
        triggers: true,
        comparators: 3,
        context_comparators: 3,
        tval_comparators: 2,
        filter_excint_p: true,
        permission: false,
        ingress_depth: 128,
        pack: false,
        resync: vec![ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords],
        overflow: Overflow::Stall,
        compression: Compression::Bits,
        etrace: Params {
            iaddress_width_p: 64,
            iaddress_lsb_p: 0,
            privilege_width_p: 8,
            ecause_width_p: 6,
            context_width_p: 32,
            nocontext_p: false,
            time_width_p: 32,
            notime_p: false,
            f0s_width_p: 2,
            bpred_size_p: 10,
            cache_size_p: 8,
            return_stack_size_p: 8,
            call_counter_size_p: 0,
            sijump_p: true,
            hpred_size_p: 0,
        },
    };
    let mut corners = vec![smallest.clone(), largest.clone()];
    let mut change = |config: &Config, change: &dyn Fn(&mut Config)| {
        let mut config = config.clone();
        change(&mut config);
        corners.push(config);
    };
    change(&largest, &|c| {
        (c.comparators, c.context_comparators, c.tval_comparators) = (8, 0, 0);
        c.etrace.ecause_width_p = 16;
        c.filter_excint_p = false;
    });
    change(&largest, &|c| {
        c.pack = true;
        c.etrace.notime_p = true;
    });
    change(&smallest, &|c| {
        c.pack = true;
        c.lanes = 3;
    });
    for (small, large) in [(&smallest, &largest), (&largest, &smallest)] {
        change(small, &|c| c.lanes = large.lanes);
        change(small, &|c| c.ingress_depth = large.ingress_depth);
        change(small, &|c| c.resync = large.resync.clone());
        change(small, &|c| c.comparators = large.comparators);
        change(small, &|c| c.filter_excint_p = large.filter_excint_p);
        change(small, &|c| c.tval_comparators = large.tval_comparators);
        change(small, &|c| c.triggers = large.triggers);
        change(small, &|c| c.overflow = large.overflow);
        change(small, &|c| {
            c.etrace.nocontext_p = large.etrace.nocontext_p;
            c.context_comparators = large.context_comparators;
        });
        change(small, &|c| c.etrace.cache_size_p = large.etrace.cache_size_p);
        change(small, &|c| c.etrace.bpred_size_p = large.etrace.bpred_size_p);
        change(small, &|c| c.etrace.iaddress_lsb_p = large.etrace.iaddress_lsb_p);
    }
    change(&largest, &|c| {
        c.etrace.return_stack_size_p = 0;
        c.etrace.call_counter_size_p = 8;
    });
    change(&largest, &|c| {
        (c.compression, c.triggers) = (Compression::Bytes, false);
        c.etrace.return_stack_size_p = 0;
    });
    for (config, privilege_width_p) in [(&smallest, 2), (&largest, 3)] {
        change(config, &|c| {
            c.permission = true;
            c.etrace.privilege_width_p = privilege_width_p;
        });
    }
    corners
}
