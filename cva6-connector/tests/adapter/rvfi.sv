// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The adapter for RVFI, and the connector behind it.
module rvfi_connected #(
  parameter int unsigned Lanes = 1,
  parameter int unsigned Xlen = 32
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [Lanes-1:0]           rvfi_valid_i,
  input  logic [Lanes-1:0][31:0]     rvfi_insn_i,
  input  logic [Lanes-1:0]           rvfi_trap_i,
  input  logic [Lanes-1:0]           rvfi_halt_i,
  input  logic [Lanes-1:0]           rvfi_intr_i,
  input  logic [Lanes-1:0][1:0]      rvfi_mode_i,
  input  logic [Lanes-1:0][Xlen-1:0] rvfi_pc_rdata_i,
  input  logic [Lanes-1:0][Xlen-1:0] rvfi_pc_wdata_i,
  input  logic [Xlen-1:0]            cause_i,
  input  logic [Xlen-1:0]            tval_i,
  input  logic                       debug_i,
  output logic [Lanes-1:0][3:0]      itype_o,
  output logic [Lanes-1:0][Xlen-1:0] iaddr_o,
  output logic [Lanes-1:0][4:0]      iretire_o,
  output logic [Lanes-1:0]           ilastsize_o,
  output logic [Lanes-1:0]           sijump_o,
  output logic [4:0]                 cause_o,
  output logic [Xlen-1:0]            tval_o,
  output logic [1:0]                 priv_o,
  output logic                       halted_o,
  output logic                       lost_o
);
  logic [Lanes-1:0]           valid, compressed, taken, sijump;
  logic [Lanes-1:0][Xlen-1:0] pc;
  logic [Lanes-1:0][2:0]      kind;
  logic [Lanes-1:0][4:0]      rd, rs1;
  logic                       trap, interrupt, debug, halted, trap_without_room, stall, lost, empty;
  logic [Xlen-1:0]            cause, tval, trap_pc;
  logic [1:0]                 level;

  rvfi_te_adapter #(
    .Lanes (Lanes),
    .Xlen  (Xlen)
  ) i_adapter (
    .clk_i,
    .rst_ni,
    .rvfi_valid_i,
    .rvfi_insn_i,
    .rvfi_trap_i,
    .rvfi_halt_i,
    .rvfi_intr_i,
    .rvfi_mode_i,
    .rvfi_pc_rdata_i,
    .rvfi_pc_wdata_i,
    .cause_i,
    .tval_i,
    .debug_i,
    .valid_o      (valid),
    .pc_o         (pc),
    .compressed_o (compressed),
    .kind_o       (kind),
    .taken_o      (taken),
    .rd_o         (rd),
    .rs1_o        (rs1),
    .sijump_o     (sijump),
    .trap_o       (trap),
    .interrupt_o  (interrupt),
    .cause_o      (cause),
    .tval_o       (tval),
    .trap_pc_o    (trap_pc),
    .priv_o       (level),
    .debug_o      (debug),
    .halted_o     (halted),
    .lost_o       (trap_without_room)
  );

  cva6_te_connector i_connector (
    .clk_i,
    .rst_ni,
    .kind_i       (kind),
    .taken_i      (taken),
    .rd_i         (rd),
    .rs1_i        (rs1),
    .valid_i      (valid),
    .pc_i         (pc),
    .compressed_i (compressed),
    .sijump_i     (sijump),
    .trap_i       (trap),
    .interrupt_i  (interrupt),
    .cause_i      (cause),
    .tval_i       (tval),
    .trap_pc_i    (trap_pc),
    .priv_i       (level),
    .debug_i      (debug),
    .halted_i     (halted),
    .flush_i      (1'b0),
    .lost_i       (trap_without_room),
    .enable_i     (1'b1),
    .stall_i      (1'b0),
    .itype_o,
    .iaddr_o,
    .iretire_o,
    .ilastsize_o,
    .sijump_o,
    .cause_o,
    .tval_o,
    .priv_o,
    .halted_o,
    .stall_o      (stall),
    .lost_o       (lost),
    .empty_o      (empty)
  );

  // What the connector says of itself is tested elsewhere.
  logic unused;
  assign unused = &{1'b0, stall, lost, empty};
  assign lost_o = trap_without_room;
endmodule
