//! Proof that every committed instruction is in exactly one block, and in order; the same for traps.
//!
//! An instruction and a trap that the prover chooses are followed: [`follow`] claims what has to hold at the
//! ports. That it holds in any run is shown by induction, with where things are within: [`direct`],
//! [`serialised`].

mod direct;
mod follow;
mod serialised;
mod walk;

use follow::Follow;
use hartrace_cva6_connector::{Building, Config};
use hartrace_prove::{Proof, run};
use hartrace_rtl::Component;
use std::path::Path;

fn main() {
    let mut proofs = Vec::new();
    for building in [Building::Direct, Building::Serialised] {
        for lanes in [1, 2] {
            let config = Config {
                lanes,
                building,
                xlen: 32,
                itype_width_p: 3,
                iretire_width_p: 3,
                ecause_width_p: 1,
                fifo_depth: 2,
                ..Config::default()
            };
            let name = format!("{building:?}_{lanes}").to_lowercase();
            // Cycles in which a mistake has to show.
            let proof = Proof::bounded(&name, &rig(&config, false), 9)
                .by_induction(&rig(&config, true), 3)
                .refuted_without("debug_i");
            proofs.push(match building {
                Building::Direct => proof
                    .refuted_without("compressed_i")
                    .refuted_without("taken_i")
                    .refuted_without("trap_pc_i")
                    .refuted_without("priv_i")
                    .refuted_by("open_d & closes", "open_d & 1'b0"),
                _ => proof,
            });
        }
    }
    run(Path::new(env!("CARGO_TARGET_TMPDIR")), proofs)
}

/// The claims, and the invariants with which they hold by induction.
fn rig(config: &Config, invariants: bool) -> Component {
    let follow = Follow::new(config);
    if invariants {
        match config.building {
            Building::Direct => direct::invariants(&follow),
            Building::Serialised => serialised::invariants(&follow),
        }
    }
    follow.rig.finish()
}
