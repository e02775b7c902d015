use thiserror::Error;

/// Why a recording cannot be used. Positions are bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not start as a recording does.
    #[error("byte 0: this is no recording of perf: it does not start with PERFILE2")]
    Magic,
    /// A recording of a big-endian machine.
    #[error("byte 0: this is a recording of a big-endian machine, which is not supported")]
    BigEndian,
    /// The file ends within something.
    #[error("byte {byte}: {what} ends at byte {end}, but the file has {size} bytes")]
    Short {
        /// Where it starts.
        byte: u64,
        /// What it is.
        what: &'static str,
        /// Where it would end.
        end: u64,
        /// The size of the file.
        size: u64,
    },
    /// A record or section is too short for its fields.
    #[error("byte {byte}: {what} is too short for its fields")]
    Fields {
        /// The first byte that is missing.
        byte: u64,
        /// What is too short.
        what: &'static str,
    },
    /// A field has a value that cannot be.
    #[error("byte {byte}: {what} is {value}")]
    Value {
        /// Where the field is.
        byte: u64,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// Records are compressed.
    #[error("byte {byte}: the records are compressed, which is not supported")]
    Compressed {
        /// Where the first of them is.
        byte: u64,
    },
    /// There is no hardware trace in the recording.
    #[error("the recording has no hardware trace: it has no AUXTRACE_INFO record")]
    NoTrace,
    /// Hardware trace of another kind.
    #[error("byte {byte}: the recording has {name} trace, which is not supported")]
    Kind {
        /// Where it is stated.
        byte: u64,
        /// What it is.
        name: String,
    },
}
