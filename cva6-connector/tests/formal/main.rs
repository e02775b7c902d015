//! Proof that every committed instruction is in exactly one block, and in order; the same for traps.
//!
//! The prover chooses an instruction and a trap, which are followed: [`follow`] claims what must
//! hold at the ports. Induction shows that it holds in any run, with invariants on the positions
//! within the connector: [`direct`], [`serialised`]. Of the slices that let a core wait, see [`hold`].

mod claims;
mod direct;
mod hold;
mod permission;
mod serialised;
mod walk;

use claims::{Claims, Part};
use hartrace_cva6_connector::{Building, Config};
use hartrace_hdl_tools::prove::{Proof, run};
use hartrace_rtl::Component;
use std::path::Path;

fn main() {
    let mut proofs = Vec::new();
    for building in [Building::Direct, Building::Serialised] {
        for lanes in [1, 2] {
            for part in [Part::Counts, Part::Instruction, Part::Trap, Part::Loss] {
                proofs.push(proof(building, lanes, part));
            }
        }
    }
    proofs.extend(hold::proofs());
    proofs.extend(permission::proofs());
    run(Path::new(env!("CARGO_TARGET_TMPDIR")), proofs)
}

fn config(building: Building, lanes: u8) -> Config {
    Config {
        lanes,
        building,
        holds: true,
        xlen: 32,
        itype_width_p: 3,
        iretire_width_p: 3,
        ecause_width_p: 1,
        fifo_depth: 2,
        ..Config::default()
    }
}

fn proof(building: Building, lanes: u8, part: Part) -> Proof {
    let config = config(building, lanes);
    let name = format!("{building:?}_{lanes}_{part:?}").to_lowercase();
    // A mistake must show within this number of cycles.
    let proof = Proof::bounded(&name, &rig(&config, part, false), 9);
    let proof = match part {
        // No invariants have been written for it.
        Part::Loss => proof.refuted_without("lost_i").refuted_without("empty_o"),
        _ => proof.by_induction(&rig(&config, part, true), 2),
    };
    // The possible mistakes at the ports are the same for all.
    let proof = match part {
        Part::Loss => proof,
        _ if lanes == 1 || building == Building::Serialised => proof,
        Part::Counts => proof.refuted_without("compressed_i"),
        Part::Instruction => {
            proof.refuted_without("taken_i").refuted_without("pc_i").refuted_without("priv_i")
        }
        Part::Trap => proof
            .refuted_without("trap_pc_i")
            .refuted_without("interrupt_i")
            .refuted_without("tval_i")
            .refuted_without("cause_o"),
    };
    match (building, part) {
        (Building::Direct, Part::Counts) => {
            let proof = proof.refuted_without("debug_i").refuted_without("empty_o");
            proof.refuted_without("enable_i")
        }
        (Building::Direct, Part::Loss) => proof.refuted_by("trap_lost | lost_then_q", "trap_lost"),
        (_, Part::Loss) => proof.refuted_by("head_lost & !told_q", "1'b0"),
        // A block continues whatever happens.
        (Building::Direct, _) => proof.refuted_by("open_d & closes", "open_d & 1'b0"),
        // An instruction is taken twice.
        (_, Part::Counts) => proof.refuted_by("done_d = done_q | pick_lane", "done_d = done_q"),
        // A block continues at another address, or at another level.
        (_, Part::Instruction) => proof
            .refuted_by("pick_pc != expected_q", "1'b0")
            .refuted_by("& head_closes)", "& 1'b0)"),
        // A trap overtakes the open block.
        (_, Part::Trap) => proof.refuted_by("(head_trap | head_halts)", "head_halts"),
    }
}

/// The claims of a part, and the invariants that make them inductive.
fn rig(config: &Config, part: Part, helped: bool) -> Component {
    let follow = Claims::new(config, part, helped);
    if helped {
        match config.building {
            Building::Direct => direct::invariants(&follow),
            Building::Serialised => serialised::invariants(&follow),
        }
    }
    follow.rig.finish()
}
