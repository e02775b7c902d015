//! Configurations of all types behind one.

use super::SchemeSetup;
use crate::compressor::Coding;
use crate::cost::Cost;
use crate::settings;
use crate::stream::{StreamCoder, Streams};
use crate::{CompressError, Compressor, Decompressor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// A configuration of any type.
pub(super) trait Config: Debug + Send + Sync {
    /// The same with some settings changed.
    fn with(&self, settings: &str) -> Result<Arc<dyn Config>, String>;

    fn check(&self) -> Result<(), CompressError>;

    fn cost(&self, xlen: u32) -> Option<Cost>;

    fn compressor<'a>(
        &self,
        setup: &SchemeSetup<'a>,
    ) -> Result<Box<dyn Compressor + 'a>, CompressError>;

    fn decompressor<'a>(&self, setup: &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a>;

    /// All settings, by key.
    fn settings(&self) -> Value;

    /// The configuration in its own type.
    fn inner(&self) -> &dyn Any;
}

/// A configuration of type `T`, and what its family does with it: `W` makes compressors and `R` decompressors.
#[derive(Copy, Clone)]
struct Configured<T, W, R> {
    config: T,
    check: fn(&T) -> Result<(), CompressError>,
    cost: Option<fn(&T, u32) -> Cost>,
    compressor: W,
    decompressor: R,
}

/// Returns a configuration of any type, of which `check` finds settings that are wrong; `cost` is `None` for software.
pub(super) fn configured<T, W, R>(
    config: T,
    check: fn(&T) -> Result<(), CompressError>,
    cost: Option<fn(&T, u32) -> Cost>,
    compressor: W,
    decompressor: R,
) -> Option<Arc<dyn Config>>
where
    T: Copy + Debug + DeserializeOwned + Send + Serialize + Sync + 'static,
    W: for<'a> Fn(&T, &SchemeSetup<'a>) -> Result<Box<dyn Compressor + 'a>, CompressError>,
    W: Copy + Send + Sync + 'static,
    R: for<'a> Fn(&T, &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a>
        + Copy
        + Send
        + Sync
        + 'static,
{
    Some(Arc::new(Configured { config, check, cost, compressor, decompressor }))
}

/// The same for a scheme of streams, of which `coder` makes both sides.
pub(super) fn streams<T, C>(
    config: T,
    check: fn(&T) -> Result<(), CompressError>,
    cost: Option<fn(&T, u32) -> Cost>,
    coder: fn(T, u32) -> C,
) -> Option<Arc<dyn Config>>
where
    T: Copy + Debug + DeserializeOwned + Send + Serialize + Sync + 'static,
    C: StreamCoder + 'static,
{
    configured(
        config,
        check,
        cost,
        move |config, setup| {
            let coder = coder(*config, setup.code.xlen().bits());
            let streams = Streams::new(setup.code, coder, setup.sync_every);
            Ok(Box::new(Coding::new(setup.code, streams, setup.sync_every)))
        },
        move |config, setup| {
            let coder = coder(*config, setup.code.xlen().bits());
            Box::new(Streams::new(setup.code, coder, setup.sync_every))
        },
    )
}

impl<T: Debug, W, R> Debug for Configured<T, W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}

impl<T, W, R> Config for Configured<T, W, R>
where
    T: Copy + Debug + DeserializeOwned + Send + Serialize + Sync + 'static,
    W: for<'a> Fn(&T, &SchemeSetup<'a>) -> Result<Box<dyn Compressor + 'a>, CompressError>,
    W: Copy + Send + Sync + 'static,
    R: for<'a> Fn(&T, &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a>
        + Copy
        + Send
        + Sync
        + 'static,
{
    fn with(&self, settings: &str) -> Result<Arc<dyn Config>, String> {
        let config = settings::apply(self.config, settings)?;
        Ok(Arc::new(Self { config, ..*self }))
    }

    fn check(&self) -> Result<(), CompressError> {
        (self.check)(&self.config)
    }

    fn cost(&self, xlen: u32) -> Option<Cost> {
        self.cost.map(|cost| cost(&self.config, xlen))
    }

    fn compressor<'a>(
        &self,
        setup: &SchemeSetup<'a>,
    ) -> Result<Box<dyn Compressor + 'a>, CompressError> {
        (self.compressor)(&self.config, setup)
    }

    fn decompressor<'a>(&self, setup: &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a> {
        (self.decompressor)(&self.config, setup)
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self.config).unwrap_or_default()
    }

    fn inner(&self) -> &dyn Any {
        &self.config
    }
}
