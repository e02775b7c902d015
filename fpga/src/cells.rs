//! Counts of UltraScale+ cells.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Cells of UltraScale+, summed up by the resources that they use on the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    /// LUTs for logic, of one to six inputs each. Two small ones may share a place on the device,
    /// which is not taken into account.
    pub lut: u64,
    /// LUTs used as memory.
    pub lut_ram: u64,
    /// LUTs used as shift registers.
    pub lut_srl: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Carry cells of four bits; the device has them in pairs.
    pub carry: u64,
    /// Multiplexers after LUTs.
    pub muxf: u64,
    /// Block memories of 18 kbit; one of 36 kbit counts twice.
    pub bram18: u64,
    /// Inverters, nearly all for resets; they use no resources.
    pub inv: u64,
    /// Any other cell, by name. Nothing is omitted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, u64>,
}

impl Cells {
    /// Sums up cells.
    pub(crate) fn count<'a>(kinds: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut cells = Self::default();
        for (kind, count) in kinds {
            cells.add(kind, count);
        }
        cells
    }

    fn add(&mut self, kind: &str, count: u64) {
        match kind {
            // Names of flattened hierarchy, which are not hardware.
            "$scopeinfo" => {}
            "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" => self.lut += count,
            "SRL16E" | "SRLC16E" | "SRLC32E" => self.lut_srl += count,
            "FDCE" | "FDPE" | "FDRE" | "FDSE" => self.ff += count,
            "CARRY4" => self.carry += count,
            "CARRY8" => self.carry += 2 * count,
            "MUXF7" | "MUXF8" | "MUXF9" => self.muxf += count,
            "RAMB18E2" => self.bram18 += count,
            "RAMB36E2" => self.bram18 += 2 * count,
            "INV" => self.inv += count,
            _ => match ram_luts(kind) {
                Some(luts) => self.lut_ram += luts * count,
                None => *self.other.entry(kind.to_owned()).or_default() += count,
            },
        }
    }

    /// Figures with the names of their columns.
    pub(crate) fn figures(&self) -> [(&'static str, u64); 8] {
        [
            ("LUT", self.lut),
            ("LUTRAM", self.lut_ram),
            ("SRL", self.lut_srl),
            ("FF", self.ff),
            ("CARRY4", self.carry),
            ("MUXF", self.muxf),
            ("BRAM18", self.bram18),
            ("INV", self.inv),
        ]
    }
}

impl AddAssign<&Cells> for Cells {
    fn add_assign(&mut self, other: &Self) {
        self.lut += other.lut;
        self.lut_ram += other.lut_ram;
        self.lut_srl += other.lut_srl;
        self.ff += other.ff;
        self.carry += other.carry;
        self.muxf += other.muxf;
        self.bram18 += other.bram18;
        self.inv += other.inv;
        for (kind, count) in &other.other {
            *self.other.entry(kind.clone()).or_default() += count;
        }
    }
}

/// Number of LUTs that a memory of LUTs uses. A LUT holds 64 bits, and every read port needs its
/// own copy; the larger cells are eight or four LUTs with separate addresses.
fn ram_luts(kind: &str) -> Option<u64> {
    Some(match kind {
        "RAM32X1S" | "RAM64X1S" => 1,
        "RAM32X1D" | "RAM64X1D" | "RAM128X1S" => 2,
        "RAM32M" | "RAM64M" | "RAM128X1D" | "RAM256X1S" => 4,
        "RAM32M16" | "RAM64M8" | "RAM32X16DR8" | "RAM64X8SW" | "RAM256X1D" | "RAM512X1S" => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_summed_up_and_none_is_lost() {
        let kinds = [
            ("$scopeinfo", 3),
            ("LUT1", 1),
            ("LUT6", 2),
            ("FDCE", 4),
            ("FDRE", 5),
            ("RAM32M16", 2),
            ("RAM128X1S", 3),
            ("RAMB36E2", 1),
            ("CARRY4", 7),
            ("MUXF7", 1),
            ("DSP48E2", 9),
        ];
        let mut cells = Cells::count(kinds);
        let other = BTreeMap::from([("DSP48E2".to_owned(), 9)]);
        let expected = Cells {
            lut: 3,
            lut_ram: 22,
            ff: 9,
            carry: 7,
            muxf: 1,
            bram18: 2,
            other,
            ..Cells::default()
        };
        assert_eq!(cells, expected);
        cells += &expected;
        assert_eq!((cells.lut_ram, cells.other["DSP48E2"]), (44, 18));
    }
}
