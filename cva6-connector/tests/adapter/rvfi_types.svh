// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// As much of the core's header of this name as the adapter sees of it.
`ifndef RVFI_TYPES_SVH
`define RVFI_TYPES_SVH

`define RVFI_PROBES_INSTR_T(Cfg) struct packed { \
  logic [Cfg.NrIssuePorts-1:0][Cfg.TRANS_ID_BITS-1:0] issue_pointer; \
  logic [Cfg.NrCommitPorts-1:0][Cfg.TRANS_ID_BITS-1:0] commit_pointer; \
  logic [Cfg.NrIssuePorts-1:0] decoded_instr_valid; \
  logic [Cfg.NrIssuePorts-1:0] decoded_instr_ack; \
  logic [Cfg.NrIssuePorts-1:0] issue_instr_ack; \
  logic [Cfg.NrIssuePorts-1:0][31:0] instruction; \
  logic [Cfg.NrIssuePorts-1:0] is_compressed; \
  logic [Cfg.NrCommitPorts-1:0][Cfg.VLEN-1:0] commit_instr_pc; \
  ariane_pkg::fu_op [Cfg.NrCommitPorts-1:0] commit_instr_op; \
  logic [Cfg.NrCommitPorts-1:0][ariane_pkg::REG_ADDR_SIZE-1:0] commit_instr_rs1; \
  logic [Cfg.NrCommitPorts-1:0][ariane_pkg::REG_ADDR_SIZE-1:0] commit_instr_rd; \
  logic [Cfg.NrCommitPorts-1:0] commit_drop; \
  logic [Cfg.XLEN-1:0] ex_commit_cause; \
  logic ex_commit_valid; \
  riscv::priv_lvl_t priv_lvl; \
  logic [Cfg.NrCommitPorts-1:0] commit_ack; \
  logic debug_mode; \
  logic branch_valid; \
  logic is_taken; \
  logic [Cfg.XLEN-1:0] tval; \
  logic [Cfg.TRANS_ID_BITS-1:0] branch_trans_id; \
}

`define RVFI_PROBES_CSR_T(Cfg) struct packed { \
  riscv::dcsr_t dcsr_q; \
  logic [Cfg.XLEN-1:0] satp_q; \
}

`endif
