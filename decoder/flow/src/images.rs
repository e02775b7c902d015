//! The programs that a hart runs at different times.

use crate::config::Config;
use crate::event::StreamPos;
use crate::image::Image;
use hartrace_bits::mask;
use hartrace_etrace::Start;
use std::fmt::Debug;

/// The context and time that determine which program a hart runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// The context; `None` if the trace has none.
    pub context: Option<u64>,
    /// The time that the last synchronisation reported.
    pub time: u64,
    /// Offset in the capture of the payload that reported it.
    pub byte: u64,
}

/// Programs that change while the hart runs. The tracer asks at every synchronisation, so no image has to
/// be created before it is needed.
pub trait Versions: Debug + Sync {
    /// The program at a moment, with a unique number; `None` to use the program that [`Images`]
    /// lists.
    fn at(&self, moment: Moment) -> Option<(usize, Image)>;
}

/// The programs of a hart: one, or one per context; they may change with time.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    default: &'a Image,
    listed: Vec<Listed<'a>>,
    versions: Option<&'a dyn Versions>,
}

#[derive(Copy, Clone, Debug)]
struct Listed<'a> {
    /// `None` stands for all contexts that are not listed.
    context: Option<u64>,
    since: u64,
    image: &'a Image,
}

impl<'a> Images<'a> {
    /// Creates a list with one program for all contexts that are not listed.
    pub fn new(default: &'a Image) -> Self {
        Self { default, listed: Vec::new(), versions: None }
    }

    /// Lists the program of one context. The image must be complete, including code shared with other
    /// contexts, such as a kernel. It replaces the image given before for the same context. The register
    /// width and encodings of the default image apply to all contexts.
    pub fn context(self, context: u64, image: &'a Image) -> Self {
        self.since(0, Some(context), image)
    }

    /// Lists the program of a context that applies from a time on, as reported by synchronisations; `None`
    /// stands for all contexts that are not listed.
    pub fn since(mut self, time: u64, context: Option<u64>, image: &'a Image) -> Self {
        self.listed.retain(|other| (other.context, other.since) != (context, time));
        self.listed.push(Listed { context, since: time, image });
        self
    }

    /// Asks `versions` first; the listed programs apply if `versions` returns none.
    pub fn versions(mut self, versions: &'a dyn Versions) -> Self {
        self.versions = Some(versions);
        self
    }

    pub(crate) fn default_image(&self) -> Image {
        self.default.clone()
    }

    /// Only the default program.
    pub(crate) fn only_default(&self) -> Self {
        Self::new(self.default)
    }

    /// Whether one program applies to everything.
    pub(crate) fn is_one(&self) -> bool {
        self.listed.is_empty() && self.versions.is_none()
    }

    /// The program that applies in a context at a time, and its number; the default one has number 0.
    pub(crate) fn find(
        &self,
        config: &Config,
        at: StreamPos,
        (context, time): (u64, u64),
    ) -> (usize, Image) {
        let context = (!config.params.nocontext_p).then_some(context);
        let moment = Moment { context, time, byte: at.byte };
        if let Some((number, image)) = self.versions.and_then(|versions| versions.at(moment)) {
            return (number.saturating_add(self.listed.len()).saturating_add(1), image);
        }
        let newest = |context: Option<u64>| {
            let all = self.listed.iter().zip(1..);
            let there = all.filter(|(l, _)| l.context == context && l.since <= time);
            there
                .max_by_key(|(listed, _)| listed.since)
                .map(|(l, number)| (number, l.image.clone()))
        };
        let own = context.and_then(|context| newest(Some(context)));
        own.or_else(|| newest(None)).unwrap_or_else(|| (0, self.default.clone()))
    }

    /// Mask of the valid address bits: as wide as the encoder's addresses, and no wider than the hart's.
    pub(crate) fn mask(&self, config: &Config) -> u64 {
        let width = u32::from(config.params.iaddress_width_p);
        mask(width.min(self.default.isa().xlen.bits()))
    }

    /// Whether there is code at the address of a synchronisation, and its `branch` field fits.
    pub(crate) fn code_at(&self, config: &Config, at: StreamPos, start: &Start) -> bool {
        let address = start.address.wrapping_shl(config.params.iaddress_lsb_p.into());
        let (_, image) = self.find(config, at, (start.context, start.time));
        let address = address & self.mask(config);
        let insn = image.insn(address);
        insn.is_some_and(|insn| config.check_branch(address, insn, start.branch).is_ok())
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
    use crate::{Count, Tracer};
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
            // The synchronisation itself reports the last one.
            assert_eq!(
                count,
                Count { instructions: instructions + 1, gaps: 0 },
                "{context} {time}"
            );
        }
    }

    /// Code that a hart has loaded while it ran is followed, from where it was before.
    #[test]
    fn the_program_gets_more_code() {
        let nops = |size: usize| [0x01, 0x00].repeat(size / 2);
        let mut before = Image::new(Isa::new(Xlen::Rv64));
        before.add(0x1000, &nops(0x10));
        let mut after = before.clone();
        after.add(0x800, &nops(0x10));
        after.add(0x1010, &nops(0x10));
        for (extends, expected) in [
            (false, Count { instructions: 2 + 1, gaps: 1 }),
            (true, Count { instructions: 12 + 1, gaps: 0 }),
        ] {
            let config = Config::default();
            let lsb = config.params.iaddress_lsb_p;
            let mut tracer = Tracer::new(config, &before).unwrap();
            let mut count = Count::default();
            for (packet, address) in [(0, 0x1000u64), (1, 0x1004), (2, 0x1018)] {
                let start = Start { branch: true, address: address >> lsb, ..Start::default() };
                if packet == 2 && extends {
                    tracer.extend(&after);
                }
                tracer.feed(StreamPos { packet, byte: 0 }, &Payload::Start(start), &mut count);
            }
            tracer.finish(&mut count);
            assert_eq!(count, expected);
        }
    }
}
