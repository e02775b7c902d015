//! The hand-written adapters.

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

/// The same for the adapter to the `rvfi_probes_o` of a current CVA6.
pub const RVFI_ADAPTER: [Source; 3] =
    [PACKAGE, SIJUMP, ("cva6_te_rvfi_adapter.sv", include_str!("../rtl/cva6_te_rvfi_adapter.sv"))];
