//! A counter of equal events whose width adapts to the length of the runs.

use super::{RunLength, Sdc};
use crate::compressors::bits::high_width;
use crate::compressors::numbers::Field;
use hartrace_rtl::{Component, Module, Wire, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of the module.
    pub(super) struct RunsOut { some, full, less, width }
}

/// The largest value of the monitor.
const FULL: u128 = 15;

/// The module `te_run_counter`.
pub(super) fn build(config: &Sdc) -> Component {
    let RunLength { w0, wmin, wmax, m0 } = config.run;
    let m = Module::new(
        "te_run_counter",
        "Counts equal events. Its width grows after runs that exceed it, and shrinks after those that do not\n\
         fill half of it.",
    )
    .clocked();
    let hit = m.input("hit_i", 1, "one more");
    let ends = m.input("end_i", 1, "the run ends");
    let out = RunsOut {
        some: Wire::new(1, "there is a run"),
        full: Wire::new(1, "it fills the counter"),
        less: Wire::new(wmax, "its length minus one"),
        width: Wire::new(index_width(wmax + 1), "bits of it that are sent"),
    };
    let out = out.outputs(&m);

    let (bits, digits) = (wmax + 1, index_width(wmax + 1));
    let count = m.reg("count", zero(bits));
    let width = m.reg("width", lit(digits, w0.into()));
    let monitor = m.reg("monitor", lit(4, m0.into()));
    let long = m.reg("long", false);
    let most = m.let_("most", lit(bits, 1) << &width.q);
    let full = m.let_("full", count.q.eq(&most));
    let half = concat(&[&zero(1), &most.slice(1, bits - 1)]);
    let short = m.let_("too_short", count.q.any() & count.q.lt(half));
    let less = m.let_("less", &count.q - lit(bits, 1));
    let grows = m.let_("grows", &hit & &full);
    let shrinks = m.let_("shrinks", &ends & short & !&long.q);
    let raised = m.let_("raised", monitor.q.ge(lit(4, FULL - 3)));
    m.comb(|b| {
        b.when(&hit, |b| {
            b.set(&count.d, full.mux(lit(bits, 1), &count.q + lit(bits, 1)));
        });
        b.when(&grows, |b| {
            b.set(&long.d, true);
            b.set(&monitor.d, &monitor.q + lit(4, 3));
            b.when(&raised, |b| {
                b.set(&monitor.d, lit(4, m0.into()));
                b.when(width.q.ne(lit(digits, wmax.into())), |b| {
                    b.set(&width.d, &width.q + lit(digits, 1));
                });
            });
        });
        b.when(&ends, |b| {
            b.set(&count.d, zero(bits));
            b.set(&long.d, false);
        });
        b.when(&shrinks, |b| {
            b.set(&monitor.d, &monitor.q - lit(4, 1));
            b.when(monitor.q.is(1), |b| {
                b.set(&monitor.d, lit(4, m0.into()));
                let less = &width.q - lit(digits, 1);
                match wmin {
                    // With one bit no run is too short.
                    1 => b.set(&width.d, less),
                    _ => {
                        _ = b.when(width.q.ne(lit(digits, wmin.into())), |b| b.set(&width.d, less))
                    }
                }
            });
        });
    });
    m.assign(&out.some, count.q.any());
    m.assign(&out.full, &full);
    m.assign(&out.less, less.trunc(wmax));
    m.unused(&less.bit(wmax));
    m.assign(&out.width, &width.q);
    m.finish()
}

/// The field of a run: a one, and its length minus one.
pub(super) fn field(RunsOut { less, width, .. }: &RunsOut, bits: u32) -> Field {
    let header = lit(bits, 1) << width;
    Field { data: header | less.zext(bits), high: width.zext(high_width(bits)) }
}
