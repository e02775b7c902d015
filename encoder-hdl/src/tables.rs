//! Branch predictor and jump target cache. Both are cleared in one cycle, so one bit per entry
//! records whether it has been written since.

use crate::cells::memory;
use crate::config::Config;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit, zero};

bundle! {
    /// The outputs of a [`cache`].
    pub(crate) struct CacheOut { known, stored, tag, index }
}

/// Number of address bits below the index: the index counts half-words or larger units.
fn skip(config: &Config) -> u32 {
    u32::from(config.etrace.iaddress_lsb_p == 0)
}

/// The index of the predictor for a branch at this address.
pub(crate) fn predictor_index(config: &Config, address: &Expr) -> Expr {
    address.slice(skip(config), config.etrace.bpred_size_p.into())
}

/// The module `te_branch_predictor`.
pub(crate) fn predictor(config: &Config) -> Component {
    let size = config.etrace.bpred_size_p.into();
    let m = Module::new(
        "te_branch_predictor",
        "Predicts branches: two bits for each entry, the prediction and the last outcome. The prediction\n\
         must fail twice to change.",
    )
    .clocked();
    let index = m.input("index_i", size, "of the branch");
    let update = m.input("update_i", 1, "");
    let taken = m.input("taken_i", 1, "its outcome");
    let clear = m.input("clear_i", 1, "forget all, before the update");
    let taken_o = m.output("taken_o", 1, "the prediction");

    let known = known(&m, &index, size, &update, &clear);
    let stored = m.wire("stored", 2);
    // Prediction and last outcome; initially 0 and 1.
    let state = m.let_("state", known.mux(&stored, lit(2, 1)));
    let old = m.let_("old", clear.mux(lit(2, 1), &state));
    let prediction = (old.bit(1) ^ old.bit(0)).mux(&taken, old.bit(1));
    let next = concat(&[&prediction, &taken]);
    memory(&m, "i_states", 1 << size, (&update, &index, &next), (&index, &stored));
    m.assign(&taken_o, state.bit(1));
    m.finish()
}

/// The module `te_jump_target_cache`.
pub(crate) fn cache(config: &Config) -> Component {
    let size: u32 = config.etrace.cache_size_p.into();
    let aw = config.address();
    let m = Module::new(
        "te_jump_target_cache",
        "Remembers targets of uninferable jumps, direct mapped.",
    )
    .clocked();
    let address = m.input("address_i", aw, "of the target");
    let store = m.input("store_i", 1, "remember it");
    let clear = m.input("clear_i", 1, "forget all");
    let out = CacheOut {
        known: Wire::new(1, "something is remembered there"),
        stored: Wire::new(aw - size, "its tag"),
        tag: Wire::new(aw - size, "the one looked for"),
        index: Wire::new(size, "where"),
    };
    let out = out.outputs(&m);

    let low = skip(config);
    let index = m.let_("index", address.slice(low, size));
    let above = address.slice(low + size, aw - low - size);
    let tag = if low > 0 { concat(&[&above, &address.slice(0, low)]) } else { above };
    let tag = m.let_("tag", tag);
    let known = known(&m, &index, size, &store, &clear);
    memory(&m, "i_tags", 1 << size, (&store, &index, &tag), (&index, &out.stored));
    m.assign(&out.known, known);
    m.assign(&out.tag, &tag);
    m.assign(&out.index, &index);
    m.finish()
}

/// Whether the entry has been written since the last clear.
fn known(m: &Module, index: &Expr, size: u32, write: &Expr, clear: &Expr) -> Expr {
    let bits = m.reg("known", zero(1 << size));
    m.comb(|b| {
        b.set(&bits.d, clear.mux(zero(1 << size), &bits.q));
        b.when(write, |b| b.set_at(&bits.d, index, true));
    });
    bits.q.bit_at(index)
}
