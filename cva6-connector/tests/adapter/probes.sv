// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// As much of the packages and of the probes of a current core as the adapter sees of them, for tests without the
// core: the names and the order of things are the core's.
`include "rvfi_types.svh"

package config_pkg;
  typedef struct packed {
    int unsigned XLEN;
    int unsigned VLEN;
    int unsigned NrCommitPorts;
    int unsigned NrIssuePorts;
    int unsigned NR_SB_ENTRIES;
    int unsigned TRANS_ID_BITS;
    bit          RVZCMP;
    bit          RVZCMT;
    bit          RVH;
    bit          SdtrigMcontrol6LoadData;
  } cva6_cfg_t;
  localparam cva6_cfg_t cva6_cfg_empty = cva6_cfg_t'(0);
endpackage

package riscv;
`ifdef XLEN_32
  localparam int unsigned XLEN = 32'd32;
`else
  localparam int unsigned XLEN = 32'd64;
`endif
  typedef enum logic [1:0] {
    PRIV_LVL_M = 2'b11, PRIV_LVL_HS = 2'b10, PRIV_LVL_S = 2'b01, PRIV_LVL_U = 2'b00
  } priv_lvl_t;
  typedef struct packed {
    logic ebreakm;
    logic ebreaks;
    logic ebreaku;
  } dcsr_t;
  localparam logic [XLEN-1:0] BREAKPOINT = 3;
  localparam logic [XLEN-1:0] DEBUG_REQUEST = 24;
endpackage

package ariane_pkg;
  localparam int unsigned REG_ADDR_SIZE = 5;
  typedef enum logic [7:0] {
    ADD = 8'd0, LTS = 8'd13, LTU = 8'd14, GES = 8'd15, GEU = 8'd16, EQ = 8'd17, NE = 8'd18, JALR = 8'd19,
    MRET = 8'd23, SRET = 8'd24, DRET = 8'd25, ECALL = 8'd26
  } fu_op;
endpackage

// The adapter at probes that the ports drive; of two issue ports, the lower one may be all there is.
module probed
  import riscv::XLEN;
