//! Designs that this project generates.

use crate::{Design, FpgaError, Source};
use hartrace_cva6_connector as connector;
use hartrace_decoder_hdl::{Decoder, DecoderError};
use hartrace_encoder_hdl::top::{TopConfig, TopError, top};
use hartrace_encoder_hdl::{Config, ConfigError, compressors, files, sources};
use thiserror::Error;

/// There is no such design.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DesignError {
    /// The encoder cannot have these parameters.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The encoder cannot have these registers or this sink.
    #[error(transparent)]
    Top(#[from] TopError),
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

    /// A module of a trace encoder, with everything inside it: of `te_core`, of `te_top`, which also has registers and a
    /// sink, or of the connector between a CVA6 and this encoder.
    ///
    /// # Errors
    ///
    /// If there is no encoder with these parameters, or it has no such module.
    pub fn of_encoder(name: &str, config: &TopConfig, module: &str) -> Result<Self, DesignError> {
        let mut modules: Vec<String> = Vec::new();
        for files in [core, whole, connector] {
            let files = files(config)?;
            let names = files.iter().filter_map(|(file, _)| file.strip_suffix(".sv"));
            modules.extend(names.map(str::to_owned));
            if modules.iter().any(|other| other == module) {
                let texts: Vec<&str> = files.iter().map(|(_, text)| text.as_str()).collect();
                let source = Source::new(module, &texts.join("\n"))?;
                return Ok(Self { name: name.to_owned(), source, unrolled: None });
            }
        }
        modules.sort();
        modules.dedup();
        Err(DesignError::Module { name: name.to_owned(), module: module.to_owned(), modules })
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

/// Names and texts of files.
type Files = Vec<(String, String)>;

/// Files of `te_core`.
fn core(config: &TopConfig) -> Result<Files, DesignError> {
    Ok(sources(&config.encoder)?)
}

/// Files of `te_top`.
fn whole(config: &TopConfig) -> Result<Files, DesignError> {
    Ok(files(&top(config)?))
}

/// Files of the connector, if there is one for this width of addresses.
fn connector(config: &TopConfig) -> Result<Files, DesignError> {
    let package = connector::package(&config.encoder, &config.prefix, connector::Interface::Nets);
    Ok(package.map(|(modules, _)| modules).unwrap_or_default())
}
