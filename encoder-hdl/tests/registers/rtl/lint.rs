//! Parameters for linters.

use crate::configs::{Design, atb, encoders, ram_sinks, random_encoder};
use fastrand::Rng;
use hartrace_encoder_hdl::registers::{
    AxiBridge, EncoderParams, RamSinkParams, apb_split, axi_to_apb,
};

/// Parameters at their corners, and some at random.
pub(crate) fn corners() -> Vec<hartrace_hdl_tools::lint::Design> {
    let mut rng = Rng::with_seed(2);
    let mut designs: Vec<Design> = encoders()
        .into_iter()
        .chain(ram_sinks())
        .chain([atb()])
        .map(|(_, design)| design)
        .collect();
    for address_width in [4, 32, 33, 64] {
        for address_lsb in 0..=2 {
            for comparators in [0, 1, 8] {
                designs.push(Design::Encoder(EncoderParams {
                    address_width,
                    address_lsb,
                    filters: comparators.max(1),
                    comparators,
                    tval_comparators: u32::from(comparators == 1),
                    context_comparators: u32::from(comparators < 8),
                    ..random_encoder(&mut rng)
                }));
            }
        }
    }
    for address_width in [12, 13, 32, 33, 64] {
        for word_bytes in [4, 8, 16, 32] {
            for null_runs in [false, true] {
                let params = RamSinkParams { address_width, word_bytes, null_runs };
                designs.push(Design::RamSink(params));
            }
        }
    }
    let bridges = [(4, 1, 12), (4, 4, 13), (8, 5, 13), (8, 32, 32), (8, 1, 3)].map(
        |(data_bytes, id_width, addr_width)| {
            axi_to_apb(AxiBridge { data_bytes, id_width, addr_width })
        },
    );
    let components = designs.iter().map(Design::component).chain([2, 3, 4, 16].map(apb_split));
    let components = components.chain(bridges);
    components.map(|component| component.files()).collect()
}
