use hartrace_isa::arm::Arch;

/// The properties of a core.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its architecture.
    pub arch: Arch,
    /// Whether it has an M profile.
    pub m_profile: bool,
}

/// The properties of a core type: the name of a Cortex core, `ARMv8.3-A`, `ARM-AA64`. `None` if
/// unknown.
pub fn core(kind: &str) -> Option<Core> {
    let of = |arch, m_profile| Some(Core { arch, m_profile });
    if let Some(cortex) = kind.strip_prefix("Cortex-") {
        return match cortex {
            "A5" | "A7" | "A8" | "A9" | "A12" | "A15" | "A17" => of(Arch::V7, false),
            "A32" | "A35" | "A53" | "A57" | "A72" | "A73" => of(Arch::V8, false),
            "A55" | "A65" | "A75" | "A76" | "A77" | "A78" => of(Arch::V8r3, false),
            "R4" | "R5" | "R7" | "R8" => of(Arch::V7, false),
            "R52" => of(Arch::V8, false),
            "M0" | "M0+" | "M3" | "M4" | "M7" => of(Arch::V7, true),
            "M23" | "M33" => of(Arch::V8, true),
            _ => None,
        };
    }
    let lower = kind.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("arm-aa64") {
        return of(Arch::Later, rest == "-m");
    }
    let rest = lower.strip_prefix("armv")?;
    let (version, profile) = rest.split_once('-').unwrap_or((rest, "a"));
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let m_profile = match profile {
        "a" | "r" => false,
        "m" => true,
        _ => return None,
    };
    match (major.parse().ok()?, minor.parse().ok()?) {
        (7u8, _) => of(Arch::V7, m_profile),
        (8, 0..=2u8) => of(Arch::V8, m_profile),
        (8, 3) => of(Arch::V8r3, m_profile),
        (8.., _) => of(Arch::Later, m_profile),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cores() {
        let arch = |kind| core(kind).map(|core| core.arch);
        assert_eq!(arch("Cortex-A53"), Some(Arch::V8));
        assert_eq!(arch("Cortex-A55"), Some(Arch::V8r3));
        assert_eq!(arch("ARM-AA64"), Some(Arch::Later));
        assert_eq!(arch("ARMv8.2-A"), Some(Arch::V8));
        assert_eq!(arch("ARMv9-A"), Some(Arch::Later));
        assert_eq!(arch("ARMv6-A"), None);
        assert_eq!(arch("Cortex-Z9"), None);
        assert_eq!(core("Cortex-M33"), Some(Core { arch: Arch::V8, m_profile: true }));
    }
}
