use super::{ID, WORD, finder, reader, router};
use crate::wires::delay;
use hartrace_rtl::{Component, Module};
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
    let valid_o = m.output("valid_o", WORD * outputs, "valid bytes of decoder 0, and so on");
    let bytes_o = m.output("bytes_o", 8 * WORD, "bytes of all decoders, the oldest lowest");
    let ids_o = m.output("ids_o", ID * WORD, "the numbers of their sources; 0 if not known");
    let all_o = m.output("all_o", WORD, "valid bytes of any source, padding and marks included");
    let error_o = m.output("error_o", 1, "bytes are missing between those before and those after");
    let synced_o = m.output("synced_o", 1, "it is known where frames start");

    let found =
        m.inst("i_finder", &finder::build(), &[("valid_i", &valid_i), ("bytes_i", &bytes_i)]);
    let read = m.inst(
        "i_reader",
        &reader::build(),
        &[
            ("row_valid_i", &found["row_valid_o"]),
            ("row_i", &found["row_o"]),
            ("row_number_i", &found["row_number_o"]),
            ("error_i", &found["error_o"]),
        ],
    );
    m.inst(
        "i_router",
        &router::build(outputs),
        &[
            ("valid_i", &read["valid_o"]),
            ("ids_i", &read["ids_o"]),
            ("sources_i", &sources_i),
            ("valid_o", &valid_o),
        ],
    );
    m.section("What goes with the lanes.");
    m.assign(&bytes_o, delay(&m, "bytes", &read["bytes_o"], false));
    m.assign(&ids_o, delay(&m, "ids", &read["ids_o"], false));
    m.assign(&all_o, delay(&m, "all", &read["valid_o"], true));
    m.assign(&error_o, delay(&m, "error", &read["error_o"], true));
    m.assign(&synced_o, &found["synced_o"]);
    Ok(m.finish())
}
