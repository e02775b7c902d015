//! The content of a packet, by the rules of a reader: each field is at the position that the length
//! implies.

use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::transport::{Frame, encapsulator};
use hartrace_hdl_tools::prove::{Proof, Rig, num};
use hartrace_rtl::{Component, Expr, lit};

/// Widths of srcID, timestamp in bytes, and type.
type Widths = (u32, u32, u32);

fn read_back((src_id, time_bytes, kind): Widths, max_bytes: u32) -> Component {
    let params = EncapParams::new(src_id as u8, time_bytes as u8, kind as u8).unwrap();
    let rig = Rig::new(&encapsulator(Frame::Encap(params), max_bytes));
    let m = &rig.m;
    let valid = rig.port("valid_o");
    let (data, len) = (rig.port("data_o"), rig.port("len_o"));
    let field = |lo: u32, width: u32| data.slice(lo, width);
    let claim = |name: &str, holds: Expr| m.assert_always(name, !&valid | holds);

    m.assume_always("len_in_range", rig.port("len_i").le(num(&rig.port("len_i"), max_bytes)));
    claim("flow_is_sent", field(5, 2).eq(rig.port("flow_i")));
    let stamped = if time_bytes > 0 { rig.port("stamp_i") } else { lit(1, 0) };
    claim("extend_is_sent", field(7, 1).eq(&stamped));
    if src_id > 0 {
        claim("src_id_is_sent", field(8, src_id).eq(rig.port("src_id_i")));
    }
    let plain = 8 + src_id;
    let after_time = plain + time_bytes * 8;
    if time_bytes > 0 {
        let first = field(plain, time_bytes * 8).eq(rig.port("time_i"));
        let waits = &valid & !rig.port("ready_i");
        let waited = rig.past("waited", &waits);
        claim("time_is_sent", !&stamped | waited | first);
    }
    if kind > 0 {
        let sent = stamped.mux(field(after_time, kind), field(plain, kind));
        claim("type_is_sent", sent.eq(rig.port("type_i")));
    }

    // The length field, and with it the length of the packet.
    let wide = |e: &Expr| e.zext(16);
    let length = field(0, 5);
    let fixed = stamped
        .mux(lit(16, u128::from(1 + src_id / 8 + time_bytes)), lit(16, u128::from(1 + src_id / 8)));
    claim("length_is_of_packet", wide(&len).eq(wide(&length) + &fixed));

    // Any bit of the payload is at the position where a reader expects it, or left out as a copy of
    // the last bit.
    let at = m.input("at_i", 8, "");
    let payload = rig.port("data_i");
    let bits = wide(&rig.port("len_i")) << lit(2, 3);
    m.assume_always("at_in_range", wide(&at).lt(&bits));
    let start = stamped.mux(lit(16, (after_time + kind).into()), lit(16, (plain + kind).into()));
    let place = wide(&at) + start;
    let end = wide(&len) << lit(2, 3);
    let there = place.lt(&end);
    let read = data.bit_at(there.mux(&place, &end - lit(16, 1)));
    claim("payload_is_sent", read.eq(payload.bit_at(&at)));
    // Only whole bytes are left out, and the bits after the payload are its sign.
    let top = data.bit_at(&end - lit(16, 1));
    claim("ends_with_sign", top.eq(payload.bit_at(bits - lit(16, 1))));
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let prove = |widths, max_bytes| {
        let (s, t, y) = widths;
        let name = format!("encapsulator_s{s}t{t}y{y}_content");
        Proof::any_run(&name, &read_back(widths, max_bytes), 3)
    };
    vec![
        prove((0, 0, 0), 3).refuted_by("flow_i, length", "flow_i, 5'd1"),
        prove((8, 0, 0), 3).refuted_by("data_i, src_id_i", "data_i, ~src_id_i"),
        prove((6, 0, 2), 3).refuted_by("type_i, src_id_i", "~type_i, src_id_i"),
        prove((3, 0, 1), 3)
            .refuted_by("filled[i * 8 +: 4] = {4{sign}}", "filled[i * 8 +: 4] = 4'd0")
            .refuted_by("data_i[i * 8 + 3 +: 5]", "data_i[i * 8 + 4 +: 5]"),
        prove((12, 2, 0), 3).refuted_by("stamp_i ?", "!stamp_i ?"),
        prove((7, 1, 8), 3).refuted_by("!drop", "drop"),
    ]
}
