//! Linters report no warning on generated decoders.

use hartrace_decoder_hdl::etmv4::{Config, decoder};
use hartrace_etmv4::Config as Unit;
use hartrace_hdl_tools::lint;
use libtest_mimic::Arguments;
use std::path::Path;
use std::process::ExitCode;

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
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
