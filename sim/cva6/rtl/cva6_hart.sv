// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// A cva6 whose ports are plain vectors: AXI on one side, the commit stage on the other, as the probe sees it and,
// for a connector, as the adapter does. A current core, with CVA6_RVFI, is configured by cva6_hart_pkg; types of the
// core of 2022 are those of packages.
`ifdef CVA6_RVFI
`include "cvxif_types.svh"
`endif

module cva6_hart (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [63:0]  boot_addr_i,
  input  logic [63:0]  hart_id_i,
  input  logic [1:0]   irq_i,
  input  logic         ipi_i,
  input  logic         time_irq_i,
  input  logic         debug_req_i,
  // The core stands still in this cycle: for encoders that have it wait.
  input  logic         hold_i,
  // Its clock may stop: slices are between it and memory.
  input  logic         sliced_i,

  output logic         aw_valid_o,
  input  logic         aw_ready_i,
  output logic [3:0]   aw_id_o,
  output logic [63:0]  aw_addr_o,
  output logic [7:0]   aw_len_o,
  output logic [2:0]   aw_size_o,
  output logic [1:0]   aw_burst_o,
  output logic         aw_lock_o,
  output logic [5:0]   aw_atop_o,
  output logic         w_valid_o,
  input  logic         w_ready_i,
  output logic [63:0]  w_data_o,
  output logic [7:0]   w_strb_o,
  output logic         w_last_o,
  input  logic         b_valid_i,
  output logic         b_ready_o,
  input  logic [3:0]   b_id_i,
  input  logic [1:0]   b_resp_i,
  output logic         ar_valid_o,
  input  logic         ar_ready_i,
  output logic [3:0]   ar_id_o,
  output logic [63:0]  ar_addr_o,
  output logic [7:0]   ar_len_o,
  output logic [2:0]   ar_size_o,
  output logic [1:0]   ar_burst_o,
  output logic         ar_lock_o,
  input  logic         r_valid_i,
  output logic         r_ready_o,
  input  logic [3:0]   r_id_i,
  input  logic [63:0]  r_data_i,
  input  logic [1:0]   r_resp_i,
  input  logic         r_last_i,

  output logic [1:0]   commit_valid_o,
  output logic [1:0]   commit_ack_o,
  output logic [127:0] commit_pc_o,
  output logic [1:0]   commit_compressed_o,
  output logic [63:0]  commit_insn_o,
  output logic [7:0]   commit_fu_o,
  output logic [15:0]  commit_op_o,
  output logic [11:0]  commit_rs1_o,
  output logic [11:0]  commit_rd_o,
  output logic [5:0]   commit_slot_o,
  output logic [127:0] commit_next_o,
  output logic         commit_trap_o,
  output logic [63:0]  commit_cause_o,
  output logic [63:0]  commit_tval_o,
  output logic [63:0]  commit_trap_vector_o,
  output logic [1:0]   commit_priv_o,
  output logic         commit_debug_o,
  output logic         commit_debug_entry_o,
  output logic         commit_eret_o,
  output logic [63:0]  commit_epc_o,
  output logic         commit_flush_o,
  output logic         resolved_o,
  output logic [2:0]   resolved_slot_o,
  output logic         resolved_taken_o,
  output logic         resolved_mispredict_o,
  output logic [63:0]  resolved_target_o,

  output logic [1:0]   te_valid_o,
  output logic [127:0] te_pc_o,
  output logic [1:0]   te_compressed_o,
  output logic [5:0]   te_kind_o,
  output logic [1:0]   te_taken_o,
  output logic [9:0]   te_rd_o,
  output logic [9:0]   te_rs1_o,
  output logic [1:0]   te_sijump_o,
  output logic         te_trap_o,
  output logic         te_interrupt_o,
  output logic [63:0]  te_cause_o,
  output logic [63:0]  te_tval_o,
  output logic [63:0]  te_trap_pc_o,
  output logic [1:0]   te_priv_o,
  output logic [63:0]  te_context_o,
  output logic         te_debug_o
);
`ifdef CVA6_RVFI
  localparam config_pkg::cva6_cfg_t Cfg = cva6_hart_pkg::Cfg;

  if (!Cfg.TvalEn || !Cfg.DebugEn) begin : gen_no_record
    $error("without TvalEn and DebugEn, the core does not keep what its record is made of");
  end
  if (Cfg.AxiDataWidth != 64 || Cfg.AxiIdWidth > 4 || Cfg.AxiAddrWidth > 64) begin : gen_no_memory
    $error("memory has 64 bits of data, and at most 4 bits of ID and 64 bits of address");
  end

  typedef struct packed {
    logic [Cfg.AxiIdWidth-1:0]   id;
    logic [Cfg.AxiAddrWidth-1:0] addr;
    axi_pkg::len_t               len;
    axi_pkg::size_t              size;
    axi_pkg::burst_t             burst;
    logic                        lock;
    axi_pkg::cache_t             cache;
    axi_pkg::prot_t              prot;
    axi_pkg::qos_t               qos;
    axi_pkg::region_t            region;
    logic [Cfg.AxiUserWidth-1:0] user;
  } ar_t;
  typedef struct packed {
    logic [Cfg.AxiIdWidth-1:0]   id;
    logic [Cfg.AxiAddrWidth-1:0] addr;
    axi_pkg::len_t               len;
    axi_pkg::size_t              size;
    axi_pkg::burst_t             burst;
    logic                        lock;
    axi_pkg::cache_t             cache;
    axi_pkg::prot_t              prot;
    axi_pkg::qos_t               qos;
    axi_pkg::region_t            region;
    axi_pkg::atop_t              atop;
    logic [Cfg.AxiUserWidth-1:0] user;
  } aw_t;
  typedef struct packed {
    logic [63:0]                 data;
    logic [7:0]                  strb;
    logic                        last;
    logic [Cfg.AxiUserWidth-1:0] user;
  } w_t;
  typedef struct packed {
    logic [Cfg.AxiIdWidth-1:0]   id;
    axi_pkg::resp_t              resp;
    logic [Cfg.AxiUserWidth-1:0] user;
  } b_t;
  typedef struct packed {
    logic [Cfg.AxiIdWidth-1:0]   id;
    logic [63:0]                 data;
    axi_pkg::resp_t              resp;
    logic                        last;
    logic [Cfg.AxiUserWidth-1:0] user;
  } r_t;
  typedef struct packed {
    aw_t  aw;
    logic aw_valid;
    w_t   w;
    logic w_valid;
    logic b_ready;
    ar_t  ar;
    logic ar_valid;
    logic r_ready;
  } req_t;
  typedef struct packed {
    logic aw_ready;
    logic ar_ready;
    logic w_ready;
    logic b_valid;
    b_t   b;
    logic r_valid;
    r_t   r;
  } resp_t;

  // There is no coprocessor: it is ready, and accepts no instruction.
  typedef `READREGFLAGS_T(Cfg) readregflags_t;
  typedef `WRITEREGFLAGS_T(Cfg) writeregflags_t;
  typedef `ID_T(Cfg) id_t;
  typedef `HARTID_T(Cfg) hartid_t;
  typedef `X_COMPRESSED_RESP_T(Cfg) x_compressed_resp_t;
  typedef `X_ISSUE_RESP_T(Cfg, writeregflags_t, readregflags_t) x_issue_resp_t;
  typedef `X_RESULT_T(Cfg, hartid_t, id_t, writeregflags_t) x_result_t;
  typedef `CVXIF_RESP_T(Cfg, x_compressed_resp_t, x_issue_resp_t, x_result_t) cvxif_resp_t;
  cvxif_resp_t no_coprocessor;
  always_comb begin
    no_coprocessor                  = '0;
    no_coprocessor.compressed_ready = 1'b1;
    no_coprocessor.issue_ready      = 1'b1;
    no_coprocessor.register_ready   = 1'b1;
  end
