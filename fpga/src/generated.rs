//! Designs that this project generates.

use crate::{Design, FpgaError, Source};
use hartrace_decoder_hdl::{Decoder, DecoderError};
use hartrace_encoder_hdl::{Config, ConfigError, compressors, sources};
use thiserror::Error;

/// There is no such design.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DesignError {
    /// The encoder cannot have these parameters.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The encoder has no such module.
    #[error("{name} has no module `{module}`, only {}", modules.join(", "))]
    Module {
        /// The encoder.
        name: String,
        /// The module.
        module: String,
        /// Those that it has.
        modules: Vec<String>,
    },
    /// The text cannot be used.
    #[error(transparent)]
    Source(#[from] FpgaError),
}

impl Design {
    /// Names of all encoders and compressors.
    #[must_use]
    pub fn names() -> Vec<String> {
        let compressors = compressors::NAMES.iter().map(|&name| name.to_owned());
        Config::all_named().into_keys().chain(compressors).collect()
    }

    /// A compressor of program traces, if there is one of this name.
    #[must_use]
    pub fn of_compressor(name: &str) -> Option<Self> {
        let source = Source::from(&compressors::named(name)?);
        Some(Self { name: name.to_owned(), source, unrolled: None })
    }

    /// A module of a trace encoder, with everything inside it.
    ///
    /// # Errors
    ///
    /// If there is no encoder with these parameters, or it has no such module.
    pub fn of_encoder(name: &str, config: &Config, module: &str) -> Result<Self, DesignError> {
        let files = sources(config)?;
        let names = files.iter().filter_map(|(file, _)| file.strip_suffix(".sv"));
        let modules: Vec<String> = names.map(str::to_owned).collect();
        if !modules.iter().any(|other| other == module) {
            let (name, module) = (name.to_owned(), module.to_owned());
            return Err(DesignError::Module { name, module, modules });
        }
        let texts: Vec<&str> = files.iter().map(|(_, text)| text.as_str()).collect();
        let source = Source::new(module, &texts.join("\n"))?;
        Ok(Self { name: name.to_owned(), source, unrolled: None })
    }

    /// A trace decoder, named by its bytes per cycle.
    ///
    /// # Errors
    ///
    /// If there is no decoder with these parameters.
    pub fn of_decoder(decoder: &Decoder) -> Result<Self, DecoderError> {
        let (source, chain) = (decoder.component()?, decoder.chain()?);
        let unroll = decoder.unroll();
        Ok(Self {
            name: format!("{unroll} bytes per cycle"),
            source: Source::from(&source),
            unrolled: Some((unroll, Source::from(&chain))),
        })
    }
}
