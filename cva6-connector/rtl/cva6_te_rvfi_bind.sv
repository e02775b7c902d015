// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Puts the adapter into every cva6 that has rvfi_probes_o. Its outputs are read by their names in the hierarchy,
// such as i_cva6.i_te_adapter.valid_o. Parameters are those of the core, and those of the connector.
bind cva6 cva6_te_rvfi_adapter #(
  .CVA6Cfg       (CVA6Cfg),
  .rvfi_probes_t (rvfi_probes_t),
  .Lanes         (2),
  .Xlen          (64)
) i_te_adapter (
  .clk_i,
  .rst_ni,
  .rvfi_probes_i (rvfi_probes_o),
  .valid_o       (),
  .pc_o          (),
  .compressed_o  (),
  .kind_o        (),
  .taken_o       (),
  .rd_o          (),
  .rs1_o         (),
  .sijump_o      (),
  .trap_o        (),
  .interrupt_o   (),
  .cause_o       (),
  .tval_o        (),
  .trap_pc_o     (),
  .priv_o        (),
  .context_o     (),
  .debug_o       ()
);
