//! Configurations with a name.

use crate::config::{Config, ConfigError};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use thiserror::Error;

const TEXT: &str = include_str!("../configs.toml");

/// Names that configurations had before, and their names now.
const FORMER: [(&str, &str); 1] = [("rv_tracer", "small_bytes")];

/// Reasons why a file is not a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError<E> {
    /// It is not TOML, or has unknown keys.
    #[error("{0}")]
    Text(String),
    /// It cannot be generated.
    #[error(transparent)]
    Config(#[from] E),
}

/// Reads a configuration, without checking it.
pub(crate) fn parse<C: DeserializeOwned, E>(text: &str) -> Result<C, ReadError<E>> {
    toml::from_str(text).map_err(|error| ReadError::Text(error.to_string()))
}

impl Config {
    /// Reads a configuration; parameters that are not given have their defaults.
    pub fn from_toml(text: &str) -> Result<Self, ReadError<ConfigError>> {
        let config: Self = parse(text)?;
        config.check()?;
        Ok(config)
    }

    /// The configuration of this name in `configs.toml`, or of a name that it had before.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let former = FORMER.iter().find(|(former, _)| *former == name);
        Self::all_named().remove(former.map_or(name, |(_, now)| now))
    }

    /// Every named configuration.
    ///
    /// # Panics
    ///
    /// Never: the tests read the file.
    #[must_use]
    pub fn all_named() -> BTreeMap<String, Self> {
        toml::from_str(TEXT).unwrap_or_default()
    }
}
