// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The RISC-V Formal Interface (RVFI) of any core as the neutral port of cva6_te_connector, one cycle later: what a trap
// interrupted is known, but that it did only when the first instruction of the handler retires.
//
// It relies on the following, beyond RVFI:
// - An instruction with rvfi_trap does not retire, and a trap handler follows, or nothing.
// - The first instruction of a handler is the first of its cycle. In the cycle before, a lane retires nothing, and the
//   hart is not in debug mode.
// - Instructions of one cycle have the same mode.
// lost_o says where a core breaks the second or the third rule: the trap, or the mode, is then missing in the trace.
//
// A branch to the instruction that follows it is reported as not taken, whether it is or not: RVFI does not say.
module rvfi_te_adapter #(
  // What the connector was generated for.
  parameter int unsigned Lanes = 1,
  parameter int unsigned Xlen = 32
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // Lane 0 is the oldest. Lanes may have gaps.
  input  logic [Lanes-1:0]           rvfi_valid_i,
  // Only those bits that say where control goes are read.
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [Lanes-1:0][31:0]     rvfi_insn_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [Lanes-1:0]           rvfi_trap_i,
  input  logic [Lanes-1:0]           rvfi_halt_i,
  input  logic [Lanes-1:0]           rvfi_intr_i,
  input  logic [Lanes-1:0][1:0]      rvfi_mode_i,
  input  logic [Lanes-1:0][Xlen-1:0] rvfi_pc_rdata_i,
  input  logic [Lanes-1:0][Xlen-1:0] rvfi_pc_wdata_i,
  // Not of RVFI: cause and value of the trap, as they are while the first instruction of its handler retires (mcause
  // and mtval, or those of the level it is handled at), and whether the hart is in debug mode, in every cycle. 0 if there
  // are none.
  input  logic [Xlen-1:0]            cause_i,
  input  logic [Xlen-1:0]            tval_i,
  input  logic                       debug_i,

  output logic [Lanes-1:0]           valid_o,
  output logic [Lanes-1:0][Xlen-1:0] pc_o,
  output logic [Lanes-1:0]           compressed_o,
  output logic [Lanes-1:0][2:0]      kind_o,
  output logic [Lanes-1:0]           taken_o,
  output logic [Lanes-1:0][4:0]      rd_o,
  output logic [Lanes-1:0][4:0]      rs1_o,
  output logic [Lanes-1:0]           sijump_o,
  output logic                       trap_o,
  output logic                       interrupt_o,
  output logic [Xlen-1:0]            cause_o,
  output logic [Xlen-1:0]            tval_o,
  output logic [Xlen-1:0]            trap_pc_o,
  output logic [1:0]                 priv_o,
  output logic                       debug_o,
  output logic                       halted_o,
  output logic                       lost_o
);
  if (Xlen != 32 && Xlen != 64) begin : gen_xlen
    $error("Xlen is neither 32 nor 64");
  end

  // --- what comes in, and what is kept of it for the next cycle ---

  // Up to the newest instruction: whether it trapped, where it leads, or where it is if it trapped.
  logic            trapped_d, trapped_q;
  logic [Xlen-1:0] resume_d, resume_q;
  logic [1:0]      mode_d, mode_q;
  logic            halted_d, halted_q;
  // A handler starts with the first instruction of this cycle; or, against the rules, with a later one.
  logic            enters, enters_late, mode_changes;

  always_comb begin
    trapped_d    = trapped_q;
    resume_d     = resume_q;
    mode_d       = mode_q;
    halted_d     = halted_q;
    enters       = 1'b0;
    enters_late  = 1'b0;
    mode_changes = 1'b0;
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (rvfi_valid_i[i]) begin
        if ((rvfi_valid_i & ~({Lanes{1'b1}} << i)) == '0) begin
          enters = rvfi_intr_i[i] | trapped_d;
        end else begin
          enters_late  = enters_late | rvfi_intr_i[i] | trapped_d;
          mode_changes = mode_changes | (rvfi_mode_i[i] != mode_d);
        end
        // Traps of debug mode stay in it.
        trapped_d = rvfi_trap_i[i] & ~debug_i;
        resume_d  = trapped_d ? rvfi_pc_rdata_i[i] : rvfi_pc_wdata_i[i];
        mode_d    = rvfi_mode_i[i];
        halted_d  = rvfi_halt_i[i];
      end
    end
    if (debug_i) begin
      enters      = 1'b0;
      enters_late = 1'b0;
    end
  end

  logic [Lanes-1:0]           retires_q;
  logic [Lanes-1:0][31:0]     insn_q;
  logic [Lanes-1:0][Xlen-1:0] next_q;
  logic                       debug_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      trapped_q <= 1'b0;
      resume_q  <= '0;
      mode_q    <= 2'b11;
      halted_q  <= 1'b0;
      retires_q <= '0;
      insn_q    <= '0;
      pc_o      <= '0;
      next_q    <= '0;
      debug_q   <= 1'b0;
    end else begin
      trapped_q <= trapped_d;
      resume_q  <= resume_d;
      mode_q    <= mode_d;
      halted_q  <= halted_d;
      retires_q <= rvfi_valid_i & ~rvfi_trap_i;
      insn_q    <= rvfi_insn_i;
      pc_o      <= rvfi_pc_rdata_i;
      next_q    <= rvfi_pc_wdata_i;
      debug_q   <= debug_i;
    end
  end

  // --- instructions, of the cycle before ---

  logic [Lanes-1:0] jalr;
  logic [Lanes-1:0] upper;
  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [6:0] opcode;
    logic [4:0] rd, rs2;
    logic [2:0] funct, size;
    logic       short_jalr;
    assign opcode = insn_q[i][6:0];
    assign rd     = insn_q[i][11:7];
    assign funct  = insn_q[i][15:13];
    assign rs2    = insn_q[i][6:2];
    // c.jr and c.jalr; in the place of those that jump to x0 there are others.
    assign short_jalr = (opcode[1:0] == 2'b10) & (funct == 3'b100) & (rs2 == 5'd0) & (rd != 5'd0);

    assign size            = compressed_o[i] ? 3'd2 : 3'd4;
    assign valid_o[i]      = retires_q[i];
    assign compressed_o[i] = opcode[1:0] != 2'b11;
    assign taken_o[i]      = next_q[i] != pc_o[i] + Xlen'(size);
    assign rs1_o[i]        = compressed_o[i] ? rd : insn_q[i][19:15];

    always_comb begin
      kind_o[i] = cva6_te_pkg::KindPlain;
      rd_o[i]   = rd;
      if (compressed_o[i]) begin
        if ((opcode[1:0] == 2'b01) & (funct[2:1] == 2'b11)) begin
          kind_o[i] = cva6_te_pkg::KindBranch;
        end else if ((opcode[1:0] == 2'b01) & (funct == 3'b101)) begin
          kind_o[i] = cva6_te_pkg::KindDirectJump;
          rd_o[i]   = 5'd0;
        end else if ((opcode[1:0] == 2'b01) & (funct == 3'b001) & (Xlen == 32)) begin
          // Where addresses have 64 bits, its place is that of c.addiw.
          kind_o[i] = cva6_te_pkg::KindDirectJump;
          rd_o[i]   = 5'd1;
        end else if (short_jalr) begin
          kind_o[i] = cva6_te_pkg::KindIndirectJump;
          rd_o[i]   = {4'd0, insn_q[i][12]};
        end
      end else begin
        case (opcode)
          7'b1100011: kind_o[i] = cva6_te_pkg::KindBranch;
          7'b1101111: kind_o[i] = cva6_te_pkg::KindDirectJump;
          7'b1100111: kind_o[i] = cva6_te_pkg::KindIndirectJump;
          // sret, mret, mnret and dret.
          7'b1110011: begin
            if ((insn_q[i][31:7] == 25'h0204000) | (insn_q[i][31:7] == 25'h0604000)
                | (insn_q[i][31:7] == 25'h0e04000) | (insn_q[i][31:7] == 25'h0f64000)) begin
              kind_o[i] = cva6_te_pkg::KindTrapReturn;
            end
          end
          default: kind_o[i] = cva6_te_pkg::KindPlain;
        endcase
      end
    end
    assign jalr[i]  = kind_o[i] == cva6_te_pkg::KindIndirectJump;
    assign upper[i] = cva6_te_pkg::loads_constant(opcode, rd, funct, compressed_o[i]);
  end

  // --- the trap that comes after them ---

  // The connector takes a trap beside fewer instructions than it has lanes.
  assign trap_o      = enters;
  assign interrupt_o = ~trapped_q;
  assign cause_o     = cause_i;
  assign tval_o      = tval_i;
  assign trap_pc_o   = resume_q;
  assign priv_o      = mode_q;
  assign debug_o     = debug_q;
  assign halted_o    = halted_q;
  assign lost_o      = (enters & (debug_q | (&retires_q))) | enters_late | mode_changes;

  cva6_te_sijump #(
    .Lanes(Lanes)
  ) i_sijump (
    .clk_i,
    .rst_ni,
    .valid_i  (valid_o),
    .upper_i  (upper),
    .jalr_i   (jalr),
    .rd_i     (rd_o),
    .rs1_i    (rs1_o),
    .forget_i (trap_o | debug_q),
    .sijump_o
  );
endmodule
