// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// An example: a cva6 whose trace goes to a ring buffer in memory. The core is as it comes; the adapter is bound
// into it (cva6_te_bind.sv) and read by its name in the hierarchy. Connector and encoder are those of
//
//     hartrace hdl --config cva6 --core cva6 --sink memory -o rtl
//
// axi_* of the core and aw/w/b of the trace go to the interconnect of the SoC, psel to prdata to an APB bridge.
module cva6_traced (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [63:0]       boot_addr_i,
  input  logic [63:0]       hart_id_i,
  input  logic [1:0]        irq_i,
  input  logic              ipi_i,
  input  logic              time_irq_i,
  input  logic              debug_req_i,
  output ariane_axi::req_t  axi_req_o,
  input  ariane_axi::resp_t axi_resp_i,
  // Registers: the page of the encoder at 0x0000, that of the sink at 0x1000.
  input  logic              psel_i,
  input  logic              penable_i,
  input  logic              pwrite_i,
  input  logic [12:0]       paddr_i,
  input  logic [31:0]       pwdata_i,
  input  logic [3:0]        pstrb_i,
  output logic              pready_o,
  output logic [31:0]       prdata_o,
  output logic              pslverr_o,
  // Trace: AXI4, writes only.
  output logic              awvalid_o,
  input  logic              awready_i,
  output logic [63:0]       awaddr_o,
  output logic [7:0]        awlen_o,
  output logic [2:0]        awsize_o,
  output logic [1:0]        awburst_o,
  output logic              wvalid_o,
  input  logic              wready_i,
  output logic [63:0]       wdata_o,
  output logic [7:0]        wstrb_o,
  output logic              wlast_o,
  input  logic              bvalid_i,
  output logic              bready_o,
  input  logic [1:0]        bresp_i
);
  cva6 i_cva6 (
    .clk_i,
    .rst_ni,
    .boot_addr_i,
    .hart_id_i,
    .irq_i,
    .ipi_i,
    .time_irq_i,
    .debug_req_i,
    .cvxif_req_o  (),
    .cvxif_resp_i ('0),
    .axi_req_o,
    .axi_resp_i
  );

  logic [7:0]   itype;
  logic [127:0] iaddr;
  logic [9:0]   iretire;
  logic [1:0]   ilastsize;
  logic [4:0]   cause;
  logic [63:0]  tval;
  logic [1:0]   level;
  logic         halted, traces, lost, drained;

  cva6_te_connector i_connector (
    .clk_i,
    .rst_ni,
    .kind_i       (i_cva6.i_te_adapter.kind_o),
    .taken_i      (i_cva6.i_te_adapter.taken_o),
    .rd_i         (i_cva6.i_te_adapter.rd_o),
    .rs1_i        (i_cva6.i_te_adapter.rs1_o),
    .valid_i      (i_cva6.i_te_adapter.valid_o),
    .pc_i         (i_cva6.i_te_adapter.pc_o),
    .compressed_i (i_cva6.i_te_adapter.compressed_o),
    .trap_i       (i_cva6.i_te_adapter.trap_o),
    .interrupt_i  (i_cva6.i_te_adapter.interrupt_o),
    .cause_i      (i_cva6.i_te_adapter.cause_o),
    .tval_i       (i_cva6.i_te_adapter.tval_o),
    .trap_pc_i    (i_cva6.i_te_adapter.trap_pc_o),
    .priv_i       (i_cva6.i_te_adapter.priv_o),
    .debug_i      (i_cva6.i_te_adapter.debug_o),
    .halted_i     (1'b0),
    .flush_i      (1'b0),
    .lost_i       (1'b0),
    .enable_i     (traces),
    .stall_i      (1'b0),
    .itype_o      (itype),
    .iaddr_o      (iaddr),
    .iretire_o    (iretire),
    .ilastsize_o  (ilastsize),
    .cause_o      (cause),
    .tval_o       (tval),
    .priv_o       (level),
    .halted_o     (halted),
    .stall_o      (),
    .lost_o       (lost),
    .empty_o      (drained)
  );

  te_top i_te_top (
    .clk_i,
    .rst_ni,
    .psel_i,
    .penable_i,
    .pwrite_i,
    .paddr_i,
    .pwdata_i,
    .pstrb_i,
    .pready_o,
    .prdata_o,
    .pslverr_o,
    .hart0_itype_i     (itype),
    .hart0_iaddr_i     (iaddr),
    .hart0_iretire_i   (iretire),
    .hart0_ilastsize_i (ilastsize),
    .hart0_cause_i     (cause),
    .hart0_tval_i      (tval),
    .hart0_priv_i      (level),
    .hart0_halted_i    (halted),
    .hart0_reset_i     (1'b0),
    .hart0_lost_i      (lost),
    .hart0_drained_i   (drained),
    .hart0_lost_o      (),
    .hart0_trace_o     (traces),
    .awvalid_o,
    .awready_i,
    .awaddr_o,
    .awlen_o,
    .awsize_o,
    .awburst_o,
    .wvalid_o,
    .wready_i,
    .wdata_o,
    .wstrb_o,
    .wlast_o,
    .bvalid_i,
    .bready_o,
    .bresp_i
  );
endmodule
