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

/// Where a CVA6 shows what it commits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// Nets of the module `cva6`: cores of 2022.
    Nets,
    /// Its output `rvfi_probes_o`: current cores.
    Probes,
}

impl Interface {
    /// The name of the list of the adapter's files.
    #[must_use]
    pub fn list(self) -> &'static str {
        match self {
            Self::Nets => "cva6_te_adapter.f",
            Self::Probes => "cva6_te_rvfi_adapter.f",
        }
    }

    /// Returns names and texts of the files of the adapter to a connector, in the order that tools require. With
    /// [`Interface::Probes`], a core of another width or with more commit ports is an error of elaboration.
    #[must_use]
    pub fn adapter(self, connector: &Config) -> Vec<(String, String)> {
        let sources = match self {
            Self::Nets => ADAPTER,
            Self::Probes => RVFI_ADAPTER,
        };
        let fitted = |(name, text): Source| {
            let text = match name {
                "cva6_te_rvfi_bind.sv" => text
                    .replace("(2)", &format!("({})", connector.lanes))
                    .replace("(64)", &format!("({})", connector.xlen)),
                _ => text.to_owned(),
            };
            (name.to_owned(), text)
        };
        sources.map(fitted).into()
    }
}
