// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The probes that a current cva6 has for RVFI, rvfi_probes_o, as the neutral port of cva6_te_connector. Types are
// parameters, as they are in the core: of the whole, whose parts are `instr` and `csr`.
`include "rvfi_types.svh"

module cva6_te_rvfi_adapter
  import ariane_pkg::*;
  import cva6_te_pkg::*;
#(
  parameter config_pkg::cva6_cfg_t CVA6Cfg = config_pkg::cva6_cfg_empty,
  parameter type rvfi_probes_t = logic,
  // What the connector was generated for: at least the commit ports of the core, and the width of its registers.
  parameter int unsigned Lanes = CVA6Cfg.NrCommitPorts,
  parameter int unsigned Xlen = CVA6Cfg.XLEN,
  // The context is satp.ASID, or, for systems that use none, satp.PPN: the root of the table of pages.
  parameter bit ContextIsRoot = 1'b0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  // The probes say more than is needed here.
  /* verilator lint_off UNUSEDSIGNAL */
  input  rvfi_probes_t               rvfi_probes_i,
  /* verilator lint_on UNUSEDSIGNAL */

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
  output logic [Xlen-1:0]            context_o,
  output logic                       debug_o
);
  localparam int unsigned Ports  = CVA6Cfg.NrCommitPorts;
  localparam int unsigned Issues = CVA6Cfg.NrIssuePorts;

  // Where widths differ, tools pad and cut without a word, and the core itself drives zeros.
  localparam type instr_t = `RVFI_PROBES_INSTR_T(CVA6Cfg);
  localparam type csr_t = `RVFI_PROBES_CSR_T(CVA6Cfg);
  if ($bits(rvfi_probes_i.instr) != $bits(instr_t) || $bits(rvfi_probes_i.csr) != $bits(csr_t)) begin : gen_probes
    $error("rvfi_probes_t has other widths than RVFI_PROBES_INSTR_T and RVFI_PROBES_CSR_T of CVA6Cfg");
  end
  if ($bits(rvfi_probes_i.instr.commit_instr_rd) != int'(5 * Ports)) begin : gen_registers
    $error("the core numbers registers with other than 5 bits");
  end
  if (Lanes < Ports) begin : gen_lanes
    $error("the core has more commit ports (NrCommitPorts) than the connector was generated for (Lanes)");
  end
  if (Xlen != CVA6Cfg.XLEN) begin : gen_xlen
    $error("the core has another XLEN than the connector was generated for");
  end
  if (Issues > 2) begin : gen_issues
    $error("the core has more than two issue ports (NrIssuePorts)");
  end
  // Instructions that are executed as several, or jump where a table leads.
  if (CVA6Cfg.RVZCMP) begin : gen_zcmp
    $error("push and pop instructions (RVZCMP) are not supported");
  end
  if (CVA6Cfg.RVZCMT) begin : gen_zcmt
    $error("table jumps (RVZCMT) are not supported");
  end
  // The probes do not tell the mode of virtualisation.
  if (CVA6Cfg.RVH) begin : gen_hypervisor
    $error("the modes of the hypervisor extension (RVH) are not supported");
  end
  // With them alone, an instruction may retire beside a trap.
  if (CVA6Cfg.SdtrigMcontrol6LoadData) begin : gen_load_data
    $error("triggers on loaded data (SdtrigMcontrol6LoadData) are not supported");
  end

  // What an instruction is that the probes do not say when it commits. The operation of jal, lui and auipc is that
  // of an addition.
  typedef struct packed {
    logic compressed;
    logic jal;
    logic upper;
  } note_t;

  // The decoded instructions that wait to be issued are the core's; notes of them follow here.
  note_t [Issues-1:0] fetched;
  note_t [Issues-1:0] waiting_d, waiting_q;
  logic  [Issues-1:0] stays;
  for (genvar i = 0; i < Issues; i++) begin : gen_fetched
    logic [6:0] opcode;
    logic [4:0] rd;
    logic [2:0] funct;
    logic       compressed;
    assign opcode     = rvfi_probes_i.instr.instruction[i][6:0];
    assign rd         = rvfi_probes_i.instr.instruction[i][11:7];
    assign funct      = rvfi_probes_i.instr.instruction[i][15:13];
    assign compressed = rvfi_probes_i.instr.is_compressed[i];
    always_comb begin
      fetched[i].compressed = compressed;
      fetched[i].upper      = loads_constant(opcode, rd, funct, compressed);
      fetched[i].jal        = opcode == 7'b1101111;
      if (compressed) begin
        // c.j, and c.jal, whose place is that of c.addiw where addresses have 64 bits.
        fetched[i].jal = (opcode[1:0] == 2'b01)
                         & ((funct == 3'b101) | ((funct == 3'b001) & (Xlen == 32)));
      end
    end
  end
  assign stays = rvfi_probes_i.instr.decoded_instr_valid & ~rvfi_probes_i.instr.issue_instr_ack;

  // A place that nothing stays in takes what comes next, again in each cycle until the core says that it is valid.
  if (Issues == 1) begin : gen_one
    assign waiting_d = stays[0] ? waiting_q : fetched;
  end else begin : gen_two
    // What stays moves to place 0; fetched instructions come behind it.
    always_comb begin
      waiting_d = waiting_q;
      if (!stays[0]) waiting_d[0] = stays[1] ? waiting_q[1] : fetched[0];
      if (!(stays[0] & stays[1])) waiting_d[1] = (stays[0] | stays[1]) ? fetched[0] : fetched[1];
    end
  end

  // Notes and outcomes of branches, by the place in the scoreboard. A branch is resolved before it commits.
  note_t [CVA6Cfg.NR_SB_ENTRIES-1:0] note_q;
  logic  [CVA6Cfg.NR_SB_ENTRIES-1:0] taken_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= '0;
      note_q    <= '0;
      taken_q   <= '0;
    end else begin
      waiting_q <= waiting_d;
      for (int unsigned i = 0; i < Issues; i++) begin
        // If it is flushed instead, the next one gets the same place.
        if (rvfi_probes_i.instr.decoded_instr_valid[i] && rvfi_probes_i.instr.decoded_instr_ack[i]) begin
          note_q[rvfi_probes_i.instr.issue_pointer[i]] <= waiting_q[i];
        end
      end
      if (rvfi_probes_i.instr.branch_valid) begin
        taken_q[rvfi_probes_i.instr.branch_trans_id] <= rvfi_probes_i.instr.is_taken;
      end
    end
  end

  note_t [Ports-1:0] noted;
  logic  [Lanes-1:0] jalr;
  logic  [Lanes-1:0] upper;
  for (genvar i = 0; i < Ports; i++) begin : gen_lane
    assign noted[i] = note_q[rvfi_probes_i.instr.commit_pointer[i]];

    // A speculative instruction on the wrong path is dropped. With a trap, nothing retires.
    assign valid_o[i]      = rvfi_probes_i.instr.commit_ack[i] & ~rvfi_probes_i.instr.commit_drop[i]
                             & ~rvfi_probes_i.instr.ex_commit_valid;
    assign pc_o[i]         = $unsigned(Xlen'($signed(rvfi_probes_i.instr.commit_instr_pc[i])));
    assign compressed_o[i] = noted[i].compressed;
    assign taken_o[i]      = taken_q[rvfi_probes_i.instr.commit_pointer[i]];
    assign rd_o[i]         = rvfi_probes_i.instr.commit_instr_rd[i];
    assign rs1_o[i]        = rvfi_probes_i.instr.commit_instr_rs1[i];

    always_comb begin
      kind_o[i] = noted[i].jal ? KindDirectJump : KindPlain;
      if (rvfi_probes_i.instr.commit_instr_op[i] inside {EQ, NE, LTS, GES, LTU, GEU}) begin
        kind_o[i] = KindBranch;
      end else if (rvfi_probes_i.instr.commit_instr_op[i] == JALR) begin
        kind_o[i] = KindIndirectJump;
      end else if (rvfi_probes_i.instr.commit_instr_op[i] inside {MRET, SRET, DRET}) begin
        kind_o[i] = KindTrapReturn;
      end
    end
    assign jalr[i]  = kind_o[i] == KindIndirectJump;
    assign upper[i] = noted[i].upper;
  end
  for (genvar i = Ports; i < Lanes; i++) begin : gen_no_lane
    assign {valid_o[i], pc_o[i], compressed_o[i], kind_o[i], taken_o[i], rd_o[i], rs1_o[i], jalr[i], upper[i]} = '0;
  end

  // What looks like a trap and leads to debug mode: a request, and ebreak where the debugger wants it.
  logic wanted, breaks;
  always_comb begin
    wanted = rvfi_probes_i.csr.dcsr_q.ebreaku;
    if (rvfi_probes_i.instr.priv_lvl == riscv::PRIV_LVL_M) wanted = rvfi_probes_i.csr.dcsr_q.ebreakm;
    if (rvfi_probes_i.instr.priv_lvl == riscv::PRIV_LVL_S) wanted = rvfi_probes_i.csr.dcsr_q.ebreaks;
  end
  assign breaks = (rvfi_probes_i.instr.ex_commit_cause == riscv::DEBUG_REQUEST)
                  | ((rvfi_probes_i.instr.ex_commit_cause == riscv::BREAKPOINT) & wanted);

  assign trap_o      = rvfi_probes_i.instr.ex_commit_valid & ~breaks;
  assign interrupt_o = rvfi_probes_i.instr.ex_commit_cause[Xlen-1];
  assign cause_o     = rvfi_probes_i.instr.ex_commit_cause;
  assign tval_o      = rvfi_probes_i.instr.tval;
  assign trap_pc_o   = pc_o[0];
  assign priv_o      = rvfi_probes_i.instr.priv_lvl;
  assign debug_o     = rvfi_probes_i.instr.debug_mode;

  // The address space; 0 while there is no translation. A write of satp retires with the old one, and empties the
  // pipeline.
  localparam int unsigned PpnBits  = (Xlen == 32) ? 22 : 44;
  localparam int unsigned AsidBits = (Xlen == 32) ? 9 : 16;
  logic [Xlen-1:0] satp;
  assign satp = rvfi_probes_i.csr.satp_q;
  always_comb begin
    context_o = Xlen'(satp[PpnBits+:AsidBits]);
    if (ContextIsRoot) context_o = Xlen'(satp[PpnBits-1:0]);
    if (satp[Xlen-1:PpnBits+AsidBits] == '0) context_o = '0;
  end

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
    .forget_i (rvfi_probes_i.instr.ex_commit_valid | rvfi_probes_i.instr.debug_mode),
    .sijump_o
  );
endmodule
