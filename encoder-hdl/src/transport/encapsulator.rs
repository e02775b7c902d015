//! Headers around payloads.

use crate::transport::len_width;
use hartrace_encap::EncapParams;
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};

/// The packet that an [`encapsulator`] makes of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Packets of the standard encapsulation v1.0. On an ATB, use neither srcID nor type.
    Encap(EncapParams),
    /// Frames of `te_inst_raw` files: `0x40 | length` and the payload.
    Reference,
}

impl Frame {
    /// Maximum number of bytes of a packet with at most `payload` bytes of payload.
    #[must_use]
    pub fn max_bytes(&self, payload: u32) -> u32 {
        1 + self.src_id_bits() / 8 + self.timestamp_bytes() + self.start().div_ceil(8) + payload
    }

    /// Maximum number of payload bytes that always fits the length field.
    #[must_use]
    pub fn max_payload(&self) -> u32 {
        31 - self.start().div_ceil(8)
    }

    fn src_id_bits(&self) -> u32 {
        self.params().map_or(0, |params| params.src_id_bits().into())
    }

    fn timestamp_bytes(&self) -> u32 {
        self.params().map_or(0, |params| params.timestamp_bytes().into())
    }

    fn type_bits(&self) -> u32 {
        self.params().map_or(0, |params| params.type_bits().into())
    }

    fn params(&self) -> Option<&EncapParams> {
        match self {
            Self::Encap(params) => Some(params),
            Self::Reference => None,
        }
    }

    /// Number of bits before the payload that the length field counts.
    fn start(&self) -> u32 {
        self.src_id_bits() % 8 + self.type_bits()
    }

    fn module_name(&self, max_bytes: u32) -> String {
        let (s, t, y) = (self.src_id_bits(), self.timestamp_bytes(), self.type_bits());
        match self {
            Self::Encap(_) => format!("encapsulator_s{s}t{t}y{y}_{max_bytes}"),
            Self::Reference => format!("encapsulator_raw_{max_bytes}"),
        }
    }
}

/// Puts payloads of 1 to `max_bytes` bytes into packets: `encapsulator_s{S}t{T}y{Y}_{max_bytes}` or
/// `encapsulator_raw_{max_bytes}`.
///
/// `valid_i ready_o data_i len_i` take a payload, `valid_o ready_i data_o len_o` give the packet,
/// of at most [`Frame::max_bytes`] bytes, in the same cycle. Inputs that accompany the payload, and
/// must be as stable, are `flow_i` (standard encapsulation only), `src_id_i`, `type_i` (where they
/// have bits) and `stamp_i`: whether this packet has a timestamp. The timestamp is `time_i` in the
/// first cycle in which the payload is offered.
///
/// Packets are those of `hartrace_encap::Framing::emit`, to the byte, if payloads are sign
/// compressed: after a srcID or type of odd width, a payload moves by some bits, so its last byte
/// may become redundant. It is then left out, and the bits after the payload repeat its sign.
///
/// # Panics
///
/// If `max_bytes` is 0 or more than [`Frame::max_payload`].
#[must_use]
#[track_caller]
pub fn encapsulator(frame: Frame, max_bytes: u32) -> Component {
    let most = frame.max_payload();
    assert!(
        (1..=most).contains(&max_bytes),
        "payloads of up to {max_bytes} bytes; 1 to {most} fit the length field"
    );
    let m = Module::new(&frame.module_name(max_bytes), doc(frame)).clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", max_bytes * 8, "payload, byte 0 in bits 7:0");
    let len_i = m.input("len_i", len_width(max_bytes), "bytes of it");
    let field = |name: &str, width: u32| (width > 0).then(|| m.input(name, width, ""));
    let flow = field("flow_i", if frame.params().is_some() { 2 } else { 0 });
    let src_id = field("src_id_i", frame.src_id_bits());
    let kind = field("type_i", frame.type_bits());
    let timestamp_bytes = frame.timestamp_bytes();
    let stamp = (timestamp_bytes > 0).then(|| {
        let stamp = m.input("stamp_i", 1, "this packet has a timestamp");
        (stamp, m.input("time_i", timestamp_bytes * 8, "may change at any time"))
    });
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let max_packet = frame.max_bytes(max_bytes);
    let data_o = m.output("data_o", max_packet * 8, "packet, byte 0 in bits 7:0");
    let len_o = m.output("len_o", len_width(max_packet), "bytes of it");

    m.assign(&valid_o, &valid_i);
    m.assign(&ready_o, &ready_i);

    let (payload, drop) = match frame.start() % 8 {
        0 => (data_i.clone(), None),
        odd => {
            let (payload, drop) = shifted(&m, &data_i, &len_i, odd);
            (payload, Some(drop))
        }
    };
    // What `length` counts besides the payload: whole bytes, and one that is shared with the
    // payload.
    let whole = lit(5, (frame.start() / 8).into());
    let length = len_i.zext(5) + whole;
    let length = m.let_("length", drop.map_or(length.clone(), |drop| length + (!drop).zext(5)));

    // From the last bit to the first.
    let mut behind_time = vec![payload];
    behind_time.extend(kind);
    let behind_time = join(&behind_time);
    let plain = join(
        &[Some(behind_time.clone()), src_id.clone()].into_iter().flatten().collect::<Vec<_>>(),
    );
    let (body, extend, uncounted) = match stamp {
        None => (plain, zero(1), zero(4)),
        Some((stamp, time)) => {
            let time = first_time(&m, &time, &(&valid_i & !&ready_i));
            let parts: Vec<Expr> =
                [Some(behind_time), Some(time), src_id].into_iter().flatten().collect();
            let stamped = join(&parts);
            let uncounted = stamp.gate(lit(4, timestamp_bytes.into()));
            (stamp.mux(&stamped, plain.zext(stamped.width())), stamp, uncounted)
        }
    };
    let header = match flow {
        Some(flow) => concat(&[&extend, &flow, &length]),
        None => concat(&[&lit(3, 0b010), &length]),
    };
    m.assign(&data_o, concat(&[&body, &header]));
    let width = len_o.width();
    let fixed = lit(width, (1 + frame.src_id_bits() / 8).into());
    let counted = length.zext(width.max(5));
    let total = counted + uncounted.zext(width.max(5));
    m.assign(&len_o, total.trunc(width) + fixed);

    let least = !valid_i | len_i.any();
    m.assume_always("payload_not_empty", least);
    m.finish()
}