`else
  typedef ariane_axi::aw_chan_t aw_t;
  typedef ariane_axi::w_chan_t w_t;
  typedef ariane_axi::b_chan_t b_t;
  typedef ariane_axi::ar_chan_t ar_t;
  typedef ariane_axi::r_chan_t r_t;
  typedef ariane_axi::req_t req_t;
  typedef ariane_axi::resp_t resp_t;
`endif
  // Of the core, of the slices towards memory, and of memory.
  req_t  core_req, slice_req, req;
  resp_t core_resp, slice_resp, resp;
  logic  core_clk;

  cva6_te_hold #(
    .aw_t   (aw_t),
    .w_t    (w_t),
    .b_t    (b_t),
    .ar_t   (ar_t),
    .r_t    (r_t),
    .req_t  (req_t),
    .resp_t (resp_t)
  ) i_hold (
    .clk_i,
    .rst_ni,
    .hold_i,
    .core_clk_o  (core_clk),
    .core_req_i  (core_req),
    .core_resp_o (slice_resp),
    .bus_req_o   (slice_req),
    .bus_resp_i  (resp)
  );

  assign req       = sliced_i ? slice_req : core_req;
  assign core_resp = sliced_i ? slice_resp : resp;

`ifdef CVA6_RVFI
  cva6 #(
    .CVA6Cfg             (Cfg),
    .axi_ar_chan_t       (ar_t),
    .axi_aw_chan_t       (aw_t),
    .axi_w_chan_t        (w_t),
    .b_chan_t            (b_t),
    .r_chan_t            (r_t),
    .noc_req_t           (req_t),
    .noc_resp_t          (resp_t),
    .x_compressed_resp_t (x_compressed_resp_t),
    .x_issue_resp_t      (x_issue_resp_t),
    .x_result_t          (x_result_t),
    .cvxif_resp_t        (cvxif_resp_t)
  ) i_cva6 (
    .clk_i         (core_clk),
    .rst_ni,
    .boot_addr_i   (boot_addr_i[Cfg.VLEN-1:0]),
    .hart_id_i     (hart_id_i[Cfg.XLEN-1:0]),
    .irq_i,
    .ipi_i,
    .time_irq_i,
    .debug_req_i,
    .rvfi_probes_o (),
    .cvxif_req_o   (),
    .cvxif_resp_i  (no_coprocessor),
    .noc_req_o     (core_req),
    .noc_resp_i    (core_resp)
  );
`else
  cva6 i_cva6 (
    .clk_i        (core_clk),
    .rst_ni,
    .boot_addr_i,
    .hart_id_i,
    .irq_i,
    .ipi_i,
    .time_irq_i,
    .debug_req_i,
    .cvxif_req_o  (),
    .cvxif_resp_i ('0),
    .axi_req_o    (core_req),
    .axi_resp_i   (core_resp)
  );
`endif

  assign aw_valid_o = req.aw_valid;
  assign aw_id_o    = 4'(req.aw.id);
  assign aw_addr_o  = 64'(req.aw.addr);
  assign aw_len_o   = req.aw.len;
  assign aw_size_o  = req.aw.size;
  assign aw_burst_o = req.aw.burst;
  assign aw_lock_o  = req.aw.lock;
  assign aw_atop_o  = req.aw.atop;
  assign w_valid_o  = req.w_valid;
  assign w_data_o   = req.w.data;
  assign w_strb_o   = req.w.strb;
  assign w_last_o   = req.w.last;
  assign b_ready_o  = req.b_ready;
  assign ar_valid_o = req.ar_valid;
  assign ar_id_o    = 4'(req.ar.id);
  assign ar_addr_o  = 64'(req.ar.addr);
  assign ar_len_o   = req.ar.len;
  assign ar_size_o  = req.ar.size;
  assign ar_burst_o = req.ar.burst;
  assign ar_lock_o  = req.ar.lock;
  assign r_ready_o  = req.r_ready;

  always_comb begin
    resp          = '0;
    resp.aw_ready = aw_ready_i;
    resp.w_ready  = w_ready_i;
    resp.b_valid  = b_valid_i;
    resp.b.id     = b_id_i;
    resp.b.resp   = b_resp_i;
    resp.ar_ready = ar_ready_i;
    resp.r_valid  = r_valid_i;
    resp.r.id     = r_id_i;
    resp.r.data   = r_data_i;
    resp.r.resp   = r_resp_i;
    resp.r.last   = r_last_i;
  end

  assign commit_valid_o        = i_cva6.i_commit_probe.valid;
  assign commit_ack_o          = i_cva6.i_commit_probe.ack & {2{~hold_i}};
  assign commit_pc_o           = i_cva6.i_commit_probe.pc;
  assign commit_compressed_o   = i_cva6.i_commit_probe.compressed;
  assign commit_insn_o         = i_cva6.i_commit_probe.insn;
  assign commit_fu_o           = i_cva6.i_commit_probe.fu;
  assign commit_op_o           = i_cva6.i_commit_probe.op;
  assign commit_rs1_o          = i_cva6.i_commit_probe.rs1;
  assign commit_rd_o           = i_cva6.i_commit_probe.rd;
  assign commit_slot_o         = i_cva6.i_commit_probe.slot;
  assign commit_next_o         = i_cva6.i_commit_probe.next;
  assign commit_trap_o         = i_cva6.i_commit_probe.trap & ~hold_i;
  assign commit_cause_o        = i_cva6.i_commit_probe.cause;
  assign commit_tval_o         = i_cva6.i_commit_probe.tval;
  assign commit_trap_vector_o  = i_cva6.i_commit_probe.trap_vector;
  assign commit_priv_o         = i_cva6.i_commit_probe.priv;
  assign commit_debug_o        = i_cva6.i_commit_probe.debug;
  assign commit_debug_entry_o  = i_cva6.i_commit_probe.debug_entry & ~hold_i;
  assign commit_eret_o         = i_cva6.i_commit_probe.eret;
  assign commit_epc_o          = i_cva6.i_commit_probe.epc;
  assign commit_flush_o        = i_cva6.i_commit_probe.flush;
  assign resolved_o            = i_cva6.i_commit_probe.resolved & ~hold_i;
  assign resolved_slot_o       = i_cva6.i_commit_probe.resolved_slot;
  assign resolved_taken_o      = i_cva6.i_commit_probe.resolved_taken;
  assign resolved_mispredict_o = i_cva6.i_commit_probe.resolved_mispredict;
  assign resolved_target_o     = i_cva6.i_commit_probe.resolved_target;

  // A connector knows when the core stands still: it is the one who says so. Lanes of a core of 32 bits have as many.
  assign te_valid_o      = i_cva6.i_te_adapter.valid_o;
  assign te_pc_o         = 128'(i_cva6.i_te_adapter.pc_o);
  assign te_compressed_o = i_cva6.i_te_adapter.compressed_o;
  assign te_kind_o       = i_cva6.i_te_adapter.kind_o;
  assign te_taken_o      = i_cva6.i_te_adapter.taken_o;
  assign te_rd_o         = i_cva6.i_te_adapter.rd_o;
  assign te_rs1_o        = i_cva6.i_te_adapter.rs1_o;
  assign te_sijump_o     = i_cva6.i_te_adapter.sijump_o;
  assign te_trap_o       = i_cva6.i_te_adapter.trap_o;
  assign te_interrupt_o  = i_cva6.i_te_adapter.interrupt_o;
  assign te_cause_o      = 64'(i_cva6.i_te_adapter.cause_o);
  assign te_tval_o       = 64'(i_cva6.i_te_adapter.tval_o);
  assign te_trap_pc_o    = 64'(i_cva6.i_te_adapter.trap_pc_o);
  assign te_priv_o       = i_cva6.i_te_adapter.priv_o;
  assign te_context_o    = 64'(i_cva6.i_te_adapter.context_o);
  assign te_debug_o      = i_cva6.i_te_adapter.debug_o;
endmodule
