//! Proofs of the claims about the blocks; every proof fails on a block with a mistake in it.

mod bytes;
mod content;
mod order;
mod stable;
mod within;

use std::path::Path;

fn main() {
    let proofs =
        [order::proofs(), stable::proofs(), content::proofs(), bytes::proofs(), within::proofs()];
    let proofs = proofs.into_iter().flatten().collect();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/design/verification.md");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    hartrace_hdl_tools::prove::run_listed(folder, proofs, &document, "transport proofs")
}
