//! A sink in memory writes nothing outside of its ring, wherever that starts and ends, wherever the pointer is set, and
//! whatever memory answers.

use hartrace_encoder_hdl::transport::{MemorySink, memory_sink};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream};
use hartrace_rtl::{Component, Expr, lit, zero};

const WORD_BITS: u32 = 2;

/// The sink is enabled or not idle.
fn used(rig: &Rig) -> Expr {
    rig.port("enable_i") | !rig.port("idle_o")
}

/// Assumes that the registers of the ring do not change while the sink is used, and from a cycle before.
pub(crate) fn ring_is_constant(rig: &Rig) {
    let (m, used) = (&rig.m, used(rig));
    let used_before = m.reg("used_before", zero(1));
    m.assign(&used_before.d, &used);
    for name in ["start_i", "limit_i"] {
        let port = rig.port(name);
        let constant = port.eq(rig.past(&format!("{name}_past"), &port));
        m.assume_always(&format!("{name}_constant"), !(&used | &used_before.q) | constant);
    }
}

/// Asserts that nothing is written outside of the ring, and what that follows from.
pub(crate) fn stays_within(rig: &Rig, burst_words: u32) {
    let m = &rig.m;
    let word = |name: &str| rig.port(name).slice(WORD_BITS, 12 - WORD_BITS).zext(16);
    let (address, first, limit) = (word("awaddr_o"), word("start_i"), word("limit_i"));
    let last = &address + rig.port("awlen_o").zext(16);
    let writes = rig.port("awvalid_o") | rig.port("wvalid_o");
    m.assert_always("from_the_start_on", !&writes | address.ge(&first));
    m.assert_always("up_to_the_limit", !&writes | last.le(&limit));
    let known = rig.inner("in_ring_q", 1) & used(rig);
    m.assert_always("known_to_be_within", !known | (address.ge(&first) & address.le(&limit)));
    let multiple = lit(16, u128::from(burst_words) - 1);
    let crosses = (&address & &multiple) + rig.port("awlen_o").zext(16);
    m.assert_always("within_a_multiple", !&writes | crosses.le(&multiple));
}

/// The ring is constant from a cycle before the sink is switched on. Nothing is assumed of where it is: there may be none,
/// and the pointer may be anywhere.
fn within(burst_words: u32) -> Component {
    let params = MemorySink { word_bytes: 1 << WORD_BITS, addr_width: 12, burst_words };
    let rig = Rig::new(&memory_sink(params));
    rig.assume_kept(Stream {
        valid: "valid_i",
        ready: "ready_o",
        data: &["data_i", "len_i", "last_i"],
    });
    ring_is_constant(&rig);
    stays_within(&rig, burst_words);
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let proof = |name, burst_words| {
        let rig = within(burst_words);
        Proof::any_run(name, &rig, 9).by_induction(&rig, 2)
    };
    vec![
        proof("memory_sink_within_1", 1)
            .refuted_by("at_limit ? first_word", "1'b0 ? first_word")
            .refuted_by("enable_i & in_ring_q & ", "enable_i & "),
        proof("memory_sink_within_4", 4)
            .refuted_by("near_limit ? limit_word[1:0] : 2'd3", "2'd3")
            .refuted_by("at_limit ? first_word", "1'b0 ? first_word")
            .refuted_by("!wp_we_i & (wp_q", "(wp_q"),
    ]
}
