// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// A PicoRV32 with memory and trace. It traces one run of the program in memory, from reset to the store that ends it.
//
//   picorv32 --RVFI--> rvfi_te_adapter --> cva6_te_connector --> te_top --> trace, as a stream of bytes
//      |                                                            ^
//    memory                                              registers: on before the core leaves reset, off at the end
// Null packets announce the trace.
module traced_picorv32 #(
  parameter int unsigned MemoryWords = 16384,
  // 32-bit words in hexadecimal.
  parameter MemoryFile = "program.hex"
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // The program has ended, with this exit code; the core has stopped at what it cannot execute; trace was lost.
  output logic        ended_o,
  output logic [7:0]  code_o,
  output logic        trap_o,
  output logic        lost_o,
  // Trace; the lowest byte is the first.
  output logic        trace_valid_o,
  input  logic        trace_ready_i,
  output logic [15:0] trace_data_o,
  output logic [1:0]  trace_keep_o,
  // What retires, for comparison.
  output logic        retires_o,
  output logic [31:0] pc_o
);
  // --- the core ---

  logic        core_rst_n;
  logic        mem_valid, mem_ready;
  logic [31:0] mem_addr, mem_wdata, mem_rdata;
  logic [3:0]  mem_wstrb;
  logic        rvfi_valid, rvfi_trap, rvfi_halt, rvfi_intr;
  logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata;
  logic [1:0]  rvfi_mode;

  picorv32 #(
    .BARREL_SHIFTER  (1'b1),
    .COMPRESSED_ISA  (1'b1),
    .ENABLE_FAST_MUL (1'b1),
    .ENABLE_DIV      (1'b1),
    .PROGADDR_RESET  (32'h8000_0000)
  ) i_core (
    .clk           (clk_i),
    .resetn        (core_rst_n),
    .trap          (trap_o),
    .mem_valid     (mem_valid),
    .mem_instr     (),
    .mem_ready     (mem_ready),
    .mem_addr      (mem_addr),
    .mem_wdata     (mem_wdata),
    .mem_wstrb     (mem_wstrb),
    .mem_rdata     (mem_rdata),
    .pcpi_wr       (1'b0),
    .pcpi_rd       (32'd0),
    .pcpi_wait     (1'b0),
    .pcpi_ready    (1'b0),
    .irq           (32'd0),
    .rvfi_valid    (rvfi_valid),
    .rvfi_insn     (rvfi_insn),
    .rvfi_trap     (rvfi_trap),
    .rvfi_halt     (rvfi_halt),
    .rvfi_intr     (rvfi_intr),
    .rvfi_mode     (rvfi_mode),
    .rvfi_pc_rdata (rvfi_pc_rdata),
    .rvfi_pc_wdata (rvfi_pc_wdata)
  );
  assign retires_o = rvfi_valid & ~rvfi_trap;
  assign pc_o      = rvfi_pc_rdata;

  // --- memory, at every address with the highest bit set, again and again; and the end of the program ---

  localparam int unsigned IndexBits = $clog2(MemoryWords);
  logic [31:0]          memory[MemoryWords];
  logic [IndexBits-1:0] index;
  logic                 to_memory;
  initial $readmemh(MemoryFile, memory);

  assign index     = mem_addr[2+:IndexBits];
  assign to_memory = mem_valid & ~mem_ready & mem_addr[31];
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) begin
      if (to_memory & mem_wstrb[i]) memory[index][8*i+:8] <= mem_wdata[8*i+:8];
    end
    if (to_memory & ~(|mem_wstrb)) mem_rdata <= memory[index];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mem_ready <= 1'b0;
      ended_o   <= 1'b0;
      code_o    <= 8'd0;
    end else begin
      mem_ready <= mem_valid & ~mem_ready;
      if (mem_valid & ~mem_ready & ~mem_addr[31] & mem_wstrb[0] & mem_wdata[0]) begin
        ended_o <= 1'b1;
        code_o  <= mem_wdata[8:1];
      end
    end
  end

  // --- tracing, on and off ---

  // trTeControl: trTeActive and trTeInstTracing, synchronisation every 128 packets; and trTeEnable.
  localparam logic [31:0] Off = 32'h0031_0005;
  localparam logic [31:0] On  = 32'h0031_0007;

  typedef enum logic [2:0] {Announce, Activate, Configure, Enable, Run, Settle, Disable, Stopped} state_e;
  state_e      state_d, state_q;
  logic        penable_q, pready, writes;
  logic [31:0] pwdata;
  // Words of the announcement; then cycles until what the core has retired has reached the connector, which is told by
  // the encoder to send the rest when tracing is switched off.
  logic [3:0]  count_d, count_q;

  always_comb begin
    state_d = state_q;
    count_d = 4'd0;
    writes  = 1'b0;
    pwdata  = Off;
    case (state_q)
      Announce: begin
        count_d = count_q + {3'd0, trace_ready_i};
        if ((&count_q) & trace_ready_i) state_d = Activate;
      end
      Activate: begin
        writes = 1'b1;
        pwdata = 32'd1;
        if (penable_q & pready) state_d = Configure;
      end
      Configure: begin
        writes = 1'b1;
        if (penable_q & pready) state_d = Enable;
      end
      Enable: begin
        writes = 1'b1;
        pwdata = On;
        if (penable_q & pready) state_d = Run;
      end
      Run: if (ended_o | trap_o) state_d = Settle;
      Settle: begin
        count_d = count_q + 4'd1;
        if (&count_q) state_d = Disable;
      end
      Disable: begin
        writes = 1'b1;
        if (penable_q & pready) state_d = Stopped;
      end
      default: state_d = Stopped;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= Announce;
      penable_q <= 1'b0;
      count_q   <= 4'd0;
    end else begin
      state_q   <= state_d;
      penable_q <= writes & ~(penable_q & pready);
      count_q   <= count_d;
    end
  end
  // Reset also ends the endless loop after the end.
  assign core_rst_n = (state_q == Run) & ~ended_o;

  // The announcement is a run of 32 null packets, which no packet contains: whoever listens already, perhaps to
  // the end of an earlier trace, knows where this one starts.
  logic        announces, stream_valid;
  logic [15:0] stream_data;
  logic [1:0]  stream_keep;
  assign announces     = state_q == Announce;
  assign trace_valid_o = announces | stream_valid;
  assign trace_data_o  = announces ? 16'd0 : stream_data;
  assign trace_keep_o  = announces ? 2'b11 : stream_keep;

  // --- from RVFI to trace ---

  logic        valid, compressed, taken, sijump, trap, interrupt, debug, halted, adapter_lost;
  logic [31:0] pc, cause, tval, trap_pc;
  logic [2:0]  kind;
  logic [4:0]  rd, rs1;
  logic [1:0]  level;

  rvfi_te_adapter #(
    .Lanes (1),
    .Xlen  (32)
  ) i_adapter (
    .clk_i,
    .rst_ni,
    .rvfi_valid_i    (rvfi_valid),
    .rvfi_insn_i     (rvfi_insn),
    .rvfi_trap_i     (rvfi_trap),
    .rvfi_halt_i     (rvfi_halt),
    .rvfi_intr_i     (rvfi_intr),
    .rvfi_mode_i     (rvfi_mode),
    .rvfi_pc_rdata_i (rvfi_pc_rdata),
    .rvfi_pc_wdata_i (rvfi_pc_wdata),
    // There are no causes: what it cannot execute ends the core.
    .cause_i         (32'd0),
    .tval_i          (32'd0),
    .debug_i         (1'b0),
    .valid_o         (valid),
    .pc_o            (pc),
    .compressed_o    (compressed),
    .kind_o          (kind),
    .taken_o         (taken),
    .rd_o            (rd),
    .rs1_o           (rs1),
    .sijump_o        (sijump),
    .trap_o          (trap),
    .interrupt_o     (interrupt),
    .cause_o         (cause),
    .tval_o          (tval),
    .trap_pc_o       (trap_pc),
    .priv_o          (level),
    .debug_o         (debug),
    .halted_o        (halted),
    .lost_o          (adapter_lost)
  );

  logic [2:0]  block_itype;
  logic [31:0] block_iaddr, block_tval;
  logic [1:0]  block_iretire, block_level;
  logic        block_ilastsize, block_halted, traces, drained, connector_lost, encoder_lost;
  logic [3:0]  block_cause;

  cva6_te_connector i_connector (
    .clk_i,
    .rst_ni,
    .kind_i       (kind),
    .taken_i      (taken),
    .rd_i         (rd),
    .rs1_i        (rs1),
    .valid_i      (valid),
    .pc_i         (pc),
    .compressed_i (compressed),
    .trap_i       (trap),
    .interrupt_i  (interrupt),
    .cause_i      (cause),
    .tval_i       (tval),
    .trap_pc_i    (trap_pc),
    .priv_i       (level),
    .debug_i      (debug),
    .halted_i     (halted),
    .flush_i      (1'b0),
    .lost_i       (adapter_lost),
    .enable_i     (traces),
    .stall_i      (1'b0),
    .itype_o      (block_itype),
    .iaddr_o      (block_iaddr),
    .iretire_o    (block_iretire),
    .ilastsize_o  (block_ilastsize),
    .cause_o      (block_cause),
    .tval_o       (block_tval),
    .priv_o       (block_level),
    .halted_o     (block_halted),
    .stall_o      (),
    .lost_o       (connector_lost),
    .empty_o      (drained)
  );

  te_top i_te_top (
    .clk_i,
    .rst_ni,
    .psel_i            (writes),
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
    .hart0_priv_i      (block_level),
    .hart0_halted_i    (block_halted),
    .hart0_reset_i     (1'b0),
    .hart0_lost_i      (connector_lost),
    .hart0_drained_i   (drained),
    .hart0_lost_o      (encoder_lost),
    .hart0_trace_o     (traces),
    .tvalid_o          (stream_valid),
    .tready_i          (trace_ready_i & ~announces),
    .tdata_o           (stream_data),
    .tkeep_o           (stream_keep),
    .tlast_o           ()
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) lost_o <= 1'b0;
    else lost_o <= lost_o | encoder_lost;
  end
endmodule
