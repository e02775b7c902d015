//! Turns records into fields.

use super::Tmbp;
use crate::compressors::bits::Fields;
use crate::compressors::numbers::Field;
use hartrace_rtl::{Component, Module, lit, zero};

/// Bits of the longest field.
pub(super) fn field_bits(config: &Tmbp) -> u32 {
    let Tmbp { xlen, counter_bits, branches, targets, instructions, .. } = *config;
    let fields = [
        branches.number_bits(counter_bits),
        instructions.number_bits(counter_bits),
        targets.target_bits(xlen),
    ];
    fields.into_iter().fold(xlen, u32::max)
}

/// The module `te_tmbp_emitter`.
///
/// It takes a field per cycle: the number of branches, then of a jump its target, and of a trap the number of
/// instructions and an address.
pub(super) fn build(config: &Tmbp) -> Component {
    let Tmbp { xlen, counter_bits, .. } = *config;
    let bits = field_bits(config);
    let m = Module::new(
        "te_tmbp_emitter",
        "Turns records into fields, one per cycle: numbers of variable width, and targets as distances from\n\
         the last one that was sent.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "the last field is chosen");
    let trap = m.input("trap_i", 1, "execution continues at the address");
    let jump = m.input("jump_i", 1, "a jump leads to the address, which was not predicted");
    let count = m.input("count_i", counter_bits, "instructions before the trap, or branches");
    let address = m.input("address_i", xlen, "");
    let far = config.whole_targets.then(|| m.input("far_i", 1, "a jump's is sent whole"));
    let fields = Fields::new(&m, bits);
    let moves = fields.moves(&m, &valid_i);
    let step = m.reg_en("step", zero(2), &moves);
    let first = m.let_("first", step.q.is(0));
    let second = m.let_("second", step.q.is(1));
    let last = first.mux(!(&trap | &jump), second.mux(&jump, lit(1, 1)));
    let last = m.let_("last", last);
    m.assign(&step.d, last.mux(zero(2), &step.q + lit(2, 1)));
    m.assign(&ready_o, &fields.free & &last);

    m.section("The distance is computed while the number of branches is sent.");
    let before = m.reg_en("before", zero(xlen), &moves & &second & &jump);
    m.assign(&before.d, &address);
    let distance = m.reg_data("distance", xlen, &first);
    let negative = m.reg_data("negative", 1, &first);
    let less = m.let_("less", address.lt(&before.q));
    m.assign(&distance.d, less.mux(&before.q - &address, &address - &before.q));
    m.assign(&negative.d, less);

    m.section("Fields. A number of branches that is zero announces a trap.");
    let branches = m.let_("branches", (!&trap).gate(&count));
    let branches = config.branches.number(&m, "branches", &branches, bits);
    let whole = far.unwrap_or_else(|| lit(1, 0));
    let target = config.targets.target(&m, (&address, &distance.q, &negative.q), &whole, bits);
    let instructions = config.instructions.number(&m, "instructions", &count, bits);
    let whole = Field::fixed(address.clone(), bits);
    let then = Field::select(&jump, &target, &instructions);
    let then = Field::select(&second, &then, &whole);
    fields.choose(&m, &moves, Field::select(&first, &branches, &then));
    m.finish()
}
