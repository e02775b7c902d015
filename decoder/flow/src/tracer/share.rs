//! Sources of one stream share what is known of the code.

use super::Tracer;
use super::history::HistoryCursor;
use super::state::{Held, Reference, State};
use crate::image::Image;
use crate::run::NONE;

/// What a tracer needs to continue after other tracers had the code.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// Its program and the number of it, if there are several.
    program: Option<(usize, Image)>,
    /// Start of the present block.
    start: Option<u64>,
    /// The period in which block numbers stay valid.
    epoch: u64,
}

impl<'a> Tracer<'a> {
    /// Creates a tracer for another source of the stream that `self` decodes. It knows no code until it
    /// takes that of another tracer, and has to be restarted first.
    pub(crate) fn sibling(&self) -> Self {
        Self {
            config: self.config.clone(),
            walk: self.walk.sibling(),
            cache: self.cache.empty(),
            programs: Box::new(self.programs.hollow(&self.config)),
            left: None,
            undecided: None,
            unfinished: None,
            may_be_closing: None,
            history: Box::new(HistoryCursor::new(self.config.params.hpred_size_p)),
            ..*self
        }
    }

    /// Takes what `other` knows of the code.
    pub(crate) fn take_code(&mut self, other: &mut Self) {
        other.left = Some(other.leave());
        std::mem::swap(&mut self.programs, &mut other.programs);
        let left = self.left.take();
        match left {
            Some(left) => self.resume(left),
            None => self.programs.restart(&self.config),
        }
    }

    /// Adds code to the program, such as that of a library which the hart has loaded: `image` has all code of the present
    /// program, and more.
    pub fn extend(&mut self, image: &Image) {
        let left = self.leave();
        self.programs.extend(image.clone(), &self.config);
        self.resume(left);
    }

    fn leave(&self) -> Left {
        let code = &self.programs.code;
        Left {
            program: self.programs.present(),
            start: code.blocks.get(self.walk.block).map(|block| block.start),
            epoch: code.memo.paths.epoch(),
        }
    }

    /// Finds the present block again.
    fn resume(&mut self, left: Left) {
        let Self { programs, walk, config, .. } = self;
        if let Some((number, image)) = left.program {
            programs.resume(number, image, config);
        }
        let code = &mut programs.code;
        if code.memo.paths.epoch() != left.epoch {
            if code.blocks.is_full() {
                code.forget();
            }
            let block = left.start.and_then(|start| code.blocks.at(start).ok());
            walk.block = block.unwrap_or(NONE);
        }
    }

    /// Whether damage to the stream changes nothing, since all is lost already.
    pub(crate) fn is_lost(&self) -> bool {
        self.state == State::Lost
            && self.reference == Reference::Lost
            && self.held == Held::Nothing
            && self.unfinished.is_none()
            && self.may_be_closing.is_none()
    }
}