fn doc(frame: Frame) -> &'static str {
    match frame {
        Frame::Encap(_) => {
            "Puts payloads into packets of the standard encapsulation v1.0. No register but for the\n\
             time at which a payload came."
        }
        Frame::Reference => {
            "Puts payloads into frames as te_inst_raw files have them. No register."
        }
    }
}

/// Concatenates parts, the most significant first.
fn join(parts: &[Expr]) -> Expr {
    concat(&parts.iter().collect::<Vec<_>>())
}

/// The payload, filled with its sign up to where the frame's last byte can end, and whether that
/// byte is redundant. Other fields use `odd` bits of the frame's first payload byte.
fn shifted(m: &Module, data: &Expr, len: &Expr, odd: u32) -> (Expr, Expr) {
    let max_bytes = data.width() / 8;
    m.section(
        "The payload does not start at a byte of the packet: its last bits get there in a byte of\n\
         their own, filled up with the sign. If they repeat the bit before them, it is left out.",
    );
    let signs = m.wire("signs", max_bytes);
    let redundant = m.wire("redundant", max_bytes);
    m.comb(|b| {
        b.set(&signs, zero(max_bytes));
        b.set(&redundant, zero(max_bytes));
        b.each(0..max_bytes, |b, i| {
            let top = data.slice(i.times(8).plus(7 - odd), odd + 1);
            b.set(&signs.bit(i), data.bit(i.times(8).plus(7)));
            b.set(&redundant.bit(i), top.all() | !top.any());
        });
    });
    let last = m.let_("last", len - lit(len.width(), 1));
    let sign = m.let_("sign", signs.bit_at(&last));
    let drop = m.let_("drop", redundant.bit_at(&last));
    let fill = sign.repeat(8 - odd);
    let filled = m.wire("filled", data.width());
    m.comb(|b| {
        b.set(&filled, data);
        if max_bytes > 1 {
            b.each(1..max_bytes, |b, i| {
                b.when(len.eq(i.expr(len.width())), |b| b.set_slice(&filled, i.times(8), &fill));
            });
        }
    });
    (concat(&[&fill, &filled]), drop)
}

/// The value of `time` when the waiting payload was first offered.
fn first_time(m: &Module, time: &Expr, waits: &Expr) -> Expr {
    let waited = m.reg("waited", zero(1));
    m.assign(&waited.d, waits);
    let first = m.reg_data("time", time.width(), !&waited.q);
    m.assign(&first.d, time);
    m.let_("stamp_time", waited.q.mux(&first.q, time))
}
