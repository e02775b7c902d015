//! Offered outputs of a block are stable until they are taken.

use crate::within::{ring_is_constant, stays_within};
use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::transport::{
    Aligner, Frame, MemorySink, Packer, aligner, atb_sink, axis_sink, encapsulator, fifo,
    frame_generator, funnel, memory_sink, packer, spill,
};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream};
use hartrace_rtl::Component;

const fn stream(valid: &'static str, ready: &'static str, data: &'static [&'static str]) -> Stream {
    Stream { valid, ready, data }
}

fn stable(block: &Component, inputs: &[Stream], outputs: &[Stream]) -> Component {
    stable_where(block, inputs, outputs, |_| ())
}

/// The same, with more assumptions or claims.
fn stable_where(
    block: &Component,
    inputs: &[Stream],
    outputs: &[Stream],
    more: impl FnOnce(&Rig),
) -> Component {
    let rig = Rig::new(block);
    more(&rig);
    inputs.iter().for_each(|stream| rig.assume_kept(*stream));
    outputs.iter().for_each(|stream| rig.assert_kept(*stream));
    rig.finish()
}

/// Every source of a funnel keeps its offered packet stable, and so does the funnel.
fn stable_funnel(sources: u32) -> Component {
    let rig = Rig::new(&funnel(sources, 1));
    let (valid, ready) = (rig.port("valid_i"), rig.port("ready_o"));
    let (data, len) = (rig.port("data_i"), rig.port("len_i"));
    let waited = rig.past("waited", &(&valid & !&ready));
    let (data_past, len_past) = (rig.past("data_past", &data), rig.past("len_past", &len));
    for i in 0..sources {
        let part = |all: &hartrace_rtl::Expr, width| all.slice(i * width, width);
        let kept = valid.bit(i)
            & part(&data, 8).eq(part(&data_past, 8))
            & part(&len, 1).eq(part(&len_past, 1));
        rig.m.assume_always(&format!("source{i}_kept"), !waited.bit(i) | kept);
    }
    rig.assert_kept(stream("valid_o", "ready_i", &["data_o", "len_o"]));
    rig.finish()
}

/// The address of a burst and its words are stable, while the ring is.
fn memory_sink_stable() -> Proof {
    let sink = MemorySink { word_bytes: 4, addr_width: 12, burst_words: 4 };
    let packed_in = stream("valid_i", "ready_o", &["data_i", "len_i", "last_i"]);
    let outputs = [
        stream("awvalid_o", "awready_i", &["awaddr_o", "awlen_o"]),
        stream("wvalid_o", "wready_i", &["wdata_o", "wlast_o"]),
    ];
    let bare = stable_where(&memory_sink(sink), &[packed_in], &outputs, ring_is_constant);
    let helped = stable_where(&memory_sink(sink), &[packed_in], &outputs, |rig| {
        ring_is_constant(rig);
        stays_within(rig, sink.burst_words);
    });
    Proof::any_run("memory_sink_stable", &bare, 9)
        .by_induction(&helped, 2)
        .refuted_by("sent = sends & !address_d & !data_d", "sent = sends & !data_d")
}

pub(crate) fn proofs() -> Vec<Proof> {
    let words_in = stream("valid_i", "ready_o", &["data_i"]);
    let words_out = stream("valid_o", "ready_i", &["data_o"]);
    let packets_in = stream("valid_i", "ready_o", &["data_i", "len_i"]);
    let packets_out = stream("valid_o", "ready_i", &["data_o", "len_o"]);
    let packed_in = stream("valid_i", "ready_o", &["data_i", "len_i", "last_i"]);
    let packed_out = stream("valid_o", "ready_i", &["data_o", "len_o", "last_o"]);
    let framed_in = stream(
        "valid_i",
        "ready_o",
        &["data_i", "len_i", "flow_i", "src_id_i", "type_i", "stamp_i"],
    );
    let frame = Frame::Encap(EncapParams::new(5, 2, 1).unwrap());
    let pack = |mark_end| packer(Packer { max_bytes: 6, word_bytes: 4, mark_end });
    let flush = stream("flush_i", "flushed_o", &[]);

    let mut proofs = vec![
        Proof::any_run("fifo_stable", &stable(&fifo(4, 3), &[words_in], &[words_out]), 6)
            .refuted_by("pop = valid_o & ready_i", "pop = valid_o"),
        Proof::any_run("spill_stable", &stable(&spill(4), &[words_in], &[words_out]), 6)
            .refuted_by("free = ready_i | !valid_q", "free = 1'b1"),
        Proof::any_run(
            "encapsulator_stable",
            &stable(&encapsulator(frame, 4), &[framed_in], &[packets_out]),
            4,
        )
        .refuted_by("waited_q ? time_q : time_i", "time_i"),
        Proof::any_run(
            "axis_sink_stable",
            &stable(
                &axis_sink(4),
                &[packed_in],
                &[stream("tvalid_o", "tready_i", &["tdata_o", "tkeep_o", "tlast_o"])],
            ),
            4,
        )
        .refuted_by("tvalid_o = valid_i", "tvalid_o = valid_i & !tready_i"),
        Proof::any_run(
            "frame_generator_stable",
            &stable(
                &frame_generator(1),
                &[stream("valid_i", "ready_o", &["data_i", "len_i", "last_i", "id_i"])],
                &[stream("tvalid_o", "tready_i", &["tdata_o", "tkeep_o", "tlast_o"])],
            ),
            6,
        )
        .refuted_by("moves = !full_q | tready_i", "moves = 1'b1"),
        Proof::any_run(
            "atb_sink_stable",
            &stable(
                &atb_sink(4),
                &[packets_in],
                &[stream("atvalid_o", "atready_i", &["atdata_o", "atbytes_o"])],
            ),
            4,
        )
        .refuted_by("atdata_o = data_i", "atdata_o = afvalid_i ? 32'd0 : data_i"),
        memory_sink_stable(),
        Proof::any_run(
            "aligner_stable",
            &stable(
                &aligner(Aligner { max_bytes: 2, run_bytes: 3, word_bytes: 4 }),
                &[packets_in],
                &[packets_out],
            ),
            6,
        )
        .refuted_by("valid_o = due_q | valid_i", "valid_o = due_q & freq_i[0] | valid_i"),
        Proof::any_run("funnel2_stable", &stable_funnel(2), 6)
            .refuted_by("stays = valid_o & !ready_i", "stays = 1'b0"),
        Proof::any_run("funnel3_stable", &stable_funnel(3), 6)
            .refuted_by("stays = valid_o & !ready_i", "stays = 1'b0"),
    ];
    for mark_end in [false, true] {
        let name = if mark_end { "packer_end_stable" } else { "packer_stable" };
        let rig = stable(&pack(mark_end), &[packets_in, flush], &[packed_out]);
        proofs.push(
            Proof::any_run(name, &rig, 7)
                .refuted_by("flush_i & (!valid_i | (take & last_piece))", "flush_i"),
        );
    }
    proofs
}
