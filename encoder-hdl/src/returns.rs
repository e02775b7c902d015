//! Calls that have not returned.

use crate::cells::memory;
use crate::config::Config;
use hartrace_rtl::{Component, Module, Wire, bundle, lit, zero};

bundle! {
    /// The outputs of a [`stack`].
    pub(crate) struct StackOut { depth, some, predicts, expected: Option }
}

bundle! {
    /// The outputs of [`marks`].
    pub(crate) struct MarksOut { some, full, address, depth }
}

/// The module `te_return_stack`: the stack, or the counter if there are no addresses to check.
pub(crate) fn stack(config: &Config) -> Component {
    let (aw, dw) = (config.address(), config.depth());
    let checked = config.etrace.return_stack_size_p > 0;
    let m = Module::new(
        "te_return_stack",
        "Remembers where calls return to, and predicts returns. A full stack forgets the oldest call.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "forget all, before call or return");
    let call = m.input("call_i", 1, "");
    let ret = m.input("ret_i", 1, "");
    let depth_o = m.output("depth_o", dw, "calls remembered");
    let some_o = m.output("some_o", 1, "there was one in the cycle before");
    let predicts_o =
        m.output("predicts_o", 1, "a return to the target of the cycle before is predicted");

    let depth = m.reg("depth", zero(dw));
    let max = if checked { 1 << config.etrace.return_stack_size_p } else { (1 << dw) - 1 };
    let before = m.let_("kept", clear.mux(zero(dw), &depth.q));
    let some = m.let_("some", before.any());
    m.comb(|b| {
        b.set(&depth.d, &before);
        b.when(&call & before.ne(lit(dw, max)), |b| b.set(&depth.d, &before + lit(dw, 1)));
        b.when(&ret & &some, |b| b.set(&depth.d, &before - lit(dw, 1)));
    });
    m.assign(&depth_o, &depth.q);
    let had = m.reg("had", false);
    m.assign(&had.d, depth.q.any());
    m.assign(&some_o, &had.q);
    if !checked {
        m.assign(&predicts_o, depth.q.any());
        return m.finish();
    }
    let link = m.input("link_i", aw, "where a call returns to");
    let target = m.input("target_i", aw, "where a return leads");
    let sw = config.etrace.return_stack_size_p.into();
    let top = m.reg("top", zero(sw));
    let above = m.let_("above", &top.q + lit(sw, 1));
    m.comb(|b| {
        b.when(&call, |b| b.set(&top.d, &above));
        b.when(&ret & &some, |b| b.set(&top.d, &top.q - lit(sw, 1)));
    });
    let newest = m.wire("newest", aw);
    memory(&m, "i_links", 1 << sw, (&call, &above, &link), (&top.q, &newest));
    // Comparing addresses takes a separate cycle.
    let same = m.reg("same", false);
    let expected = m.reg("expected", false);
    let expected_o = m.output("expected_o", 1, "or there was no call");
    m.assign(&same.d, newest.eq(&target));
    m.assign(&expected.d, !depth.q.any() | newest.eq(&target));
    m.assign(&expected_o, &expected.q);
    m.assign(&predicts_o, depth.q.any() & &same.q);
    m.finish()
}

/// The module `te_return_marks`: calls that must be reported before anything ambiguous (D1).
pub(crate) fn marks(config: &Config) -> Component {
    let (aw, dw) = (config.address(), config.depth());
    let m = Module::new(
        "te_return_marks",
        "Remembers up to two calls that follow a return without a branch between, for the case that a\n\
         decoder could not tell what comes after them from an earlier visit.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "forget them; not with a new one");
    let push = m.input("push_i", 1, "");
    let only = m.input("only_i", 1, "forget the others before the new one");
    let address = m.input("address_i", aw, "of the call");
    let depth = m.input("depth_i", dw, "before it");
    let second = m.input("second_i", 1, "which one is looked at");
    let out = MarksOut {
        some: Wire::new(1, "there is one"),
        full: Wire::new(1, "there are two"),
        address: Wire::new(aw, ""),
        depth: Wire::new(dw, ""),
    };
    let out = out.outputs(&m);

    let count = m.reg("count", zero(2));
    let before = m.let_("kept", (!only).gate(&count.q));
    m.comb(|b| {
        b.when(&clear, |b| b.set(&count.d, zero(2)));
        b.when(&push, |b| b.set(&count.d, &before + lit(2, 1)));
    });
    let entry = |name: &str, at: u128| {
        let put = &push & before.is(at);
        let addresses = m.reg_data(&format!("address_{name}"), aw, &put);
        let depths = m.reg_data(&format!("depth_{name}"), dw, put);
        m.assign(&addresses.d, &address);
        m.assign(&depths.d, &depth);
        (addresses.q, depths.q)
    };
    let (a0, d0) = entry("first", 0);
    let (a1, d1) = entry("second", 1);
    m.assign(&out.address, second.mux(a1, a0));
    m.assign(&out.depth, second.mux(d1, d0));
    m.assign(&out.some, count.q.any());
    m.assign(&out.full, count.q.bit(1));
    m.finish()
}
