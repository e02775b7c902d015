use super::finder::FinderOut;
use super::reader::ReaderOut;
use super::{ID, WORD, finder, reader, router};
use crate::wires::delay;
use hartrace_rtl::{Component, Module, Wire, bundle};

bundle! {
    /// The outputs of a [`stage`].
    pub(crate) struct StageOut { valid, bytes, ids, all, error, synced }
}
use thiserror::Error;

/// The parameters of a stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of decoders, 1 to 16.
    pub decoders: u32,
}

/// A stage cannot have these parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Another number of decoders.
    #[error("{0} decoders; 1 to 16 are possible")]
    Decoders(u32),
}

/// The module `frame_stage`: the words of a trace port in, lanes of bytes for each decoder out.
///
/// # Errors
///
/// If there is no stage with these parameters.
pub fn stage(config: &Config) -> Result<Component, ConfigError> {
    let outputs = config.decoders;
    if !(1..=16).contains(&outputs) {
        return Err(ConfigError::Decoders(outputs));
    }
    let m = Module::new(
        "frame_stage",
        "The bytes of each source, from the CoreSight frames of a trace port. It never waits.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "there is a word");
    let bytes_i = m.input("bytes_i", 8 * WORD, "the word of the port, the oldest byte lowest");
    let sources_i = m.input("sources_i", ID * outputs, "the number of each decoder's source");
    let out = StageOut {
        valid: Wire::new(WORD * outputs, "valid bytes of decoder 0, and so on"),
        bytes: Wire::new(8 * WORD, "bytes of all decoders, the oldest lowest"),
        ids: Wire::new(ID * WORD, "the numbers of their sources; 0 if not known"),
        all: Wire::new(WORD, "valid bytes of any source, padding and marks included"),
        error: Wire::new(1, "bytes are missing between those before and those after"),
        synced: Wire::new(1, "it is known where frames start"),
    };
    let out = out.outputs(&m);

    let word = [("valid_i", &valid_i), ("bytes_i", &bytes_i)];
    let found = FinderOut::of(&m.inst("i_finder", &finder::build(), &word));
    let read = ReaderOut::of(&m.inst(
        "i_reader",
        &reader::build(),
        &[
            ("row_valid_i", &found.row_valid),
            ("row_i", &found.row),
            ("row_number_i", &found.row_number),
            ("error_i", &found.error),
        ],
    ));
    m.inst(
        "i_router",
        &router::build(outputs),
        &[
            ("valid_i", &read.valid),
            ("ids_i", &read.ids),
            ("sources_i", &sources_i),
            ("valid_o", &out.valid),
        ],
    );
    m.section("What goes with the lanes.");
    m.assign(&out.bytes, delay(&m, "bytes", &read.bytes, false));
    m.assign(&out.ids, delay(&m, "ids", &read.ids, false));
    m.assign(&out.all, delay(&m, "all", &read.valid, true));
    m.assign(&out.error, delay(&m, "error", &read.error, true));
    m.assign(&out.synced, &found.synced);
    Ok(m.finish())
}
