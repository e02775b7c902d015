//! Every request becomes the payload that its fields define, in order.

use crate::blocks::{assume_constant, block, ones_of, tiny};
use crate::payload::{Payload, Request, mode_name};
use hartrace_encoder_hdl::Config;
use hartrace_etrace::{Format, Unit};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream};
use hartrace_rtl::{Component, Expr, lit, zero};

const ASKS: Stream = Stream { valid: "valid_i", ready: "ready_o", data: &[] };
const SENDS: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &[] };

/// Formats that a request may ask for.
const KINDS: [&str; 6] = ["start", "trap", "report", "map_only", "support", "context_only"];

/// Any request of one format, chosen by a free input, becomes the right payload, after exactly
/// those before it. The others may be of any format. There is no limit on the time it takes.
fn sent(config: &Config, format: Format) -> Component {
    let rig = Rig::new(&block(config, "te_packet_emitter"));
    let m = &rig.m;
    let layout = config.etrace.layout(Unit::Hartrace).expect("legal parameters");
    for mode in Unit::Hartrace.ioptions() {
        let port = format!("{}_i", mode_name(*mode));
        if rig.find(&port).is_some() {
            assume_constant(&rig, &port);
        }
    }
    let kinds: Vec<Expr> = KINDS.iter().filter_map(|kind| rig.find(&format!("{kind}_i"))).collect();
    m.assume_always("one_format", ones_of(&kinds, 3).is(1));

    let taken = rig.moves(ASKS);
    let request = |name: &str| rig.find(&format!("{name}_i")).unwrap_or_else(|| zero(1));
    let (start, trap, report) = (request("start"), request("trap"), request("report"));
    let sync = &start | &trap;
    let address = rig.port("address_i");
    let last = m.reg("last_sent", zero(address.width()));
    m.assign(&last.d, (&taken & (&sync | &report)).mux(&address, &last.q));
    let absolute = request("full_address") | &sync;
    let field = absolute.mux(&address, &address - &last.q);

    let (cached, index) = match config.etrace.cache_size_p {
        0 => (zero(1), zero(1)),
        size => cache(&rig, &taken, &sync, u32::from(size)),
    };
    // Not every format has an address, or can be an index instead.
    let field = m.let_("field", field);
    m.unused(&field);
    let request = Request { rig: &rig, layout: &layout, address: field, index };
    let (is, payload) = expected(&request, format, &cached);

    let track = m.input("track_i", 1, "");
    let (starts, leaves) = {
        let given = rig.moves(SENDS);
        let within = rig.count("within", 3, |n| n + taken.zext(3) - given.zext(3));
        let tracks = m.reg("tracks", zero(1));
        let ahead = m.reg("ahead", zero(3));
        let starts = m.let_("starts", &taken & &track & &is & !&tracks.q);
        let leaves = m.let_("leaves", &given & &tracks.q & ahead.q.is(0));
        m.comb(|b| {
            b.when(&starts, |b| {
                b.set(&tracks.d, true);
                b.set(&ahead.d, &within - given.zext(3));
            })
            .elsif(&leaves, |b| b.set(&tracks.d, false))
            .elsif(&given & &tracks.q, |b| b.set(&ahead.d, &ahead.q - lit(3, 1)));
        });
        m.assert_always("nothing_of_nothing", !rig.port("valid_o") | within.any());
        m.assert_always("empty", !rig.port("empty_o") | within.is(0));
        (starts, leaves)
    };
    let bits = m.reg_data("expected_bits", payload.bits.width(), &starts);
    let len = m.reg_data("expected_len", 5, &starts);
    m.assign(&bits.d, &payload.bits);
    m.assign(&len.d, &payload.len);
    m.assert_always("bits", !&leaves | rig.port("data_o").eq(&bits.q));
    m.assert_always("length", !&leaves | rig.port("len_o").eq(&len.q));
    rig.finish()
}

