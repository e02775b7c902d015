// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Puts the adapter into every cva6. Its outputs are read by their names in the hierarchy, such as
// i_cva6.i_te_adapter.valid_o.
bind cva6 cva6_te_adapter i_te_adapter (
  .clk_i,
  .rst_ni,
  .commit_instr_id_commit,
  .commit_ack,
  .ex_commit,
  .priv_lvl,
  .debug_mode,
  .set_debug_pc,
  .resolved_branch,
  .flu_trans_id_ex_id,
  .asid_csr_ex,
  .valid_o      (),
  .pc_o         (),
  .compressed_o (),
  .kind_o       (),
  .taken_o      (),
  .rd_o         (),
  .rs1_o        (),
  .sijump_o     (),
  .trap_o       (),
  .interrupt_o  (),
  .cause_o      (),
  .tval_o       (),
  .trap_pc_o    (),
  .priv_o       (),
  .context_o    (),
  .debug_o      ()
);
