// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Binds the probe into the core of 2022, whose types are those of a package.
bind cva6 cva6_commit_probe #(
  .Ports              (ariane_pkg::NR_COMMIT_PORTS),
  .Xlen               (riscv::XLEN),
  .Vlen               (riscv::VLEN),
  .SlotBits           (ariane_pkg::TRANS_ID_BITS),
  .scoreboard_entry_t (ariane_pkg::scoreboard_entry_t),
  .exception_t        (ariane_pkg::exception_t),
  .bp_resolve_t       (ariane_pkg::bp_resolve_t)
) i_commit_probe (.*);