/// Whether the request is of this format, and its payload.
fn expected(request: &Request<'_>, format: Format, cached: &Expr) -> (Expr, Payload) {
    let get = |name: &str| request.get(name, 1);
    let some = request.get("branches", 5).any();
    let (report, counting) = (get("report"), get("counting"));
    let plain = |format| request.payload("plain", format);
    match format {
        Format::Start => (get("start"), plain(format)),
        Format::Trap => (get("trap"), plain(format)),
        Format::Context => (get("context_only"), plain(format)),
        Format::Support => (get("support"), plain(format)),
        Format::BranchCount => ((&report | get("map_only")) & counting, plain(format)),
        Format::Address => (report & !some & !counting & !cached, plain(format)),
        Format::Branch => {
            ((get("map_only") | (&report & some & !cached)) & !counting, plain(format))
        }
        // Where it is not longer than the address.
        Format::JumpTarget => {
            let [address, branch] = [("address", Format::Address), ("branch", Format::Branch)]
                .map(|(name, format)| request.payload(name, format));
            let index = plain(format);
            let len = some.mux(&branch.len, &address.len);
            let bits = some.mux(&branch.bits, &address.bits);
            let shorter = index.len.le(&len);
            let payload =
                Payload { bits: shorter.mux(&index.bits, bits), len: shorter.mux(&index.len, len) };
            (report & cached, payload)
        }
        Format::History => panic!("hardware does not send it"),
    }
}

/// The targets that were sent since a synchronisation, by place; whether the address is one of them
/// and may be sent as an index, and its place.
fn cache(rig: &Rig, taken: &Expr, sync: &Expr, size: u32) -> (Expr, Expr) {
    let m = &rig.m;
    let address = rig.port("address_i");
    let on = rig.port("jump_target_cache_i");
    let target = rig.port("report_i") & rig.port("target_i") & on;
    let index = address.slice(0, size);
    let mut hits = zero(1);
    for place in 0..1u128 << size {
        let here = index.is(place);
        let known = m.reg(&format!("known_{place}"), zero(1));
        let held = m.reg_data(&format!("target_{place}"), address.width(), taken & &target & &here);
        m.assign(&held.d, &address);
        m.assign(&known.d, !(taken & sync) & (&known.q | (taken & &target & &here)));
        hits = hits | (here & &known.q & held.q.eq(&address));
    }
    let flag = |name: &str| rig.find(name).unwrap_or_else(|| zero(1));
    let plain = !flag("updiscon_i") & !flag("notify_i") & !flag("counting_i");
    let cached = m.let_("cached", hits & target & plain);
    m.unused(&cached);
    (cached, index)
}

pub(crate) fn proofs() -> Vec<Proof> {
    let mut simple = Config { full_address: true, implicit_exception: true, ..tiny() };
    simple.etrace.nocontext_p = false;
    simple.etrace.context_width_p = 3;
    let mut rich = tiny();
    rich.etrace.f0s_width_p = 1;
    rich.etrace.cache_size_p = 1;
    rich.etrace.bpred_size_p = 2;
    rich.etrace.return_stack_size_p = 1;
    let prove = |of: &str, config: &Config, format: Format| {
        let name = format!("emitter_{of}_{}", format.name());
        Proof::bounded(&name, &sent(config, format), 8)
    };
    vec![
        prove("plain", &simple, Format::Start).refuted_without("privilege_i"),
        prove("plain", &simple, Format::Trap)
            .refuted_without("implicit_exception_i")
            .refuted_without("interrupt_i"),
        prove("plain", &simple, Format::Context).refuted_without("context_i"),
        prove("plain", &simple, Format::Support).refuted_without("qual_status_i"),
        prove("plain", &simple, Format::Address)
            .refuted_without("full_address_i")
            .refuted_without("data_o")
            .refuted_without("len_o"),
        prove("plain", &simple, Format::Branch).refuted_without("branches_i"),
        prove("rich", &rich, Format::Address).refuted_without("irreport_i"),
        prove("rich", &rich, Format::Branch).refuted_without("map_only_i"),
        prove("rich", &rich, Format::BranchCount).refuted_without("mispredicted_i"),
        prove("rich", &rich, Format::JumpTarget).refuted_without("target_i"),
    ]
}
