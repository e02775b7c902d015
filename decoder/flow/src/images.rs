use crate::{Config, Image};
use hartrace_bits::mask;

/// The programs of a hart: one, or one per context.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    default: &'a Image,
    contexts: Vec<(u64, &'a Image)>,
}

impl<'a> Images<'a> {
    /// One program for all contexts that are not listed.
    pub fn new(default: &'a Image) -> Self {
        Self { default, contexts: Vec::new() }
    }

    /// The program of one context: all of it, with what it shares with others, as a kernel. Replaces
    /// the one given before for the same context. Which registers are wide and which encodings
    /// exist is that of the default image for all.
    pub fn context(mut self, context: u64, image: &'a Image) -> Self {
        self.contexts.retain(|(other, _)| *other != context);
        self.contexts.push((context, image));
        self
    }

    pub(crate) fn default_image(&self) -> &'a Image {
        self.default
    }

    /// All of them, the default one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<u64>, &'a Image)> + '_ {
        let listed = self.contexts.iter().map(|(context, image)| (Some(*context), *image));
        std::iter::once((None, self.default)).chain(listed)
    }

    /// The bits of an address that count: as wide as the encoder's, and no wider than the hart's.
    pub(crate) fn mask(&self, config: &Config) -> u64 {
        let width = u32::from(config.params.iaddress_width_p);
        mask(width.min(self.default.isa().xlen.bits()))
    }

    /// Whether there is code at the address in a field of format 3.
    pub(crate) fn code_at(&self, config: &Config, context: u64, field: u64) -> bool {
        let address = field.wrapping_shl(config.params.iaddress_lsb_p.into());
        let mut listed = self.contexts.iter().filter(|_| !config.params.nocontext_p);
        let image = listed.find(|(other, _)| *other == context).map_or(self.default, |(_, i)| i);
        image.insn(address & self.mask(config)).is_some()
    }
}

impl<'a> From<&'a Image> for Images<'a> {
    fn from(image: &'a Image) -> Self {
        Self::new(image)
    }
}
