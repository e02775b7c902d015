//! Exact compression: of the identical bits at the top, one is sent.

use super::length::Length;
use super::place::{Moving, Places};
use super::{Front, Made};
use hartrace_etrace::Format;

pub(super) fn build(front: &Front<'_>, width: u32) -> Made {
    let Front { m, layout, second, .. } = front;
    let rest = front.rest();
    let moving = Moving { address: &second.address, tval: &second.tval, top: None };
    let places = Places::new(m, layout, &front.kinds, &rest, moving, &front.options);
    let plain = places.plain(width);

    m.section("Third stage: the fields in their places.");
    let plain = front.hold("plain", plain);
    let plain_length = Length::of_payload(m, "plain", &plain);
    let plain_len = plain_length.number(1);
    let Some(target) = rest.target.as_ref().filter(|_| front.config.caches()) else {
        return Made { data: plain, len: plain_len, index: None };
    };
    let brief_width = layout.max_format_bits(Format::JumpTarget).div_ceil(8) * 8;
    let brief = front.hold("brief", places.index(brief_width));
    let hit = front.hit();
    let target = front.hold("third_target", target);
    let brief_length = Length::of_payload(m, "brief", &brief);
    let indexed = m.let_("indexed", hit & !brief_length.exceeds(&plain_length));
    Made {
        data: indexed.mux(brief.sext(width), plain),
        len: indexed.mux(brief_length.number(1), plain_len),
        index: Some((target, indexed)),
    }
}
