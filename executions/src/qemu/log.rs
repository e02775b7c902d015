//! QEMU's log, the only place where it reports traps and privilege.

use hartrace_etrace::ingress::Privilege;

/// A trap, as QEMU took it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trap {
    pub(crate) interrupt: bool,
    pub(crate) cause: u64,
    pub(crate) epc: u64,
    pub(crate) tval: u64,
}

impl Trap {
    /// Whether it was raised by fetching the instruction at `epc`, which was therefore never in a
    /// block.
    pub(crate) fn is_fetch(&self) -> bool {
        !self.interrupt && matches!(self.cause, 1 | 12 | 20)
    }
}

/// A relevant line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Trap(Trap),
    /// The block being translated runs at this privilege.
    Privilege(Privilege),
}

/// Parses one line; `None` if it is not relevant.
pub(crate) fn line(text: &str) -> Option<Line> {
    if let Some(rest) = text.strip_prefix("Priv: ") {
        let (level, virt) = rest.split_once("; Virt: ")?;
        let level: u8 = level.parse().ok()?;
        return Some(Line::Privilege(match (level, virt.trim()) {
            (0, "1") => Privilege::VU,
            (1, "1") => Privilege::VS,
            _ => Privilege(level),
        }));
    }
    let rest = text.strip_prefix("riscv_cpu_do_interrupt: ")?;
    let field = |name: &str| {
        let value = rest.split(", ").find_map(|part| part.strip_prefix(name))?;
        u64::from_str_radix(value.trim_start_matches("0x"), 16).ok()
    };
    Some(Line::Trap(Trap {
        interrupt: field("async:")? == 1,
        cause: field("cause:")?,
        epc: field("epc:")?,
        tval: field("tval:")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let text = "riscv_cpu_do_interrupt: hart:0, async:1, cause:0000000000000007, \
                    epc:0x0000000080000014, tval:0x0000000000000012, desc=m_timer";
        let trap = Trap { interrupt: true, cause: 7, epc: 0x8000_0014, tval: 0x12 };
        assert_eq!(line(text), Some(Line::Trap(trap)));
        assert_eq!(line("Priv: 3; Virt: 0"), Some(Line::Privilege(Privilege::M)));
        assert_eq!(line("Priv: 1; Virt: 1"), Some(Line::Privilege(Privilege::VS)));
        assert_eq!(line("IN: "), None);
        assert_eq!(line("Priv: x; Virt: 0"), None);
        assert_eq!(line("riscv_cpu_do_interrupt: hart:0, async:1"), None);
    }
}
