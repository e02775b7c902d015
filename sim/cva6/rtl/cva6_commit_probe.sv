// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The commit stage of a cva6 as plain vectors, port 0 in the low bits. It is bound into the core, whose nets
// have the names of the inputs here, so no file of the core is edited. Nothing is stored and nothing
// interpreted: that is up to whoever reads the vectors, by their names in the hierarchy.
module cva6_commit_probe
  import ariane_pkg::*;
(
  input scoreboard_entry_t [NR_COMMIT_PORTS-1:0] commit_instr_id_commit,
  input logic [NR_COMMIT_PORTS-1:0]              commit_ack,
  input exception_t                              ex_commit,
  input riscv::priv_lvl_t                        priv_lvl,
  input logic                                    debug_mode,
  input logic                                    set_debug_pc,
  input logic                                    eret,
  input logic                                    flush_ctrl_ex,
  input logic [riscv::VLEN-1:0]                  epc_commit_pcgen,
  input logic [riscv::VLEN-1:0]                  trap_vector_base_commit_pcgen,
  input bp_resolve_t                             resolved_branch,
  input logic [TRANS_ID_BITS-1:0]                flu_trans_id_ex_id
);
  // The oldest entries of the scoreboard.
  logic [NR_COMMIT_PORTS-1:0]                    valid;
  logic [NR_COMMIT_PORTS-1:0]                    ack;
  logic [NR_COMMIT_PORTS-1:0][63:0]              pc;
  logic [NR_COMMIT_PORTS-1:0]                    compressed;
  logic [NR_COMMIT_PORTS-1:0][31:0]              insn;
  logic [NR_COMMIT_PORTS-1:0][3:0]               fu;
  logic [NR_COMMIT_PORTS-1:0][7:0]               op;
  logic [NR_COMMIT_PORTS-1:0][REG_ADDR_SIZE-1:0] rs1;
  logic [NR_COMMIT_PORTS-1:0][REG_ADDR_SIZE-1:0] rd;
  logic [NR_COMMIT_PORTS-1:0][TRANS_ID_BITS-1:0] slot;
  logic [NR_COMMIT_PORTS-1:0][63:0]              next;
  // The trap that is taken, which is always that of port 0.
  logic                     trap;
  logic [63:0]              cause;
  logic [63:0]              tval;
  logic [63:0]              trap_vector;
  // The state all of them are in, and how it changes; with the input eret.
  logic [1:0]               priv;
  logic                     debug;
  logic                     debug_entry;
  logic [63:0]              epc;
  logic                     flush;
  // A branch or jump in the execute stage, by its place in the scoreboard.
  logic                     resolved;
  logic [TRANS_ID_BITS-1:0] resolved_slot;
  logic                     resolved_taken;
  logic                     resolved_mispredict;
  logic [63:0]              resolved_target;

  for (genvar i = 0; i < NR_COMMIT_PORTS; i++) begin : gen_port
    assign valid[i]      = commit_instr_id_commit[i].valid;
    assign pc[i]         = commit_instr_id_commit[i].pc;
    assign compressed[i] = commit_instr_id_commit[i].is_compressed;
    // Where the core keeps the instruction until there is an exception.
    assign insn[i]       = commit_instr_id_commit[i].ex.tval[31:0];
    assign fu[i]         = commit_instr_id_commit[i].fu;
    assign op[i]         = commit_instr_id_commit[i].op;
    assign rs1[i]        = commit_instr_id_commit[i].rs1;
    assign rd[i]         = commit_instr_id_commit[i].rd;
    assign slot[i]       = commit_instr_id_commit[i].trans_id;
    // Overwritten with the true successor when a branch or jump is resolved; means nothing for others.
    assign next[i]       = commit_instr_id_commit[i].bp.predict_address;
  end
  assign ack                 = commit_ack;
  assign trap                = ex_commit.valid;
  assign cause               = ex_commit.cause;
  assign tval                = ex_commit.tval;
  assign trap_vector         = trap_vector_base_commit_pcgen;
  assign priv                = priv_lvl;
  assign debug               = debug_mode;
  assign debug_entry         = set_debug_pc;
  assign epc                 = epc_commit_pcgen;
  assign flush               = flush_ctrl_ex;
  assign resolved            = resolved_branch.valid;
  assign resolved_slot       = flu_trans_id_ex_id;
  assign resolved_taken      = resolved_branch.is_taken;
  assign resolved_mispredict = resolved_branch.is_mispredict;
  assign resolved_target     = resolved_branch.target_address;
endmodule

bind cva6 cva6_commit_probe i_commit_probe (.*);
