// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The commit stage of a cva6 as plain vectors, port 0 in the low bits, for two ports and 64 bits whatever the core
// has. It is bound into the core, whose nets have the names of the inputs here, so no file of the core is edited.
// Nothing is stored and nothing interpreted: that is up to whoever reads the vectors, by their names in the
// hierarchy.
module cva6_commit_probe #(
  parameter int unsigned Ports = 2,
  parameter int unsigned Xlen = 64,
  parameter int unsigned Vlen = 64,
  parameter int unsigned SlotBits = 3,
  parameter type scoreboard_entry_t = logic,
  parameter type exception_t = logic,
  parameter type bp_resolve_t = logic
) (
  input scoreboard_entry_t [Ports-1:0] commit_instr_id_commit,
  input logic [Ports-1:0]              commit_ack,
  input exception_t                    ex_commit,
  input riscv::priv_lvl_t              priv_lvl,
  input logic                          debug_mode,
  input logic                          set_debug_pc,
  input logic                          eret,
  input logic                          flush_ctrl_ex,
  input logic [Vlen-1:0]               epc_commit_pcgen,
  input logic [Vlen-1:0]               trap_vector_base_commit_pcgen,
  input bp_resolve_t                   resolved_branch,
  input logic [SlotBits-1:0]           flu_trans_id_ex_id
);
  if (Ports > 2) begin : gen_too_many_ports
    $error("the core has more than two commit ports");
  end
  if (SlotBits > 3) begin : gen_too_many_slots
    $error("the scoreboard of the core has more than 8 entries");
  end

  // The oldest entries of the scoreboard.
  logic [1:0]       valid;
  logic [1:0]       ack;
  logic [1:0][63:0] pc;
  logic [1:0]       compressed;
  logic [1:0][31:0] insn;
  logic [1:0][3:0]  fu;
  logic [1:0][7:0]  op;
  logic [1:0][5:0]  rs1;
  logic [1:0][5:0]  rd;
  logic [1:0][2:0]  slot;
  logic [1:0][63:0] next;
  // The trap that is taken, which is always that of port 0; bit 63 of the cause marks interrupts.
  logic             trap;
  logic [63:0]      cause;
  logic [63:0]      tval;
  logic [63:0]      trap_vector;
  // The state all of them are in, and how it changes; with the input eret.
  logic [1:0]       priv;
  logic             debug;
  logic             debug_entry;
  logic [63:0]      epc;
  logic             flush;
  // A branch or jump in the execute stage, by its place in the scoreboard.
  logic             resolved;
  logic [2:0]       resolved_slot;
  logic             resolved_taken;
  logic             resolved_mispredict;
  logic [63:0]      resolved_target;

  // Addresses of 32 bits are not sign-extended to 64.
  function automatic logic [63:0] address(logic [Vlen-1:0] narrow);
    return Xlen == 32 ? 64'(narrow) : $unsigned(64'($signed(narrow)));
  endfunction

  for (genvar i = 0; i < 2; i++) begin : gen_port
    if (i < Ports) begin : gen_entry
      assign valid[i]      = commit_instr_id_commit[i].valid;
      assign ack[i]        = commit_ack[i];
      assign pc[i]         = address(commit_instr_id_commit[i].pc);
      assign compressed[i] = commit_instr_id_commit[i].is_compressed;
      // Where the core keeps the instruction until there is an exception.
      assign insn[i]       = commit_instr_id_commit[i].ex.tval[31:0];
      assign fu[i]         = commit_instr_id_commit[i].fu;
      assign op[i]         = commit_instr_id_commit[i].op;
      assign rs1[i]        = 6'(commit_instr_id_commit[i].rs1);
      assign rd[i]         = 6'(commit_instr_id_commit[i].rd);
      assign slot[i]       = 3'(commit_instr_id_commit[i].trans_id);
      // Overwritten with the true successor when a branch or jump is resolved; means nothing for others.
      assign next[i]       = address(commit_instr_id_commit[i].bp.predict_address);
    end else begin : gen_none
      assign {valid[i], ack[i], pc[i], compressed[i], insn[i], fu[i], op[i], rs1[i], rd[i], slot[i], next[i]} = '0;
    end
  end
  assign trap                = ex_commit.valid;
  assign cause               = {ex_commit.cause[Xlen-1], 63'(ex_commit.cause[Xlen-2:0])};
  assign tval                = 64'(ex_commit.tval);
  assign trap_vector         = address(trap_vector_base_commit_pcgen);
  assign priv                = priv_lvl;
  assign debug               = debug_mode;
  assign debug_entry         = set_debug_pc;
  assign epc                 = address(epc_commit_pcgen);
  assign flush               = flush_ctrl_ex;
  assign resolved            = resolved_branch.valid;
  assign resolved_slot       = 3'(flu_trans_id_ex_id);
  assign resolved_taken      = resolved_branch.is_taken;
  assign resolved_mispredict = resolved_branch.is_mispredict;
  assign resolved_target     = address(resolved_branch.target_address);
endmodule
