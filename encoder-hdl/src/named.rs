//! Configurations with a name.

use crate::config::{Config, ConfigError};
use std::collections::BTreeMap;
use thiserror::Error;

const TEXT: &str = include_str!("../configs.toml");

/// A file that is no configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no TOML, or has keys that mean nothing.
    #[error("{0}")]
    Text(String),
    /// It cannot be generated.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Config {
    /// Reads a configuration; what is not given has its default.
    pub fn from_toml(text: &str) -> Result<Self, ReadError> {
        let config: Self =
            toml::from_str(text).map_err(|error| ReadError::Text(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// The configuration of this name in `configs.toml`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all_named().remove(name)
    }

    /// Every named configuration.
    ///
    /// # Panics
    ///
    /// Not: the tests read the file.
    #[must_use]
    pub fn all_named() -> BTreeMap<String, Self> {
        toml::from_str(TEXT).unwrap_or_default()
    }
}
