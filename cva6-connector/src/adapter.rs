//! The adapters, which are written by hand.

/// Names and texts of SystemVerilog, in the order in which tools want them.
type Sources<const N: usize> = [(&'static str, &'static str); N];

const PACKAGE: (&str, &str) = ("cva6_te_pkg", include_str!("../rtl/cva6_te_pkg.sv"));
const SIJUMP: (&str, &str) = ("cva6_te_sijump", include_str!("../rtl/cva6_te_sijump.sv"));

/// The adapter to the nets of a core before `rvfi_probes_o`, such as version 4.2.0 of the package, and what binds
/// it into the core as `i_te_adapter`.
pub const NETS: Sources<4> = [
    PACKAGE,
    SIJUMP,
    ("cva6_te_adapter", include_str!("../rtl/cva6_te_adapter.sv")),
    ("cva6_te_bind", include_str!("../rtl/cva6_te_bind.sv")),
];

/// The adapter to the `rvfi_probes_o` of a current core.
pub const PROBES: Sources<3> =
    [PACKAGE, SIJUMP, ("cva6_te_rvfi_adapter", include_str!("../rtl/cva6_te_rvfi_adapter.sv"))];
