//! A sink in memory writes nothing outside of its ring, wherever that starts and ends.

use hartrace_encoder_hdl::transport::{MemorySink, memory_sink};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream};
use hartrace_rtl::{Component, lit, zero};

const WORD_BITS: u32 = 2;

/// The ring is constant, and the pointer is written into it before the sink is switched on.
fn within(burst_words: u32) -> Component {
    let params = MemorySink { word_bytes: 1 << WORD_BITS, addr_width: 12, burst_words };
    let rig = Rig::new(&memory_sink(params));
    rig.assume_kept(Stream {
        valid: "valid_i",
        ready: "ready_o",
        data: &["data_i", "len_i", "last_i"],
    });
    let m = &rig.m;
    let word = |name: &str| rig.port(name).slice(WORD_BITS, 12 - WORD_BITS).zext(16);
    let (first, limit, pointer) = (word("start_i"), word("limit_i"), word("wp_i"));
    let started = rig.count("started", 1, |_| lit(1, 1));
    for name in ["start_i", "limit_i"] {
        let port = rig.port(name);
        let constant = port.eq(rig.past(&format!("{name}_past"), &port));
        m.assume_always(&format!("{name}_constant"), !&started | constant);
    }
    m.assume_always("start_before_limit", first.le(&limit));
    let inside = pointer.ge(&first) & pointer.le(&limit);
    m.assume_always("pointer_in_ring", !rig.port("wp_we_i") | inside);
    let placed = m.reg("placed", zero(1));
    m.assign(&placed.d, &placed.q | rig.port("wp_we_i"));
    m.assume_always("placed_before_use", !rig.port("enable_i") | &placed.q);

    let address = word("awaddr_o");
    let last = &address + rig.port("awlen_o").zext(16);
    let writes = rig.port("awvalid_o") | rig.port("wvalid_o");
    m.assert_always("from_the_start_on", !&writes | address.ge(&first));
    m.assert_always("up_to_the_limit", !&writes | last.le(&limit));
    m.assert_always("placed_before_it_writes", !&writes | &placed.q);
    let multiple = lit(16, u128::from(burst_words) - 1);
    let crosses = (&address & &multiple) + rig.port("awlen_o").zext(16);
    m.assert_always("within_a_multiple", !&writes | crosses.le(&multiple));
    m.assert_always("pointer_stays", !&placed.q | (address.ge(&first) & address.le(&limit)));
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let proof = |name, burst_words| {
        let rig = within(burst_words);
        Proof::any_run(name, &rig, 9).by_induction(&rig, 2)
    };
    vec![
        proof("memory_sink_within_1", 1).refuted_by("at_limit ? first_word", "1'b0 ? first_word"),
        proof("memory_sink_within_4", 4)
            .refuted_by("near_limit ? limit_word[1:0] : 2'd3", "2'd3")
            .refuted_by("at_limit ? first_word", "1'b0 ? first_word"),
    ]
}
