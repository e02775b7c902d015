use crate::prover::Proof; pub(crate) fn proofs() -> Vec<Proof> {vec![]}
