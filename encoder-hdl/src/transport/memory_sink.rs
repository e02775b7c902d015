//! Writes words to a ring buffer in memory.

use crate::transport::{FifoOut, fifo, len_width};
use hartrace_rtl::{Component, Expr, Module, concat, index_width, lit, ones, zero};

/// Parameters of a [`memory_sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySink {
    /// Size of a word, and of a beat on the bus, in bytes: 4, 8 or 16.
    pub word_bytes: u32,
    /// Width of an address in bits.
    pub addr_width: u32,
    /// Number of words in a burst: 1, 2, 4, 8 or 16.
    pub burst_words: u32,
}

/// Writes the words of a packer to a ring buffer in memory, over AXI4:
/// `memory_sink_{word_bytes}a{addr_width}b{burst_words}`.
///
/// **Words**: `valid_i ready_o data_i len_i last_i` connect to a packer with
/// [`mark_end`](crate::transport::Packer::mark_end). Words are written whole. They wait until they
/// fill a burst up to the next multiple of its size; those of a flush (`last_i`) do not wait.
/// `idle_o` indicates that everything is in memory, and `fill_o` how many bytes of the last word
/// are trace.
///
/// **Ring**: from `start_i` to the word at `limit_i`, both included and both constant while
/// enabled. It consists of whole words: bits below the size of a word have no effect. The write
/// pointer `wp_o` is the address of the next word. While `idle_o` is set, `wp_we_i` sets it to `wp_i` and clears the
/// flags. At the limit, the pointer returns to the start and sets `wrap_o`; with `stop_on_wrap_i`,
/// the sink then stops until `enable_i` is cleared.
///
/// **Nothing outside of the ring is written**, whatever `start_i`, `limit_i` and `wp_i` are and whatever memory answers:
/// while the pointer is not in the ring, `outside_o` is set and the sink does not start a burst. If memory refuses a
/// write, the sink stops until `enable_i` is cleared.
///
/// **Loss**: while it is stopped, outside of its ring or not enabled, the sink accepts words and discards them, and
/// reports this in `lost_o`: a sink that refused them would stop the hart, or lose trace unnoticed.
/// Flush before clearing `enable_i`. `error_o` reports that memory refused a write. Both flags are
/// sticky.
///
/// **Bus**: INCR bursts end at multiples of their size, so none crosses 4 KiB, or at the limit. They are sent one at
/// a time, and up to seven wait for their response. Address and data of a burst of `n` words take
/// `n + 1` cycles. Ids, cache and protection attributes are constants that the surrounding design
/// chooses; every burst must have the same id.
///
/// # Panics
///
/// If a parameter has none of the values listed there, or addresses have fewer than 12 bits.
#[must_use]
#[track_caller]
pub fn memory_sink(params: MemorySink) -> Component {
    let MemorySink { word_bytes, addr_width, burst_words } = params;
    assert!([4, 8, 16].contains(&word_bytes), "words of {word_bytes} bytes; 4, 8 or 16");
    assert!(
        [1, 2, 4, 8, 16].contains(&burst_words),
        "bursts of {burst_words} words; 1, 2, 4, 8 or 16"
    );
    assert!(addr_width >= 12, "addresses of {addr_width} bits; at least 12");
    let m = Module::new(
        &format!("memory_sink_{word_bytes}a{addr_width}b{burst_words}"),
        "Writes words to a ring buffer in memory, over AXI4 (write channels only).",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", word_bytes * 8, "");
    let len_i = m.input("len_i", len_width(word_bytes), "bytes that are trace");
    let last_i = m.input("last_i", 1, "of a flush");

    let enable_i = m.input("enable_i", 1, "");
    let stop_on_wrap_i = m.input("stop_on_wrap_i", 1, "");
    let start_i = m.input("start_i", addr_width, "first word; constant from a cycle before enable");
    let limit_i = m.input("limit_i", addr_width, "last word; as start_i");
    let wp_we_i = m.input("wp_we_i", 1, "set the write pointer, clear the flags; while idle");
    let wp_i = m.input("wp_i", addr_width, "");
    let wp_o = m.output("wp_o", addr_width, "next word");
    let wrap_o = m.output("wrap_o", 1, "sticky");
    let stopped_o = m.output("stopped_o", 1, "wrapped or refused by memory, until not enabled");
    let outside_o = m.output("outside_o", 1, "the write pointer is not in the ring");
    let error_o = m.output("error_o", 1, "sticky: memory refused a write");
    let lost_o = m.output("lost_o", 1, "sticky: words were thrown away");
    let idle_o = m.output("idle_o", 1, "every word taken is in memory");
    let fill_o = m.output("fill_o", len_width(word_bytes), "bytes of the last word");

    let awvalid_o = m.output("awvalid_o", 1, "");
    let awready_i = m.input("awready_i", 1, "");
    let awaddr_o = m.output("awaddr_o", addr_width, "");
    let awlen_o = m.output("awlen_o", 8, "");
    let awsize_o = m.output("awsize_o", 3, "");
    let awburst_o = m.output("awburst_o", 2, "");
    let wvalid_o = m.output("wvalid_o", 1, "");
    let wready_i = m.input("wready_i", 1, "");
    let wdata_o = m.output("wdata_o", word_bytes * 8, "");
    let wstrb_o = m.output("wstrb_o", word_bytes, "");
    let wlast_o = m.output("wlast_o", 1, "");
    let bvalid_i = m.input("bvalid_i", 1, "");
    let bready_o = m.output("bready_o", 1, "");
    let bresp_i = m.input("bresp_i", 2, "");

    let byte_bits = index_width(word_bytes);
    let word_of = |address: &Expr| address.slice(byte_bits, addr_width - byte_bits);
    for address in [&wp_i, &start_i, &limit_i] {
        m.unused(&address.trunc(byte_bits));
    }
    let first = m.let_("first_word", word_of(&start_i));
    let limit = m.let_("limit_word", word_of(&limit_i));

    m.section("Words that wait for a burst. Two bursts, so that one can fill while one is sent.");
    let has_bytes = len_i.any();
    let pop = m.wire("pop", 1);
    let fifo = FifoOut::of(&m.inst(
        "i_fifo",
        &fifo(word_bytes * 8, 2 * burst_words),
        &[
            ("valid_i", &(&valid_i & &has_bytes)),
            ("ready_o", &ready_o),
            ("data_i", &data_i),
            ("ready_i", &pop),
            ("data_o", &wdata_o),
        ],
    ));
    m.unused(&fifo.full);
    let FifoOut { valid: waiting, usage, .. } = &fifo;
    let taken = m.let_("taken", &valid_i & &ready_o);
    let draining = m.reg("draining", zero(1));
    m.assign(&draining.d, (&taken & &last_i) | (&draining.q & waiting));
    let fill = m.reg_en("fill", zero(len_i.width()), &taken & &has_bytes);
    m.assign(&fill.d, &len_i);
    m.assign(&fill_o, &fill.q);

    m.section("The write pointer, in words, stays until the burst is sent.");
    let wp = m.reg("wp", zero(addr_width - byte_bits));
    let address = m.reg("address", zero(1));
    let data = m.reg("data", zero(1));
    let pending = m.reg("pending", zero(3));
    let stopped = m.reg("stopped", zero(1));
    let sends = m.let_("sends", &address.q | &data.q);
    // Registered, because the comparisons would be in the path that starts a burst. A pointer that is in the ring stays
    // there, so only one that is set must be looked at again.
    let in_ring = m.reg("in_ring", zero(1));
    m.assign(&in_ring.d, !&wp_we_i & wp.q.ge(&first) & wp.q.le(&limit));
    let active = m.let_("active", &enable_i & &in_ring.q & !&stopped.q);
    let burst = burst(&m, [&wp.q, &limit], usage, burst_words);
    let ready_to_start = &burst.whole | (&draining.q & waiting);
    let start = m.let_("start", &active & !&sends & !pending.q.all() & ready_to_start);
    let discard = m.let_("discard", !&active & !&sends & waiting);

    let len = m.reg_en("len", zero(burst.len.width()), &start);
    m.assign(&len.d, &burst.len);
    let beat = m.reg("beat", zero(burst.len.width()));
    let last_beat = m.let_("last_beat", beat.q.eq(&len.q));
    let beat_sent = m.let_("beat_sent", &data.q & &wready_i);
    m.assign(&pop, &beat_sent | &discard);
    m.comb(|b| {
        b.when(&start, |b| {
            b.set(&address.d, true);
            b.set(&data.d, true);
            b.set(&beat.d, zero(beat.q.width()));
        });
        b.when(&awready_i, |b| b.set(&address.d, &start));
        b.when(&beat_sent, |b| {
            b.set(&beat.d, &beat.q + lit(beat.q.width(), 1));
            b.set(&data.d, !&last_beat);
        });
    });
    let sent = m.let_("sent", &sends & !&address.d & !&data.d);

    m.section("Where the burst ended.");
    let end = m.let_("end_word", burst.end(&wp.q, &len.q));
    let at_limit = m.let_("at_limit", end.eq(&limit));
    let refused = m.let_("refused", &bvalid_i & bresp_i.msb());
    let [wrap, error, lost] = ["wrap", "error", "lost"].map(|name| m.reg(name, zero(1)));
    m.comb(|b| {
        b.when(&sent, |b| {
            b.set(&wp.d, at_limit.mux(&first, &end + lit(end.width(), 1)));
            b.set(&wrap.d, &wrap.q | &at_limit);
        });
        b.when(&refused, |b| b.set(&error.d, true));
        b.when(&discard, |b| b.set(&lost.d, true));
        b.when(&wp_we_i, |b| {
            b.set(&wp.d, word_of(&wp_i));
            for flag in [&wrap, &error, &lost] {
                b.set(&flag.d, false);
            }
        });
    });
    m.unused(&bresp_i.bit(0));
    let full = &sent & &at_limit & stop_on_wrap_i;
    m.assign(&stopped.d, &enable_i & (&stopped.q | full | &refused));
    m.comb(|b| {
        let one = lit(3, 1);
        b.when(&sent & !&bvalid_i, |b| b.set(&pending.d, &pending.q + &one));
        b.when(&bvalid_i & !&sent, |b| b.set(&pending.d, &pending.q - &one));
    });

    m.section("");
    m.assign(&wp_o, concat(&[&wp.q, &zero(byte_bits)]));
    m.assign(&wrap_o, &wrap.q);
    m.assign(&stopped_o, &stopped.q);
    m.assign(&outside_o, !&in_ring.q);
    m.assign(&error_o, &error.q);
    m.assign(&lost_o, &lost.q);
    m.assign(&idle_o, !(waiting | &sends | pending.q.any()));
    m.assign(&awvalid_o, &address.q);
    m.assign(&awaddr_o, &wp_o);
    m.assign(&awlen_o, if burst_words == 1 { zero(8) } else { len.q.zext(8) });
    m.assign(&awsize_o, lit(3, byte_bits.into()));
    m.assign(&awburst_o, lit(2, 0b01));
    m.assign(&wvalid_o, &data.q);
    m.assign(&wstrb_o, ones(word_bytes));
    m.assign(&wlast_o, &last_beat);
    m.assign(&bready_o, true);

    let left = (&len.q - &beat.q).zext(usage.width());
    m.assert_always("words_for_beats", !&data.q | usage.gt(left));
    m.assert_always("beat_in_burst", !&data.q | beat.q.le(&len.q));
    let write = concat(&[&awvalid_o, &awaddr_o, &awlen_o]);
    m.assert_stays("write_address", &awvalid_o & !&awready_i, write);
    let write = concat(&[&wvalid_o, &wdata_o, &wlast_o]);
    m.assert_stays("write_data", &wvalid_o & !&wready_i, write);
    m.assume_always("response_is_expected", !&bvalid_i | pending.q.any());
    m.assume_always("pointer_written_while_idle", !&wp_we_i | &idle_o);
    m.finish()
}

/// The burst that the words in the FIFO could form.
struct Burst {
    /// Its number of words minus one.
    len: Expr,
    /// It reaches the next multiple of a whole burst, or the limit.
    whole: Expr,
    words: u32,
}

fn burst(m: &Module, [wp, limit]: [&Expr; 2], usage: &Expr, words: u32) -> Burst {
    if words == 1 {
        return Burst { len: zero(1), whole: usage.any(), words };
    }
    let bits = index_width(words);
    let wide = usage.width() + 1;
    let high = |word: &Expr| word.slice(bits, word.width() - bits);
    let low = wp.trunc(bits);
    let near_limit = m.let_("near_limit", high(wp).eq(high(limit)));
    let last = m.let_("last_of_burst", near_limit.mux(limit.trunc(bits), ones(bits)));
    let reached = m.let_("reached", usage.zext(wide) + low.zext(wide));
    let whole = m.let_("whole", reached.gt(last.zext(wide)));
    let len = whole.mux(&last - &low, usage.trunc(bits) - lit(bits, 1));
    Burst { len, whole, words }
}

impl Burst {
    /// The last word of a burst that starts at `wp`. There is no carry: it does not cross a multiple.
    fn end(&self, wp: &Expr, len: &Expr) -> Expr {
        if self.words == 1 {
            return wp.clone();
        }
        let bits = index_width(self.words);
        let high = wp.slice(bits, wp.width() - bits);
        concat(&[&high, &(wp.trunc(bits) + len)])
    }
}
