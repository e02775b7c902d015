// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// A CVA6 (of 2022) with memory and trace, for boards without anything else: the program is in block RAM, and tracing is on
// from before the first instruction.
//
//   cva6 with cva6_te_adapter --> cva6_te_connector --> te_top --> trace, as a stream of bytes
//      |                                                  ^
//   axi2mem, block RAM                          registers: three writes after reset
//
// There are no atomic accesses, no interrupts and no debugger: the SoC of a user has its own memory and peripherals, and
// takes from here how core, connector and encoder are connected.
`include "axi/assign.svh"

module traced_cva6 #(
  // Of 64 bits. Memory is at every address, again and again.
  parameter int unsigned MemoryWords = 32768,
  parameter MemoryFile = "program.hex"
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The core has left reset; trace was lost, since reset.
  output logic        runs_o,
  output logic        lost_o,
  // Trace; the lowest byte is the first.
  output logic        trace_valid_o,
  input  logic        trace_ready_i,
  output logic [15:0] trace_data_o,
  output logic [1:0]  trace_keep_o
);
  localparam logic [63:0] BootAddress = 64'h8000_0000;

  // --- the core and its memory ---

  ariane_axi::req_t  req;
  ariane_axi::resp_t resp;

  cva6 i_cva6 (
    .clk_i,
    .rst_ni       (runs_o),
    .boot_addr_i  (BootAddress),
    .hart_id_i    (64'd0),
    .irq_i        (2'd0),
    .ipi_i        (1'b0),
    .time_irq_i   (1'b0),
    .debug_req_i  (1'b0),
    .cvxif_req_o  (),
    .cvxif_resp_i ('0),
    .axi_req_o    (req),
    .axi_resp_i   (resp)
  );

  AXI_BUS #(
    .AXI_ADDR_WIDTH (64),
    .AXI_DATA_WIDTH (64),
    .AXI_ID_WIDTH   (ariane_axi::IdWidth),
    .AXI_USER_WIDTH (ariane_axi::UserWidth)
  ) bus ();
  `AXI_ASSIGN_FROM_REQ(bus, req)
  `AXI_ASSIGN_TO_RESP(resp, bus)

  logic        mem_req, mem_we;
  logic [63:0] mem_addr, mem_wdata, mem_rdata;
  logic [7:0]  mem_be;

  axi2mem #(
    .AXI_ID_WIDTH   (ariane_axi::IdWidth),
    .AXI_ADDR_WIDTH (64),
    .AXI_DATA_WIDTH (64),
    .AXI_USER_WIDTH (ariane_axi::UserWidth)
  ) i_axi2mem (
    .clk_i,
    .rst_ni,
    .slave  (bus),
    .req_o  (mem_req),
    .we_o   (mem_we),
    .addr_o (mem_addr),
    .be_o   (mem_be),
    .user_o (),
    .data_o (mem_wdata),
    .user_i ('0),
    .data_i (mem_rdata)
  );

  localparam int unsigned IndexBits = $clog2(MemoryWords);
  logic [63:0]          memory[MemoryWords];
  logic [IndexBits-1:0] index;
  initial $readmemh(MemoryFile, memory);

  assign index = mem_addr[3+:IndexBits];
  always_ff @(posedge clk_i) begin
    if (mem_req) begin
      for (int unsigned i = 0; i < 8; i++) begin
        if (mem_we & mem_be[i]) memory[index][8*i+:8] <= mem_wdata[8*i+:8];
      end
      mem_rdata <= memory[index];
    end
  end

  // --- tracing, on for good ---

  // trTeControl: trTeActive; trTeInstTracing and a synchronisation every 2^14 cycles; and trTeEnable.
  localparam logic [31:0] Active = 32'h0000_0001;
  localparam logic [31:0] Off    = 32'h00a2_0005;
  localparam logic [31:0] On     = 32'h00a2_0007;

  logic [1:0]  write_q;
  logic        penable_q, pready, connector_lost, encoder_lost;
  logic [31:0] pwdata;

  assign runs_o = &write_q;
  assign pwdata = (write_q == 2'd0) ? Active : ((write_q == 2'd1) ? Off : On);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q   <= 2'd0;
      penable_q <= 1'b0;
      lost_o    <= 1'b0;
    end else begin
      penable_q <= ~runs_o & ~(penable_q & pready);
      if (penable_q & pready) write_q <= write_q + 2'd1;
      if (encoder_lost) lost_o <= 1'b1;
    end
  end

  // --- from the commit stage to trace ---

  logic [7:0]   block_itype;
  logic [127:0] block_iaddr;
  logic [9:0]   block_iretire;
  logic [1:0]   block_ilastsize, block_priv;
  logic [4:0]   block_cause;
  logic [63:0]  block_tval;
  logic         block_halted, traces, drained;

  // The adapter is bound into the core (cva6_te_bind.sv), and read by its name there.
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
    .itype_o      (block_itype),
    .iaddr_o      (block_iaddr),
    .iretire_o    (block_iretire),
    .ilastsize_o  (block_ilastsize),
    .cause_o      (block_cause),
    .tval_o       (block_tval),
    .priv_o       (block_priv),
    .halted_o     (block_halted),
    .stall_o      (),
    .lost_o       (connector_lost),
    .empty_o      (drained)
  );

  te_top i_te_top (
    .clk_i,
    .rst_ni,
    .psel_i            (~runs_o),
    .penable_i         (penable_q),
    .pwrite_i          (1'b1),
    .paddr_i           (12'd0),
    .pwdata_i          (pwdata),
    .pstrb_i           (4'hf),
    .pready_o          (pready),
    .prdata_o          (),
    .pslverr_o         (),
    .hart0_itype_i     (block_itype),
    .hart0_iaddr_i     (block_iaddr),
    .hart0_iretire_i   (block_iretire),
    .hart0_ilastsize_i (block_ilastsize),
    .hart0_cause_i     (block_cause),
    .hart0_tval_i      (block_tval),
    .hart0_priv_i      (block_priv),
    .hart0_halted_i    (block_halted),
    .hart0_reset_i     (1'b0),
    .hart0_lost_i      (connector_lost),
    .hart0_drained_i   (drained),
    .hart0_lost_o      (encoder_lost),
    .hart0_trace_o     (traces),
    .tvalid_o          (trace_valid_o),
    .tready_i          (trace_ready_i),
    .tdata_o           (trace_data_o),
    .tkeep_o           (trace_keep_o),
    .tlast_o           ()
  );
endmodule
