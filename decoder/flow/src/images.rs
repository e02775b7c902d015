use crate::{Config, Image};
use hartrace_bits::mask;
use hartrace_etrace::Start;

/// The programs of a hart: one, or one per context, which may change with time.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    default: &'a Image,
    listed: Vec<Listed<'a>>,
}

#[derive(Copy, Clone, Debug)]
struct Listed<'a> {
    /// `None` for all contexts that are not listed.
    context: Option<u64>,
    since: u64,
    image: &'a Image,
}

impl<'a> Images<'a> {
    /// One program for all contexts that are not listed.
    pub fn new(default: &'a Image) -> Self {
        Self { default, listed: Vec::new() }
    }

    /// The program of one context: all of it, with what it shares with others, as a kernel. Replaces
    /// the one given before for the same context. Which registers are wide and which encodings
    /// exist is that of the default image for all.
    pub fn context(self, context: u64, image: &'a Image) -> Self {
        self.since(0, Some(context), image)
    }

    /// The program of a context from a time on, as synchronisations have it; `None` for all contexts that
    /// have none of their own.
    pub fn since(mut self, time: u64, context: Option<u64>, image: &'a Image) -> Self {
        self.listed.retain(|other| (other.context, other.since) != (context, time));
        self.listed.push(Listed { context, since: time, image });
        self
    }

    pub(crate) fn default_image(&self) -> &'a Image {
        self.default
    }

    /// All of them, the default one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a Image> + '_ {
        std::iter::once(self.default).chain(self.listed.iter().map(|listed| listed.image))
    }

    /// The number of the one that counts in a context at a time.
    pub(crate) fn number(&self, config: &Config, context: u64, time: u64) -> usize {
        let newest = |context: Option<u64>| {
            let all = self.listed.iter().zip(1..);
            let there = all.filter(|(l, _)| l.context == context && l.since <= time);
            there.max_by_key(|(listed, _)| listed.since).map(|(_, number)| number)
        };
        let own = if config.params.nocontext_p { None } else { newest(Some(context)) };
        own.or_else(|| newest(None)).unwrap_or(0)
    }

    /// The bits of an address that count: as wide as the encoder's, and no wider than the hart's.
    pub(crate) fn mask(&self, config: &Config) -> u64 {
        let width = u32::from(config.params.iaddress_width_p);
        mask(width.min(self.default.isa().xlen.bits()))
    }

    /// The program of a context at a time.
    pub(crate) fn image(&self, config: &Config, context: u64, time: u64) -> &'a Image {
        self.iter().nth(self.number(config, context, time)).unwrap_or(self.default)
    }

    /// Whether there is code where a synchronisation says.
    pub(crate) fn code_at(&self, config: &Config, start: &Start) -> bool {
        let address = start.address.wrapping_shl(config.params.iaddress_lsb_p.into());
        let image = self.image(config, start.context, start.time);
        image.insn(address & self.mask(config)).is_some()
    }
}

impl<'a> From<&'a Image> for Images<'a> {
    fn from(image: &'a Image) -> Self {
        Self::new(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, StreamPos, Tracer};
    use hartrace_etrace::{Params, Payload};
    use hartrace_isa::{Isa, Xlen};

    /// Code at 0x1000: instructions of two bytes, or of four.
    fn image(nop: &[u8]) -> Image {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(0x1000, &nop.repeat(0x40 / nop.len()));
        image
    }

    #[test]
    fn the_program_changes_with_context_and_time() {
        let (short, long) = (image(&[0x01, 0x00]), image(&[0x13, 0x00, 0x00, 0x00]));
        let images = Images::new(&short)
            .context(5, &long)
            .since(20, Some(5), &short)
            .since(20, None, &long)
            .since(40, Some(6), &short);
        let params = Params {
            nocontext_p: false,
            context_width_p: 8,
            notime_p: false,
            time_width_p: 8,
            ..Params::default()
        };
        for (context, time, instructions) in [
            (0, 0, 8),
            (0, 20, 4),
            (5, 0, 4),
            (5, 19, 4),
            (5, 20, 8),
            (6, 19, 8),
            (6, 39, 4),
            (6, 40, 8),
        ] {
            let config = Config { params, ..Config::default() };
            let mut tracer = Tracer::new(config, images.clone()).unwrap();
            let mut count = Count::default();
            let lsb = params.iaddress_lsb_p;
            for (packet, address) in [(0, 0x1000u64), (1, 0x1010)] {
                let start = Start {
                    branch: true,
                    context,
                    time,
                    address: address >> lsb,
                    ..Start::default()
                };
                tracer.feed(StreamPos { packet, byte: 0 }, &Payload::Start(start), &mut count);
            }
            tracer.finish(&mut count);
            // The last one is told by its synchronisation.
            assert_eq!(
                count,
                Count { instructions: instructions + 1, gaps: 0 },
                "{context} {time}"
            );
        }
    }
}