#(
  parameter int unsigned Issues = 2,
  // What cores may have and the adapter refuses.
  parameter bit Zcmp = 0,
  parameter bit Zcmt = 0,
  parameter bit Hypervisor = 0,
  parameter bit LoadData = 0,
  parameter bit ContextIsRoot = 0,
  // What the connector was generated for.
  parameter int unsigned Lanes = 2,
  parameter int unsigned Xlen = XLEN,
  // The width of a place in the scoreboard for which the type of the probes is made; that of the core is 3.
  parameter int unsigned PlaceBits = 32'd3
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [1:0][2:0]        issue_pointer_i,
  input  logic [1:0][2:0]        commit_pointer_i,
  input  logic [1:0]             decoded_i,
  input  logic [1:0]             issued_i,
  input  logic [1:0][31:0]       instruction_i,
  input  logic [1:0]             is_compressed_i,
  input  logic [1:0][38:0]       instr_pc_i,
  input  logic [1:0][7:0]        op_i,
  input  logic [1:0][4:0]        instr_rs1_i,
  input  logic [1:0][4:0]        instr_rd_i,
  input  logic [1:0]             drop_i,
  input  logic [XLEN-1:0]        ex_cause_i,
  input  logic                   ex_i,
  input  logic [1:0]             level_i,
  input  logic [1:0]             ack_i,
  input  logic                   debug_mode_i,
  input  logic [2:0]             ebreak_i,
  input  logic                   branch_i,
  input  logic                   branch_taken_i,
  input  logic [2:0]             branch_id_i,
  input  logic [XLEN-1:0]        ex_tval_i,
  input  logic [XLEN-1:0]        satp_i,
  output logic [1:0]             valid_o,
  output logic [1:0][XLEN-1:0]   pc_o,
  output logic [1:0]             compressed_o,
  output logic [1:0][2:0]        kind_o,
  output logic [1:0]             taken_o,
  output logic [1:0][4:0]        rd_o,
  output logic [1:0][4:0]        rs1_o,
  output logic [1:0]             sijump_o,
  output logic                   trap_o,
  output logic                   interrupt_o,
  output logic [XLEN-1:0]        cause_o,
  output logic [XLEN-1:0]        tval_o,
  output logic [XLEN-1:0]        trap_pc_o,
  output logic [1:0]             priv_o,
  output logic [XLEN-1:0]        context_o,
  output logic                   debug_o
);
  localparam int unsigned Vlen = XLEN == 32 ? 32'd32 : 32'd39;
  localparam config_pkg::cva6_cfg_t Cfg = '{
    XLEN: XLEN, VLEN: Vlen, NrCommitPorts: 2, NrIssuePorts: Issues, NR_SB_ENTRIES: 8, TRANS_ID_BITS: 3,
    RVZCMP: Zcmp, RVZCMT: Zcmt, RVH: Hypervisor, SdtrigMcontrol6LoadData: LoadData
  };
  localparam config_pkg::cva6_cfg_t TypeCfg = '{
    XLEN: XLEN, VLEN: Vlen, NrCommitPorts: 2, NrIssuePorts: Issues, NR_SB_ENTRIES: 8, TRANS_ID_BITS: PlaceBits,
    RVZCMP: Zcmp, RVZCMT: Zcmt, RVH: Hypervisor, SdtrigMcontrol6LoadData: LoadData
  };
  typedef `RVFI_PROBES_INSTR_T(TypeCfg) rvfi_probes_instr_t;
  typedef `RVFI_PROBES_CSR_T(Cfg) rvfi_probes_csr_t;
  typedef struct packed {
    rvfi_probes_csr_t   csr;
    rvfi_probes_instr_t instr;
  } rvfi_probes_t;

  rvfi_probes_t probes;
  always_comb begin
    probes.csr.dcsr_q                 = riscv::dcsr_t'(ebreak_i);
    probes.csr.satp_q                 = satp_i;
    probes.instr.issue_pointer        = issue_pointer_i[Issues-1:0];
    probes.instr.commit_pointer       = commit_pointer_i;
    probes.instr.decoded_instr_valid  = decoded_i[Issues-1:0];
    probes.instr.decoded_instr_ack    = issued_i[Issues-1:0];
    probes.instr.issue_instr_ack      = issued_i[Issues-1:0];
    probes.instr.instruction          = instruction_i[Issues-1:0];
    probes.instr.is_compressed        = is_compressed_i[Issues-1:0];
    probes.instr.commit_instr_rs1     = instr_rs1_i;
    probes.instr.commit_instr_rd      = instr_rd_i;
    probes.instr.commit_drop          = drop_i;
    probes.instr.ex_commit_cause      = ex_cause_i;
    probes.instr.ex_commit_valid      = ex_i;
    probes.instr.priv_lvl             = riscv::priv_lvl_t'(level_i);
    probes.instr.commit_ack           = ack_i;
    probes.instr.debug_mode           = debug_mode_i;
    probes.instr.branch_valid         = branch_i;
    probes.instr.is_taken             = branch_taken_i;
    probes.instr.tval                 = ex_tval_i;
    probes.instr.branch_trans_id      = branch_id_i;
    for (int unsigned i = 0; i < 2; i++) begin
      probes.instr.commit_instr_pc[i] = instr_pc_i[i][Vlen-1:0];
      probes.instr.commit_instr_op[i] = ariane_pkg::fu_op'(op_i[i]);
    end
  end

  // What one issue port and short addresses leave.
  logic unused_inputs;
  assign unused_inputs = &{issue_pointer_i, decoded_i, issued_i, instruction_i, is_compressed_i, instr_pc_i};

  cva6_te_rvfi_adapter #(
    .CVA6Cfg       (Cfg),
    .rvfi_probes_t (rvfi_probes_t),
    .Lanes         (Lanes),
    .Xlen          (Xlen),
    .ContextIsRoot (ContextIsRoot)
  ) i_te_adapter (
    .clk_i,
    .rst_ni,
    .rvfi_probes_i (probes),
    .valid_o,
    .pc_o,
    .compressed_o,
    .kind_o,
    .taken_o,
    .rd_o,
    .rs1_o,
    .sijump_o,
    .trap_o,
    .interrupt_o,
    .cause_o,
    .tval_o,
    .trap_pc_o,
    .priv_o,
    .context_o,
    .debug_o
  );
endmodule
