//! The adapter to the nets of the core, which is written by hand.

/// Names and texts of the SystemVerilog files of the adapter for a CVA6 without `rvfi_probes_o`, in the order in
/// which tools want them: the adapter, and what binds it into every core.
pub const ADAPTER: [(&str, &str); 2] = [
    ("cva6_te_adapter.sv", include_str!("../rtl/cva6_te_adapter.sv")),
    ("cva6_te_bind.sv", include_str!("../rtl/cva6_te_bind.sv")),
];
