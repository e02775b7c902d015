//! The area of our own hardware, from the reports that the tests of `fpga` make.

use serde::{Deserialize, Serialize};

/// The area of a configuration of our hardware on AMD UltraScale+, flattened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// The configuration.
    pub config: String,
    /// Look-up tables.
    pub lut: u64,
    /// Those that are memory.
    pub lut_ram: u64,
    /// Flip-flops.
    pub ff: u64,
}

/// Schemes, the width of addresses, and the report of the hardware that does the same.
const REPORTS: [(&str, u32, &str); 8] = [
    ("bTMBP", 32, include_str!("../measured/te_tmbp.bTMBP-rv32.json")),
    ("bTMBP", 64, include_str!("../measured/te_tmbp.bTMBP.json")),
    ("rSDC-128", 32, include_str!("../measured/te_sdc.rSDC-128-rv32.json")),
    ("rSDC-128", 64, include_str!("../measured/te_sdc.rSDC-128.json")),
    ("E-Trace", 32, include_str!("../measured/te_core.micro.json")),
    ("E-Trace", 64, include_str!("../measured/te_core.small.json")),
    ("E-Trace+ir+ie", 64, include_str!("../measured/te_core.cva6.json")),
    ("E-Trace+ir+ie+sij+bp+jtc", 64, include_str!("../measured/te_core.full.json")),
];

#[derive(Deserialize)]
struct Report {
    config: String,
    area: Area,
}

#[derive(Deserialize)]
struct Area {
    flat: Cells,
}

#[derive(Deserialize)]
struct Cells {
    lut: u64,
    lut_ram: u64,
    ff: u64,
}

impl Measured {
    pub(crate) fn of(scheme: &str, xlen: u32) -> Option<Self> {
        let (.., report) =
            REPORTS.iter().find(|(name, bits, _)| (*name, *bits) == (scheme, xlen))?;
        let Report { config, area: Area { flat: Cells { lut, lut_ram, ff } } } =
            serde_json::from_str(report).ok()?;
        Some(Self { config, lut, lut_ram, ff })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;

    #[test]
    fn every_report_belongs_to_a_scheme() {
        for (name, xlen, _) in REPORTS {
            let scheme: Scheme = name.parse().unwrap();
            assert_eq!(scheme.to_string(), name);
            let measured = scheme.measured(xlen).unwrap();
            assert!(measured.lut > 100 && measured.ff > 100, "{measured:?}");
        }
        assert_eq!(Measured::of("E-Trace[cache_size_p=2]", 64), None);
        assert_eq!(Measured::of("bTMBP[ras=4]", 64), None);
    }

    /// The estimates that the document has beside what was measured.
    #[test]
    fn the_document_has_these_estimates() {
        let document = include_str!("../../docs/compression.md").replace(',', "");
        for (name, xlen, _) in REPORTS.iter().filter(|(name, ..)| !name.starts_with("E-Trace")) {
            let scheme: Scheme = name.parse().unwrap();
            let config = scheme.measured(*xlen).unwrap().config;
            let cost = scheme.cost(*xlen).unwrap();
            let row = format!("| {config} | {} | {:.0} | ", cost.bits(), cost.gates().round());
            assert!(document.contains(&row), "{row}");
        }
    }
}
