//! Names of extensions, as toolchains write them.

use crate::{Isa, Xlen};

/// A list of extensions such as `rv32imac_zcmp` or `rv64i2p1_m2p0_zicsr2p0`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Arch<'a> {
    xlen: Xlen,
    extensions: &'a str,
}

/// What `g` stands for.
const GENERAL: [&str; 7] = ["i", "m", "a", "f", "d", "zicsr", "zifencei"];

/// What `zce` contains, apart from what depends on `f`.
const CODE_SIZE: [&str; 4] = ["zca", "zcb", "zcmp", "zcmt"];

impl<'a> Arch<'a> {
    /// Reads a list in lower case; `None` if it does not start with `rv32` or `rv64` and a base.
    pub fn new(text: &'a str) -> Option<Self> {
        let (xlen, extensions) = match text.split_at_checked(4)? {
            ("rv32", rest) => (Xlen::Rv32, rest),
            ("rv64", rest) => (Xlen::Rv64, rest),
            _ => return None,
        };
        let names = extensions.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        (names && extensions.starts_with(['i', 'e', 'g'])).then_some(Self { xlen, extensions })
    }

    /// The register width.
    pub fn xlen(&self) -> Xlen {
        self.xlen
    }

    /// The names in the list, without versions.
    pub fn extensions(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut rest = self.extensions;
        core::iter::from_fn(move || {
            rest = rest.trim_start_matches('_');
            let (name, next) = match rest.chars().next()? {
                // A long name ends at the next underscore.
                'z' | 's' | 'x' => rest.split_at(rest.find('_').unwrap_or(rest.len())),
                _ => {
                    let end = rest.get(1..).map_or(0, version).saturating_add(1);
                    rest.split_at_checked(end)?
                }
            };
            rest = next;
            Some(unversioned(name))
        })
    }

    /// Whether the list contains an extension, by itself or as a part of another one.
    pub fn has(&self, extension: &str) -> bool {
        self.extensions().any(|name| {
            name == extension
                || name == "g" && GENERAL.contains(&extension)
                || name == "zce" && CODE_SIZE.contains(&extension)
                || name == "c" && extension == "zca"
        })
    }
}

/// The length of a version at the start of `text`: `2p1`, `2` or nothing.
fn version(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let major = digits(text);
    let minor = text.get(major..).and_then(|rest| rest.strip_prefix('p')).map_or(0, digits);
    if major > 0 && minor > 0 { major.saturating_add(1).saturating_add(minor) } else { major }
}

/// A name without the version at its end. Long names may end in digits that are not a version.
fn unversioned(name: &str) -> &str {
    let single = !name.starts_with(['z', 's', 'x']);
    if single {
        return name.get(..1).unwrap_or(name);
    }
    let minor = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let major = minor.strip_suffix('p').filter(|_| minor.len() < name.len());
    let bare = major.map(|major| (major, major.trim_end_matches(|c: char| c.is_ascii_digit())));
    bare.filter(|(major, bare)| bare.len() < major.len()).map_or(name, |(_, bare)| bare)
}

impl From<Arch<'_>> for Isa {
    fn from(arch: Arch<'_>) -> Self {
        let isa = Self::new(arch.xlen);
        isa.with_zcmp(arch.has("zcmp")).with_zcmt(arch.has("zcmt"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn names(text: &str) -> Vec<&str> {
        Arch::new(text).unwrap().extensions().collect()
    }

    #[test]
    fn with_and_without_versions() {
        assert_eq!(names("rv32imac_zcmp"), ["i", "m", "a", "c", "zcmp"]);
        assert_eq!(
            names("rv64i2p1_m2p0_a2p1_c2p0_zicsr2p0_zve32x1p0_zvl128b1p0_xtheadba1p0"),
            ["i", "m", "a", "c", "zicsr", "zve32x", "zvl128b", "xtheadba"]
        );
        assert_eq!(names("rv64i2m2a2"), ["i", "m", "a"]);
        assert_eq!(
            names("rv64imafdc_zve32x_zvl128b"),
            ["i", "m", "a", "f", "d", "c", "zve32x", "zvl128b"]
        );
        assert_eq!(names("rv32e"), ["e"]);
        for wrong in ["", "rv", "rv128i", "x86-64", "rv32", "rv32_i", "rv32I", "rv64zba"] {
            assert_eq!(Arch::new(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_names_stand_for() {
        let has = |text, extension| Arch::new(text).unwrap().has(extension);
        assert!(has("rv64gc", "d") && has("rv64gc", "zicsr") && !has("rv64imac", "d"));
        assert!(has("rv32i_zce", "zcmt") && !has("rv32i_zce", "zcf"));
        let isa = |text| Isa::from(Arch::new(text).unwrap());
        assert_eq!(isa("rv64gc"), Isa::new(Xlen::Rv64));
        assert_eq!(isa("rv32imc_zcmp1p0"), Isa::new(Xlen::Rv32).with_zcmp(true));
        assert_eq!(isa("rv32i_zce1p0"), Isa::new(Xlen::Rv32).with_zcmp(true).with_zcmt(true));
    }

    #[test]
    fn any_text() {
        for a in 0..=255u8 {
            for b in ["", "p", "2", "_", "z", "2p", "z2p1", "p2"] {
                let text = std::format!("rv64i{}{b}", char::from(a));
                if let Some(arch) = Arch::new(&text) {
                    assert!(arch.extensions().count() <= text.len());
                }
            }
        }
    }
}
