//! Registers at AXI.

use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};

/// Parameters of an [`axi_to_apb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiBridge {
    /// Width of the data of AXI, in bytes: 4 or 8.
    pub data_bytes: u32,
    /// Width of IDs in bits: 1 to 32.
    pub id_width: u32,
    /// Width of an address in bits: that of `paddr_i` of the registers. What is above it selects the bridge.
    pub addr_width: u32,
}

/// A bridge from AXI4, with the atomic operations of AXI5, to APB4: `axi_to_apb_{data_bytes}i{id_width}a{addr_width}`.
///
/// It makes one access at a time. If a read and a write wait, they take turns. An access is a word: its address and
/// strobes go to APB as they are, so that the registers refuse what is not aligned and what is not whole. Exclusive
/// accesses are answered as ordinary ones.
///
/// Accesses that registers cannot have end with SLVERR and do not reach APB: bursts, more than four bytes, and atomic
/// operations. All their beats are taken and answered, so that nobody waits for ever.
///
/// # Panics
///
/// If a parameter is out of the range given there, or addresses have fewer than 3 bits.
#[must_use]
#[track_caller]
pub fn axi_to_apb(params: AxiBridge) -> Component {
    let AxiBridge { data_bytes, id_width, addr_width } = params;
    assert!([4, 8].contains(&data_bytes), "data of {data_bytes} bytes; 4 or 8");
    assert!((1..=32).contains(&id_width), "IDs of {id_width} bits; 1 to 32");
    assert!(addr_width >= 3, "addresses of {addr_width} bits; at least 3");
    let m = Module::new(
        &format!("axi_to_apb_{data_bytes}i{id_width}a{addr_width}"),
        "Registers on APB4 at an AXI port. Bursts, accesses of more than four bytes and atomic operations end with\n\
         SLVERR and do not reach APB.",
    )
    .clocked();
    let aw = Address::new(&m, "aw", id_width, addr_width);
    let awatop_i = m.input("awatop_i", 6, "0 where there are none");
    let wvalid_i = m.input("wvalid_i", 1, "");
    let wready_o = m.output("wready_o", 1, "");
    let wdata_i = m.input("wdata_i", 8 * data_bytes, "");
    let wstrb_i = m.input("wstrb_i", data_bytes, "");
    let wlast_i = m.input("wlast_i", 1, "");
    let bvalid_o = m.output("bvalid_o", 1, "");
    let bready_i = m.input("bready_i", 1, "");
    let bid_o = m.output("bid_o", id_width, "");
    let bresp_o = m.output("bresp_o", 2, "");
    let ar = Address::new(&m, "ar", id_width, addr_width);
    let rvalid_o = m.output("rvalid_o", 1, "");
    let rready_i = m.input("rready_i", 1, "");
    let rid_o = m.output("rid_o", id_width, "");
    let rdata_o = m.output("rdata_o", 8 * data_bytes, "the word, in every place");
    let rresp_o = m.output("rresp_o", 2, "");
    let rlast_o = m.output("rlast_o", 1, "");

    let psel_o = m.output("psel_o", 1, "");
    let penable_o = m.output("penable_o", 1, "");
    let pwrite_o = m.output("pwrite_o", 1, "");
    let paddr_o = m.output("paddr_o", addr_width, "");
    let pwdata_o = m.output("pwdata_o", 32, "");
    let pstrb_o = m.output("pstrb_o", 4, "");
    let pready_i = m.input("pready_i", 1, "");
    let prdata_i = m.input("prdata_i", 32, "");
    let pslverr_i = m.input("pslverr_i", 1, "");

    m.section(
        "An access is taken, gets its data, is made, and is answered. At most one of these is set.",
    );
    let [data, setup, access, answer_b, answer_r] =
        ["data", "setup", "access", "answer_b", "answer_r"].map(|name| m.reg(name, zero(1)));
    let answers = m.let_("answers", &answer_b.q | &answer_r.q);
    let idle = m.let_("idle", !(&data.q | &setup.q | &access.q | &answers));
    let write = m.reg("write", zero(1));
    m.section("After a write, a read that waits comes first.");
    let takes_write = m.let_("takes_write", &aw.valid & !(&ar.valid & &write.q));
    m.assign(&aw.ready, &idle & &takes_write);
    m.assign(&ar.ready, &idle & !&takes_write);
    let written = m.let_("written", &aw.valid & &aw.ready);
    let read = m.let_("read", &ar.valid & &ar.ready);
    let taken = m.let_("taken", &written | &read);

    let id = m.reg_data("id", id_width, &taken);
    m.assign(&id.d, takes_write.mux(&aw.id, &ar.id));
    let addr = m.reg_data("addr", addr_width, &taken);
    m.assign(&addr.d, takes_write.mux(&aw.addr, &ar.addr));
    let beats = m.reg("beats", zero(8));
    let returns = m.reg("returns", zero(1));
    let error = m.reg("error", zero(1));
    let word = m.reg("word", zero(32));
    let strb = m.reg("strb", zero(4));

    let (wdata, wstrb, stray) = match data_bytes {
        4 => (wdata_i, wstrb_i, zero(1)),
        _ => {
            let high = addr.q.bit(2);
            let half = |of: &Expr, width| high.mux(of.slice(width, width), of.trunc(width));
            let stray = high.mux(wstrb_i.trunc(4), wstrb_i.slice(4, 4)).any();
            (half(&wdata_i, 32), half(&wstrb_i, 4), m.let_("stray", stray))
        }
    };
    let last_beat = m.let_("last_beat", !beats.q.any());
    let read_refused = m.let_("read_refused", ar.wrong());
    let write_refused = m.let_("write_refused", &error.q | &stray);
    m.comb(|b| {
        b.when(&read, |b| {
            b.set(&write.d, false);
            b.set(&beats.d, &ar.len);
            b.set(&error.d, &read_refused);
            b.set(&setup.d, !&read_refused);
            b.set(&answer_r.d, &read_refused);
            b.note("What is refused reads as 0.");
            b.set(&word.d, zero(32));
        });
        b.when(&written, |b| {
            b.set(&write.d, true);
            b.set(&beats.d, zero(8));
            b.set(&error.d, aw.wrong() | awatop_i.any());
            b.note("Atomic operations that return the old value have an answer there too.");
            b.set(&returns.d, awatop_i.bit(5));
            b.set(&data.d, true);
        });
        b.when(&data.q & &wvalid_i, |b| {
            b.set(&word.d, &wdata);
            b.set(&strb.d, &wstrb);
            b.set(&error.d, &write_refused);
            b.when(&wlast_i, |b| {
                b.set(&data.d, false);
                b.set(&setup.d, !&write_refused);
                b.set(&answer_b.d, &write_refused);
                b.set(&answer_r.d, &write_refused & &returns.q);
            });
        });
        b.when(&setup.q, |b| {
            b.set(&setup.d, false);
            b.set(&access.d, true);
        });
        b.when(&access.q & &pready_i, |b| {
            b.set(&access.d, false);
            b.set(&error.d, &pslverr_i);
            b.set(&answer_b.d, &write.q);
            b.set(&answer_r.d, !&write.q);
            b.when(!&write.q, |b| b.set(&word.d, &prdata_i));
        });
        b.when(&answer_b.q & &bready_i, |b| b.set(&answer_b.d, false));
        b.when(&answer_r.q & &rready_i, |b| {
            b.set(&beats.d, &beats.q - lit(8, 1));
            b.set(&answer_r.d, !&last_beat);
        });
    });

    m.section("");
    m.assign(&wready_o, &data.q);
    m.assign(&psel_o, &setup.q | &access.q);
    m.assign(&penable_o, &access.q);
    m.assign(&pwrite_o, &write.q);
    m.assign(&paddr_o, &addr.q);
    m.assign(&pwdata_o, &word.q);
    m.assign(&pstrb_o, write.q.gate(&strb.q));
    let resp = m.let_("resp", concat(&[&error.q, &lit(1, 0)]));
    m.assign(&bvalid_o, &answer_b.q);
    m.assign(&bid_o, &id.q);
    m.assign(&bresp_o, &resp);
    m.assign(&rvalid_o, &answer_r.q);
    m.assign(&rid_o, &id.q);
    m.assign(&rdata_o, word.q.repeat(data_bytes / 4));
    m.assign(&rresp_o, &resp);
    m.assign(&rlast_o, &last_beat);
    m.assert_always("one_thing_at_a_time", {
        let parts = [&data.q, &setup.q, &access.q, &answers];
        let others = |i: usize| parts.iter().skip(i + 1).fold(zero(1), |any, part| any | *part);
        (0..3).map(|i| !(parts[i] & others(i))).fold(lit(1, 1), |all, holds| all & holds)
    });
    m.finish()
}

/// An address channel.
struct Address {
    valid: Expr,
    ready: Expr,
    id: Expr,
    addr: Expr,
    len: Expr,
    size: Expr,
}

impl Address {
    fn new(m: &Module, name: &str, id_width: u32, addr_width: u32) -> Self {
        let input = |field: &str, width| m.input(&format!("{name}{field}_i"), width, "");
        Self {
            valid: input("valid", 1),
            ready: m.output(&format!("{name}ready_o"), 1, ""),
            id: input("id", id_width),
            addr: input("addr", addr_width),
            len: input("len", 8),
            size: input("size", 3),
        }
    }

    /// A burst, or more than a word.
    fn wrong(&self) -> Expr {
        self.len.any() | self.size.gt(lit(3, 2))
    }
}
