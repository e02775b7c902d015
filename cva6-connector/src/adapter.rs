//! The hand-written adapters.

use crate::Config;

/// The name and the text of a file.
type Source = (&'static str, &'static str);

const PACKAGE: Source = ("cva6_te_pkg.sv", include_str!("../rtl/cva6_te_pkg.sv"));
const SIJUMP: Source = ("cva6_te_sijump.sv", include_str!("../rtl/cva6_te_sijump.sv"));

/// Names and texts of the SystemVerilog files of the adapter for a CVA6 without `rvfi_probes_o`, in
/// the order that tools require: the adapter, and the file that binds it into every core.
pub const ADAPTER: [Source; 4] = [
    PACKAGE,
    SIJUMP,
    ("cva6_te_adapter.sv", include_str!("../rtl/cva6_te_adapter.sv")),
    ("cva6_te_bind.sv", include_str!("../rtl/cva6_te_bind.sv")),
];

/// The same for the adapter to the `rvfi_probes_o` of a current CVA6. The file that binds it is that for two lanes and 64
/// bits; [`Interface::adapter`] has it for others.
pub const RVFI_ADAPTER: [Source; 4] = [
    PACKAGE,
    SIJUMP,
    ("cva6_te_rvfi_adapter.sv", include_str!("../rtl/cva6_te_rvfi_adapter.sv")),
    ("cva6_te_rvfi_bind.sv", include_str!("../rtl/cva6_te_rvfi_bind.sv")),
];

/// The same for the adapter to the RVFI of any core, which is an instance beside the core. Its parameters are those for
/// one lane and 32 bits; [`Interface::adapter`] has it for others.
const GENERIC_ADAPTER: [Source; 3] =
    [PACKAGE, SIJUMP, ("rvfi_te_adapter.sv", include_str!("../rtl/rvfi_te_adapter.sv"))];

/// Names and texts of the files that make a CVA6 wait for an encoder that stalls it, in the order that tools require.
pub const HOLD: [Source; 3] = [
    ("te_clock_gate.sv", include_str!("../rtl/te_clock_gate.sv")),
    ("te_hold_slice.sv", include_str!("../rtl/te_hold_slice.sv")),
    ("cva6_te_hold.sv", include_str!("../rtl/cva6_te_hold.sv")),
];

/// Maximum number of instructions that a CVA6 commits in one cycle.
const CVA6_COMMIT_PORTS: u8 = 2;

/// Where a core shows what it commits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// Nets of the module `cva6`: a CVA6 of 2022.
    Nets,
    /// The output `rvfi_probes_o` of a CVA6: current cores.
    Probes,
    /// The RISC-V Formal Interface, which many cores have.
    Rvfi,
}

impl Interface {
    /// All of them, each with the name of its cores and a description.
    pub const NAMED: [(&'static str, Self, &'static str); 3] = [
        ("cva6", Self::Nets, "CVA6 of 2022: block connector, adapter and its bind"),
        ("cva6-rvfi", Self::Probes, "CVA6 with rvfi_probes_o, single or dual issue"),
        ("rvfi", Self::Rvfi, "Any core with RVFI: block connector and adapter"),
    ];

    /// The name of the list of the adapter's files.
    #[must_use]
    pub fn list(self) -> &'static str {
        match self {
            Self::Nets => "cva6_te_adapter.f",
            Self::Probes => "cva6_te_rvfi_adapter.f",
            Self::Rvfi => "rvfi_te_adapter.f",
        }
    }

    /// How many instructions the core commits in one cycle, for an encoder that takes `lanes` blocks.
    pub(crate) fn commit_ports(self, lanes: u8) -> u8 {
        match self {
            Self::Nets | Self::Probes => CVA6_COMMIT_PORTS,
            Self::Rvfi => lanes,
        }
    }

    /// Returns names and texts of the files of the adapter to a connector, in the order that tools require. With
    /// [`Interface::Probes`], a core of another width or with more commit ports is an error of elaboration.
    #[must_use]
    pub fn adapter(self, connector: &Config) -> Vec<(String, String)> {
        let sources: &[Source] = match self {
            Self::Nets => &ADAPTER,
            Self::Probes => &RVFI_ADAPTER,
            Self::Rvfi => &GENERIC_ADAPTER,
        };
        let Config { lanes, xlen, .. } = connector;
        let fitted = |&(name, text): &Source| {
            let text = match name {
                "cva6_te_rvfi_bind.sv" => {
                    text.replace("(2)", &format!("({lanes})")).replace("(64)", &format!("({xlen})"))
                }
                "rvfi_te_adapter.sv" => text
                    .replace("Lanes = 1", &format!("Lanes = {lanes}"))
                    .replace("Xlen = 32", &format!("Xlen = {xlen}")),
                _ => text.to_owned(),
            };
            (name.to_owned(), text)
        };
        sources.iter().map(fitted).collect()
    }
}
