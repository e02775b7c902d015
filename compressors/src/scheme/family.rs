//! Families of schemes, each an entry of one table.

use super::config::Config;
use super::table::FAMILIES;
use std::fmt;
use std::sync::Arc;

/// Schemes of one kind, which differ in their settings.
///
/// Everything that knows schemes by name takes it from here: names, defaults, sweeps, the texts about them, plots and fuzz targets.
pub struct Family {
    /// In lower case, as in `tmbp.entries`.
    pub name: &'static str,
    /// How its schemes are called; sizes in capitals.
    pub forms: &'static [&'static str],
    /// What it is, without a full stop.
    pub idea: &'static str,
    /// The scheme that a sweep varies if none of the family is named.
    pub default: &'static str,
    /// Those that are compared unless schemes are named.
    pub compared: &'static [&'static str],
    /// Those in the chart of all programs, if there are more schemes than fit.
    pub charted: &'static [&'static str],
    /// Others for tests: tables so small that their entries are replaced all the time, and settings that are rarely used.
    pub small: &'static [&'static str],
    /// All settings.
    pub settings: &'static [Setting],
    /// Red, green and blue in plots.
    pub colour: [u8; 3],
    /// What readers of its figures need to know.
    pub note: Option<&'static str>,
    /// The one name of a scheme that can be written in several ways.
    pub(super) canonical: Option<fn(&str) -> Option<String>>,
    /// The configuration of a name without settings in brackets.
    pub(super) config: fn(&str) -> Option<Arc<dyn Config>>,
}

/// A setting, and what it can be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As in `entries` or `run.w0`.
    pub key: &'static str,
    /// What it can be while all others are those of the scheme that is varied.
    pub values: Values,
    /// The scheme that a sweep varies if that is not [`Family::default`], on which the setting would have no effect.
    pub of: Option<&'static str>,
}

/// Values of a setting.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Powers of two, from the least to the most.
    Powers(u64, u64),
    /// Numbers, from the least to the most.
    Numbers(u64, u64),
    /// One of some words.
    Words(&'static [&'static str]),
}

impl Values {
    /// Returns the least and the most, or all words.
    pub fn ends(&self) -> Vec<String> {
        match self {
            Self::Powers(least, most) | Self::Numbers(least, most) => {
                vec![least.to_string(), most.to_string()]
            }
            Self::Words(words) => words.iter().map(|word| (*word).into()).collect(),
        }
    }
}

/// Powers of two are a range as in a sweep: `64..2048`.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Powers(least, most) => write!(f, "{least}..{most}"),
            Self::Numbers(least, most) => write!(f, "{least} to {most}"),
            Self::Words(words) => f.write_str(&words.join(" or ")),
        }
    }
}

impl Setting {
    pub(super) const fn powers(key: &'static str, least: u64, most: u64) -> Self {
        Self { key, values: Values::Powers(least, most), of: None }
    }

    pub(super) const fn numbers(key: &'static str, least: u64, most: u64) -> Self {
        Self { key, values: Values::Numbers(least, most), of: None }
    }

    pub(super) const fn words(key: &'static str, words: &'static [&'static str]) -> Self {
        Self { key, values: Values::Words(words), of: None }
    }

    pub(super) const fn switch(key: &'static str) -> Self {
        Self::words(key, &["true", "false"])
    }

    pub(super) const fn of(self, scheme: &'static str) -> Self {
        Self { of: Some(scheme), ..self }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key, self.values)?;
        self.of.map_or(Ok(()), |scheme| write!(f, " ({scheme})"))
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Family {
    /// Returns all families.
    pub fn all() -> &'static [Self] {
        &FAMILIES
    }

    /// Finds a family by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|family| family.name == name)
    }

    /// Returns the names of the schemes that stand for the family: those that are compared, or if none is, its default.
    pub fn names(&self) -> &[&'static str] {
        if self.compared.is_empty() { std::slice::from_ref(&self.default) } else { self.compared }
    }

    /// Returns the name of the scheme that a sweep of a setting varies.
    pub fn swept(&self, key: &str) -> &'static str {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        setting.and_then(|setting| setting.of).unwrap_or(self.default)
    }

    /// Finds the family of a name without settings, and its configuration.
    pub(super) fn of(name: &str) -> Option<(&'static Self, Arc<dyn Config>)> {
        Self::all().iter().find_map(|family| Some((family, (family.config)(name)?)))
    }

    /// Returns whether a setting, or the group that it is in, is one of the family's; otherwise those that are.
    pub(super) fn check_key(&self, key: &str) -> Result<(), String> {
        let group = |key: &'static str| key.split('.').next().unwrap_or(key);
        let mut known: Vec<_> = self.settings.iter().map(|setting| group(setting.key)).collect();
        known.sort_unstable();
        known.dedup();
        match key.split('.').next() {
            Some(key) if known.contains(&key) => Ok(()),
            _ if known.is_empty() => Err("it has no settings".into()),
            key => {
                let key = key.unwrap_or_default();
                Err(format!("there is no `{key}`, only {}", known.join(", ")))
            }
        }
    }

    /// Returns a line for each family: how its schemes are called, and what it is.
    pub fn list() -> String {
        let line = |family: &Self| format!("{}: {}\n", family.forms.join(", "), family.idea);
        Self::all().iter().map(line).collect()
    }

    /// Returns a line for each family with settings: the scheme that a sweep varies, and the limits of each setting.
    pub fn list_settings() -> String {
        let line = |family: &Self| {
            let settings: Vec<_> = family.settings.iter().map(ToString::to_string).collect();
            format!("{} ({}): {}\n", family.name, family.default, settings.join(", "))
        };
        Self::all().iter().filter(|family| !family.settings.is_empty()).map(line).collect()
    }
}
