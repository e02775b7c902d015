//! Proofs of the claims about the encoder; every proof fails on a block with a mistake in it.
//!
//! `docs/design/encoder.md` lists the claims.

mod blocks;
mod branch_map;
mod emitter;
mod front;
mod loss;
mod pack;
mod payload;
mod permission;
mod resync;
mod returns;
mod stable;

use std::path::Path;

fn main() {
    let proofs = [
        branch_map::proofs(),
        emitter::proofs(),
        front::proofs(),
        loss::proofs(),
        pack::proofs(),
        permission::proofs(),
        stable::proofs(),
        returns::proofs(),
        resync::proofs(),
    ];
    let proofs = proofs.into_iter().flatten().collect();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/design/verification.md");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    hartrace_hdl_tools::prove::run_listed(folder, proofs, &document, "encoder proofs")
}
