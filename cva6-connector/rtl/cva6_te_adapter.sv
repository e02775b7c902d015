// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The commit stage of a cva6 (version 4.2.0 of the package, before rvfi_probes_o) as the neutral port of
// cva6_te_connector. The inputs have the names of the core's nets, so that it can be bound into the core
// without an edit there: cva6_te_bind.sv.
module cva6_te_adapter
  import ariane_pkg::*;
  import cva6_te_pkg::*;
(
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  input  scoreboard_entry_t [NR_COMMIT_PORTS-1:0]     commit_instr_id_commit,
  input  logic [NR_COMMIT_PORTS-1:0]                  commit_ack,
  input  exception_t                                  ex_commit,
  input  riscv::priv_lvl_t                            priv_lvl,
  input  logic                                        debug_mode,
  input  logic                                        set_debug_pc,
  input  bp_resolve_t                                 resolved_branch,
  input  logic [TRANS_ID_BITS-1:0]                    flu_trans_id_ex_id,
  input  logic [ASID_WIDTH-1:0]                       asid_csr_ex,

  output logic [NR_COMMIT_PORTS-1:0]                  valid_o,
  output logic [NR_COMMIT_PORTS-1:0][riscv::XLEN-1:0] pc_o,
  output logic [NR_COMMIT_PORTS-1:0]                  compressed_o,
  output logic [NR_COMMIT_PORTS-1:0][2:0]             kind_o,
  output logic [NR_COMMIT_PORTS-1:0]                  taken_o,
  output logic [NR_COMMIT_PORTS-1:0][4:0]             rd_o,
  output logic [NR_COMMIT_PORTS-1:0][4:0]             rs1_o,
  output logic [NR_COMMIT_PORTS-1:0]                  sijump_o,
  output logic                                        trap_o,
  output logic                                        interrupt_o,
  output logic [riscv::XLEN-1:0]                      cause_o,
  output logic [riscv::XLEN-1:0]                      tval_o,
  output logic [riscv::XLEN-1:0]                      trap_pc_o,
  output logic [1:0]                                  priv_o,
  output logic [riscv::XLEN-1:0]                      context_o,
  output logic                                        debug_o
);
  // A branch is resolved when it is executed, cycles before it commits, and its entry in the scoreboard does
  // not keep the outcome. The successor that it does keep cannot tell a taken branch to the next instruction
  // from one that is not taken. So the outcome is kept here, by the place of the entry.
  logic [NR_SB_ENTRIES-1:0] taken_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= '0;
    end else if (resolved_branch.valid) begin
      taken_q[flu_trans_id_ex_id] <= resolved_branch.is_taken;
    end
  end

  logic [NR_COMMIT_PORTS-1:0] jalr;
  logic [NR_COMMIT_PORTS-1:0] upper;
  for (genvar i = 0; i < NR_COMMIT_PORTS; i++) begin : gen_lane
    assign valid_o[i]      = commit_ack[i];
    assign pc_o[i]         = riscv::XLEN'(commit_instr_id_commit[i].pc);
    assign compressed_o[i] = commit_instr_id_commit[i].is_compressed;
    assign taken_o[i]      = taken_q[commit_instr_id_commit[i].trans_id];
    assign rd_o[i]         = commit_instr_id_commit[i].rd[4:0];
    assign rs1_o[i]        = commit_instr_id_commit[i].rs1[4:0];

    // Where there is no exception, the value for it is the instruction as it was fetched.
    assign jalr[i]  = kind_o[i] == KindIndirectJump;
    assign upper[i] = loads_constant(
      commit_instr_id_commit[i].ex.tval[6:0],
      commit_instr_id_commit[i].ex.tval[11:7],
      commit_instr_id_commit[i].ex.tval[15:13],
      commit_instr_id_commit[i].is_compressed
    );

    // jal has the operation of an addition, so the unit has to be looked at first.
    always_comb begin
      kind_o[i] = KindPlain;
      if (commit_instr_id_commit[i].fu == CTRL_FLOW) begin
        case (commit_instr_id_commit[i].op)
          EQ, NE, LTS, GES, LTU, GEU: kind_o[i] = KindBranch;
          JALR:                       kind_o[i] = KindIndirectJump;
          default:                    kind_o[i] = KindDirectJump;
        endcase
      end else if (commit_instr_id_commit[i].fu == CSR) begin
        case (commit_instr_id_commit[i].op)
          MRET, SRET, DRET: kind_o[i] = KindTrapReturn;
          default:          kind_o[i] = KindPlain;
        endcase
      end
    end
  end

  // A trap is always that of port 0. A request of the debugger, and ebreak where the debugger wants it, look
  // like traps too, but lead to debug mode.
  assign trap_o      = ex_commit.valid & ~set_debug_pc;
  assign interrupt_o = ex_commit.cause[riscv::XLEN-1];
  assign cause_o     = ex_commit.cause;
  assign tval_o      = ex_commit.tval;
  assign trap_pc_o   = pc_o[0];
  assign priv_o      = priv_lvl;
  // The number of the address space, satp.ASID. A write of satp empties the pipeline.
  assign context_o   = riscv::XLEN'(asid_csr_ex);
  assign debug_o     = debug_mode;

  cva6_te_sijump #(
    .Lanes(NR_COMMIT_PORTS)
  ) i_sijump (
    .clk_i,
    .rst_ni,
    .valid_i  (valid_o),
    .upper_i  (upper),
    .jalr_i   (jalr),
    .rd_i     (rd_o),
    .rs1_i    (rs1_o),
    .forget_i (ex_commit.valid | debug_mode),
    .sijump_o
  );
endmodule
