// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// As much of the packages and of the module of the core as the adapter sees of them, for tests without the core:
// the names and the order of things are the core's.
package riscv;
  localparam int unsigned XLEN = 64;
  typedef enum logic [1:0] {PRIV_LVL_M = 2'b11, PRIV_LVL_S = 2'b01, PRIV_LVL_U = 2'b00} priv_lvl_t;
endpackage

package ariane_pkg;
  localparam int unsigned NR_COMMIT_PORTS = 2;
  localparam int unsigned NR_SB_ENTRIES = 8;
  localparam int unsigned TRANS_ID_BITS = 3;
  localparam int unsigned ASID_WIDTH = 16;
  typedef enum logic [3:0] {NONE = 4'd0, ALU = 4'd3, CTRL_FLOW = 4'd4, CSR = 4'd6} fu_t;
  typedef enum logic [7:0] {
    ADD = 8'd0, LTS = 8'd13, LTU = 8'd14, GES = 8'd15, GEU = 8'd16, EQ = 8'd17, NE = 8'd18, JALR = 8'd19,
    MRET = 8'd23, SRET = 8'd24, DRET = 8'd25, ECALL = 8'd26
  } fu_op;
  typedef struct packed {
    logic [63:0] cause;
    logic [63:0] tval;
    logic        valid;
  } exception_t;
  typedef struct packed {
    logic valid;
    logic is_taken;
  } bp_resolve_t;
  typedef struct packed {
    logic [63:0] pc;
    logic [2:0]  trans_id;
    fu_t         fu;
    fu_op        op;
    logic [5:0]  rs1;
    logic [5:0]  rd;
    exception_t  ex;
    logic        is_compressed;
  } scoreboard_entry_t;
endpackage

// The nets of the core, driven by its ports.
module cva6
  import ariane_pkg::*;
(
  input logic         clk_i,
  input logic         rst_ni,
  input logic [127:0] pc_i,
  input logic [5:0]   slot_i,
  input logic [7:0]   fu_i,
  input logic [15:0]  op_i,
  input logic [11:0]  rs1_i,
  input logic [11:0]  rd_i,
  input logic [63:0]  word_i,
  input logic [1:0]   compressed_i,
  input logic [1:0]   ack_i,
  input logic         trap_i,
  input logic [63:0]  cause_i,
  input logic [63:0]  tval_i,
  input logic [1:0]   priv_i,
  input logic         debug_i,
  input logic         debug_entry_i,
  input logic         resolved_i,
  input logic         resolved_taken_i,
  input logic [2:0]   resolved_slot_i,
  input logic [15:0]  asid_i
);
  scoreboard_entry_t [NR_COMMIT_PORTS-1:0] commit_instr_id_commit;
  logic [NR_COMMIT_PORTS-1:0]              commit_ack;
  exception_t                              ex_commit;
  riscv::priv_lvl_t                        priv_lvl;
  logic                                    debug_mode;
  logic                                    set_debug_pc;
  bp_resolve_t                             resolved_branch;
  logic [TRANS_ID_BITS-1:0]                flu_trans_id_ex_id;
  logic [ASID_WIDTH-1:0]                   asid_csr_ex;

  for (genvar i = 0; i < NR_COMMIT_PORTS; i++) begin : gen_entry
    assign commit_instr_id_commit[i] = {
      pc_i[i*64+:64], slot_i[i*3+:3], fu_i[i*4+:4], op_i[i*8+:8], rs1_i[i*6+:6], rd_i[i*6+:6],
      64'd0, 32'd0, word_i[i*32+:32], 1'b0, compressed_i[i]
    };
  end
  assign commit_ack         = ack_i;
  assign ex_commit          = {cause_i, tval_i, trap_i};
  assign priv_lvl           = riscv::priv_lvl_t'(priv_i);
  assign debug_mode         = debug_i;
  assign set_debug_pc       = debug_entry_i;
  assign resolved_branch    = {resolved_i, resolved_taken_i};
  assign flu_trans_id_ex_id = resolved_slot_i;
  assign asid_csr_ex        = asid_i;
endmodule

// The core with the adapter bound into it, whose outputs are read by their names.
module adapted (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [127:0] pc_i,
  input  logic [5:0]   slot_i,
  input  logic [7:0]   fu_i,
  input  logic [15:0]  op_i,
  input  logic [11:0]  rs1_i,
  input  logic [11:0]  rd_i,
  input  logic [63:0]  word_i,
  input  logic [1:0]   compressed_i,
  input  logic [1:0]   ack_i,
  input  logic         trap_i,
  input  logic [63:0]  cause_i,
  input  logic [63:0]  tval_i,
  input  logic [1:0]   priv_i,
  input  logic         debug_i,
  input  logic         debug_entry_i,
  input  logic         resolved_i,
  input  logic         resolved_taken_i,
  input  logic [2:0]   resolved_slot_i,
  input  logic [15:0]  asid_i,
  output logic [1:0]   valid_o,
  output logic [127:0] pc_o,
  output logic [1:0]   compressed_o,
  output logic [5:0]   kind_o,
  output logic [1:0]   taken_o,
  output logic [9:0]   rd_o,
  output logic [9:0]   rs1_o,
  output logic [1:0]   sijump_o,
  output logic         trap_o,
  output logic         interrupt_o,
  output logic [63:0]  cause_o,
  output logic [63:0]  tval_o,
  output logic [63:0]  trap_pc_o,
  output logic [1:0]   priv_o,
  output logic [63:0]  context_o,
  output logic         debug_o
);
  cva6 i_cva6 (.*);

  assign valid_o      = i_cva6.i_te_adapter.valid_o;
  assign pc_o         = i_cva6.i_te_adapter.pc_o;
  assign compressed_o = i_cva6.i_te_adapter.compressed_o;
  assign kind_o       = i_cva6.i_te_adapter.kind_o;
  assign taken_o      = i_cva6.i_te_adapter.taken_o;
  assign rd_o         = i_cva6.i_te_adapter.rd_o;
  assign rs1_o        = i_cva6.i_te_adapter.rs1_o;
  assign sijump_o     = i_cva6.i_te_adapter.sijump_o;
  assign trap_o       = i_cva6.i_te_adapter.trap_o;
  assign interrupt_o  = i_cva6.i_te_adapter.interrupt_o;
  assign cause_o      = i_cva6.i_te_adapter.cause_o;
  assign tval_o       = i_cva6.i_te_adapter.tval_o;
  assign trap_pc_o    = i_cva6.i_te_adapter.trap_pc_o;
  assign priv_o       = i_cva6.i_te_adapter.priv_o;
  assign context_o    = i_cva6.i_te_adapter.context_o;
  assign debug_o      = i_cva6.i_te_adapter.debug_o;
endmodule
