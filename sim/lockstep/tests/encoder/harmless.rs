//! Mistakes that no payload shows: because none can, or because no walk leads there and a proof finds them.

use In::{AllBut, Any, Only};

/// Configurations in which a mistake changes no payload.
pub(crate) enum In {
    /// All.
    Any,
    /// All but one.
    AllBut(&'static str),
    /// One only.
    Only(&'static str),
}

/// A mistake that changes no payload.
pub(crate) struct Harmless {
    /// Where it is so.
    pub(crate) config: In,
    /// The module, or the start of its name and `*`.
    pub(crate) module: &'static str,
    /// What is assigned.
    pub(crate) place: &'static str,
    /// The mistake.
    pub(crate) after: &'static str,
    /// Why no payload differs.
    pub(crate) why: &'static str,
}

impl Harmless {
    pub(crate) fn is(&self, config: &str, module: &str, place: &str, after: &str) -> bool {
        let any = match self.config {
            Any => true,
            AllBut(name) => name != config,
            Only(name) => name == config,
        };
        let same = match self.module.strip_suffix('*') {
            Some(start) => module.starts_with(start),
            None => module == self.module,
        };
        any && same && (place, after) == (self.place, self.after)
    }
}

/// All such mistakes.
pub(crate) const HARMLESS: &[Harmless] = &[
    Harmless {
        config: Any,
        module: "te_ingress",
        place: "shared",
        after: "early_valid_q | works",
        why: "without anything new, the registers before still hold what was shared last",
    },
    Harmless {
        config: Any,
        module: "te_resync_counter",
        place: "far_d",
        after: "!(on & (|(later[19:4] | reach)))",
        why: "it is never far, so that nothing is looked up ahead: payloads are the same, but take longer",
    },
    Harmless {
        config: Any,
        module: "fifo_*",
        place: "full_o",
        after: "usage_q == 5'd17",
        why: "room is counted before the queue, so that it is never asked whether it is full",
    },
    Harmless {
        config: Any,
        module: "te_group_queue",
        place: "ahead_sure_o",
        after: "!ahead_word_q[26] & !(|(ahead_word_q[1:0] | ~ahead_word_q[5:4]))",
        why: "a branch is looked up when it is described instead: slower, and the same",
    },
    Harmless {
        config: Any,
        module: "te_ingress",
        place: "early_works_1_d",
        after: "retires_1 & trap_1",
        why: "lanes are used from the first on: if the second has a block, so has the first, which counts too",
    },
    Harmless {
        config: AllBut("linux"),
        module: "te_core",
        place: "if",
        after: "enters | rows",
        why: "where nothing stalls, cycles are counted up to a synchronisation, and one follows every mark and every loss",
    },
    Harmless {
        config: Any,
        module: "te_core",
        place: "if",
        after: "enters | starts",
        why: "tracing starts with an empty queue, which a start enters; all else enters while tracing",
    },
    Harmless {
        config: Any,
        module: "te_resync_counter",
        place: "near_d",
        after: "on & (|(soon[19:4] | reach))",
        why: "one step at a time where more could be done with: slower, and the same",
    },
    Harmless {
        config: Any,
        module: "te_resync_counter",
        place: "last_d",
        after: "on & (|(with_one[19:4] | reach))",
        why: "one step at a time where more could be done with: slower, and the same",
    },
    Harmless {
        config: Any,
        module: "te_ingress",
        place: "shared",
        after: "valid_i | works",
        why: "without anything new, what was shared last is kept or replaced by what nothing reads",
    },
    Harmless {
        config: Any,
        module: "te_resync_counter",
        place: "soon",
        after: "count_q + ((mode_i == 2'd1) ? 20'd5 : 20'd256)",
        why: "one step at a time from one packet earlier on: slower, and the same",
    },
    Harmless {
        config: Any,
        module: "te_return_stack",
        place: "expected_d",
        after: "!(|depth_q) & (newest == target_i)",
        why: "a return is described alone where it could be taken along: slower, and the same",
    },
    Harmless {
        config: Any,
        module: "te_group_queue",
        place: "hungry_o",
        after: "decisions_usage <= 5'd0",
        why: "groups are joined where there is time for each: they have the same steps",
    },
    Harmless {
        config: Any,
        module: "te_branch_map",
        place: "scarce_d",
        after: "!flush_i & ((counts_0 | predicted_i[0]) ? (correct_q == 32'hfffffffd) : scarce_q)",
        why: "matters for counts near 2^32 only, which no run reaches",
    },
    Harmless {
        config: Any,
        module: "te_core",
        place: "nothing_inside",
        after: "!(|room_taken_q) | !dropping_q & packet_emitter_empty",
        why: "`enable_i` rises only while `empty_o` is set, and then this is, too",
    },
    Harmless {
        config: Any,
        module: "te_packet_emitter",
        place: "plain_needs_9",
        after: "plain_change_8 | plain_some_2 & plain_some_3 | plain_some_4",
        why: "it only counts together with `!plain_needs_10`, which has the same terms",
    },
    Harmless {
        config: Any,
        module: "te_packet_emitter",
        place: "plain_needs_7",
        after: "plain_change_6 | plain_change_7 | plain_change_8 | plain_some_2 | plain_some_3 & plain_some_4",
        why: "it counts together with `!plain_needs_8`, which has the same terms, and beside an index, where no payload is that long",
    },
    Harmless {
        config: Any,
        module: "te_packet_emitter",
        place: "plain_needs_13",
        after: "plain_change_12 | plain_some_3 & plain_some_4 | plain_some_5",
        why: "it only counts together with `!plain_needs_14`, which has the same terms",
    },
    Harmless {
        config: Any,
        module: "te_packet_emitter",
        place: "plain_needs_23",
        after: "plain_change_22 | plain_change_23 & plain_change_24",
        why: "it only counts together with `!plain_needs_24`, which has the same terms",
    },
    Harmless {
        config: Any,
        module: "te_packet_emitter",
        place: "brief_needs_3",
        after: "brief_change_2 | brief_change_3 | brief_change_4 & brief_some_1",
        why: "it only counts together with `!brief_needs_4`, which has the same terms",
    },
    Harmless {
        config: Only("full"),
        module: "te_core",
        place: "room",
        after: "room_taken_q != 5'd17",
        why: "one cycle of input more is accepted, which has its place in the stage before the memory of the queue",
    },
    Harmless {
        config: Only("small_bytes"),
        module: "te_priority",
        place: "change_next",
        after: "next_shown | now_changes",
        why: "differs where the next block is of another level and not traced: then only the flag `updiscon`, which payloads in bytes take from elsewhere",
    },
    Harmless {
        config: Only("full"),
        module: "te_branch_map",
        place: "all_right_1",
        after: "all_right_0 & (branch_i[1] | predicted_i[1])",
        why: "not reached by the lock step, where it would show; the proof `branch_map_2_predicted` finds it",
    },
];
