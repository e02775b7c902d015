//! The programs of a hart, decoded as far as they have been followed.

use crate::blocks::Blocks;
use crate::config::Config;
use crate::event::StreamPos;
use crate::image::Image;
use crate::images::Images;
use crate::memo::Memo;
use hartrace_etrace::Start;
use hartrace_isa::Insn;

/// Maximum number of programs of other contexts and times whose decoded code is kept. Decoded code uses up
/// to twice the size of its program, and every synchronisation may introduce another version.
const PARKED: usize = 64;

/// A program, and the code and paths decoded from it.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The number of its image.
    number: usize,
    pub(crate) image: Image,
    pub(crate) blocks: Blocks,
    pub(crate) memo: Memo,
}

impl Code {
    fn new(number: usize, image: Image, mask: u64, config: &Config) -> Self {
        let blocks = Blocks::new(image.clone(), mask, config.block_cap);
        Self { number, image, blocks, memo: Memo::new(config.path_cap) }
    }

    /// Discards everything except the program.
    pub(crate) fn forget(&mut self) {
        self.blocks.clear();
        self.memo.forget();
    }
}

/// All programs of a hart.
#[derive(Clone, Debug)]
pub(crate) struct Programs<'a> {
    /// The code of the present context.
    pub(crate) code: Code,
    /// Code of other contexts and times, in the order in which they were left.
    parked: Vec<Code>,
    images: Images<'a>,
    /// Mask of the valid address bits.
    mask: u64,
}

impl<'a> Programs<'a> {
    /// Starts with the default image.
    pub(crate) fn new(images: Images<'a>, mask: u64, config: &Config) -> Self {
        let code = Code::new(0, images.default_image(), mask, config);
        Self { code, parked: Vec::new(), images, mask }
    }

    /// The instruction at the address of a synchronisation, in the program that it selects.
    pub(crate) fn insn_at(
        &self,
        config: &Config,
        at: StreamPos,
        start: &Start,
        address: u64,
    ) -> Option<Insn> {
        if self.images.is_one() {
            return self.code.image.insn(address);
        }
        let (_, image) = self.images.find(config, at, (start.context, start.time));
        image.insn(address)
    }

    /// Changes to the program of a context at a time. Returns whether the program changed.
    pub(crate) fn enter(
        &mut self,
        config: &Config,
        at: StreamPos,
        context: u64,
        time: u64,
    ) -> bool {
        if self.images.is_one() {
            return false;
        }
        let (number, image) = self.images.find(config, at, (context, time));
        let changes = number != self.code.number;
        if changes {
            self.change(number, image, config);
        }
        changes
    }

    /// Gives the present program more code.
    pub(crate) fn extend(&mut self, image: Image, config: &Config) {
        self.code = Code::new(self.code.number, image, self.mask, config);
    }

    /// Changes back to the default image.
    pub(crate) fn restart(&mut self, config: &Config) {
        if self.code.number != 0 {
            self.change(0, self.images.default_image(), config);
        }
    }

    /// Changes to another program, and keeps the decoded code of the present one.
    fn change(&mut self, number: usize, image: Image, config: &Config) {
        let known = self.parked.iter().position(|code| code.number == number);
        let next = match known {
            Some(index) => self.parked.remove(index),
            None => Code::new(number, image, self.mask, config),
        };
        if self.parked.len() >= PARKED {
            // Remove the one that was left first.
            self.parked.remove(0);
        }
        self.parked.push(std::mem::replace(&mut self.code, next));
    }

    /// The same without any code.
    pub(crate) fn hollow(&self, config: &Config) -> Self {
        let images = self.images.only_default();
        Self::new(images, self.mask, config)
    }

    /// The present program and its number, if there are several.
    pub(crate) fn present(&self) -> Option<(usize, Image)> {
        let Code { number, image, .. } = &self.code;
        (!self.images.is_one()).then(|| (*number, image.clone()))
    }

    /// Changes back to a program that was present before.
    pub(crate) fn resume(&mut self, number: usize, image: Image, config: &Config) {
        if number != self.code.number {
            self.change(number, image, config);
        }
    }
}
