// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// What is between a core that traces itself, the sink of its trace, memory and the registers of the encoder: PULP's crossbar, as
// the package of the core has it, and our bridge to APB. Core and sink write to one memory, at all addresses but those of
// the registers. All ports are cut by registers, so that none answers another in the same cycle.
`include "axi/typedef.svh"

module cva6_interconnect #(
  parameter logic [63:0] RegistersBase = 64'd0,
  parameter logic [63:0] RegistersSize = 64'h2000
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // From the core.
  input  logic        hart0_aw_valid_i,
  output logic        hart0_aw_ready_o,
  input  logic [3:0]  hart0_aw_id_i,
  input  logic [63:0] hart0_aw_addr_i,
  input  logic [7:0]  hart0_aw_len_i,
  input  logic [2:0]  hart0_aw_size_i,
  input  logic [1:0]  hart0_aw_burst_i,
  input  logic        hart0_aw_lock_i,
  input  logic [5:0]  hart0_aw_atop_i,
  input  logic        hart0_w_valid_i,
  output logic        hart0_w_ready_o,
  input  logic [63:0] hart0_w_data_i,
  input  logic [7:0]  hart0_w_strb_i,
  input  logic        hart0_w_last_i,
  output logic        hart0_b_valid_o,
  input  logic        hart0_b_ready_i,
  output logic [3:0]  hart0_b_id_o,
  output logic [1:0]  hart0_b_resp_o,
  input  logic        hart0_ar_valid_i,
  output logic        hart0_ar_ready_o,
  input  logic [3:0]  hart0_ar_id_i,
  input  logic [63:0] hart0_ar_addr_i,
  input  logic [7:0]  hart0_ar_len_i,
  input  logic [2:0]  hart0_ar_size_i,
  input  logic [1:0]  hart0_ar_burst_i,
  input  logic        hart0_ar_lock_i,
  output logic        hart0_r_valid_o,
  input  logic        hart0_r_ready_i,
  output logic [3:0]  hart0_r_id_o,
  output logic [63:0] hart0_r_data_o,
  output logic [1:0]  hart0_r_resp_o,
  output logic        hart0_r_last_o,

  // From the sink, under the names that te_top has for them.
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [63:0] awaddr_i,
  input  logic [7:0]  awlen_i,
  input  logic [2:0]  awsize_i,
  input  logic [1:0]  awburst_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  input  logic [63:0] wdata_i,
  input  logic [7:0]  wstrb_i,
  input  logic        wlast_i,
  output logic        bvalid_o,
  input  logic        bready_i,
  output logic [1:0]  bresp_o,

  // To the registers.
  output logic        psel_o,
  output logic        penable_o,
  output logic        pwrite_o,
  output logic [12:0] paddr_o,
  output logic [31:0] pwdata_o,
  output logic [3:0]  pstrb_o,
  input  logic        pready_i,
  input  logic [31:0] prdata_i,
  input  logic        pslverr_i,

  // To memory.
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output logic [4:0]  aw_id_o,
  output logic [63:0] aw_addr_o,
  output logic [7:0]  aw_len_o,
  output logic [2:0]  aw_size_o,
  output logic [1:0]  aw_burst_o,
  output logic        aw_lock_o,
  output logic [5:0]  aw_atop_o,
  output logic        w_valid_o,
  input  logic        w_ready_i,
  output logic [63:0] w_data_o,
  output logic [7:0]  w_strb_o,
  output logic        w_last_o,
  input  logic        b_valid_i,
  output logic        b_ready_o,
  input  logic [4:0]  b_id_i,
  input  logic [1:0]  b_resp_i,
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output logic [4:0]  ar_id_o,
  output logic [63:0] ar_addr_o,
  output logic [7:0]  ar_len_o,
  output logic [2:0]  ar_size_o,
  output logic [1:0]  ar_burst_o,
  output logic        ar_lock_o,
  input  logic        r_valid_i,
  output logic        r_ready_o,
  input  logic [4:0]  r_id_i,
  input  logic [63:0] r_data_i,
  input  logic [1:0]  r_resp_i,
  input  logic        r_last_i
);
  // Crossbars add a bit to IDs, which says whose access it is.
  `AXI_TYPEDEF_ALL(slv, logic [63:0], logic [3:0], logic [63:0], logic [7:0], logic [0:0])
  `AXI_TYPEDEF_ALL(mst, logic [63:0], logic [4:0], logic [63:0], logic [7:0], logic [0:0])

  localparam int unsigned Core = 0;
  localparam int unsigned Sink = 1;
  localparam int unsigned Memory = 0;
  localparam int unsigned Registers = 1;

  localparam axi_pkg::xbar_cfg_t XbarCfg = '{
    NoSlvPorts:         2,
    NoMstPorts:         2,
    MaxMstTrans:        8,
    MaxSlvTrans:        8,
    FallThrough:        1'b0,
    LatencyMode:        axi_pkg::CUT_ALL_PORTS,
    AxiIdWidthSlvPorts: 4,
    AxiIdUsedSlvPorts:  4,
    UniqueIds:          1'b0,
    AxiAddrWidth:       64,
    AxiDataWidth:       64,
    NoAddrRules:        1
  };

  localparam axi_pkg::xbar_rule_64_t [0:0] AddrMap = '{
    '{idx: Registers, start_addr: RegistersBase, end_addr: RegistersBase + RegistersSize}
  };

  slv_req_t  [1:0] slv_req;
  slv_resp_t [1:0] slv_resp;
  mst_req_t  [1:0] mst_req;
  mst_resp_t       memory_resp, registers_resp;

  axi_xbar #(
    .Cfg           (XbarCfg),
    .slv_aw_chan_t (slv_aw_chan_t),
    .mst_aw_chan_t (mst_aw_chan_t),
    .w_chan_t      (slv_w_chan_t),
    .slv_b_chan_t  (slv_b_chan_t),
    .mst_b_chan_t  (mst_b_chan_t),
    .slv_ar_chan_t (slv_ar_chan_t),
    .mst_ar_chan_t (mst_ar_chan_t),
    .slv_r_chan_t  (slv_r_chan_t),
    .mst_r_chan_t  (mst_r_chan_t),
    .slv_req_t     (slv_req_t),
    .slv_resp_t    (slv_resp_t),
    .mst_req_t     (mst_req_t),
    .mst_resp_t    (mst_resp_t)
  ) i_xbar (
    .clk_i,
    .rst_ni,
    .test_i                (1'b0),
    .slv_ports_req_i       (slv_req),
    .slv_ports_resp_o      (slv_resp),
    .mst_ports_req_o       (mst_req),
    .mst_ports_resp_i      ({registers_resp, memory_resp}),
    .addr_map_i            (AddrMap),
    .en_default_mst_port_i (2'b11),
    .default_mst_port_i    ('0)
  );

  always_comb begin
    slv_req = '0;

    slv_req[Core].aw_valid = hart0_aw_valid_i;
    slv_req[Core].aw.id    = hart0_aw_id_i;
    slv_req[Core].aw.addr  = hart0_aw_addr_i;
    slv_req[Core].aw.len   = hart0_aw_len_i;
    slv_req[Core].aw.size  = hart0_aw_size_i;
    slv_req[Core].aw.burst = hart0_aw_burst_i;
    slv_req[Core].aw.lock  = hart0_aw_lock_i;
    slv_req[Core].aw.atop  = hart0_aw_atop_i;
    slv_req[Core].w_valid  = hart0_w_valid_i;
    slv_req[Core].w.data   = hart0_w_data_i;
    slv_req[Core].w.strb   = hart0_w_strb_i;
    slv_req[Core].w.last   = hart0_w_last_i;
    slv_req[Core].b_ready  = hart0_b_ready_i;
    slv_req[Core].ar_valid = hart0_ar_valid_i;
    slv_req[Core].ar.id    = hart0_ar_id_i;
    slv_req[Core].ar.addr  = hart0_ar_addr_i;
    slv_req[Core].ar.len   = hart0_ar_len_i;
    slv_req[Core].ar.size  = hart0_ar_size_i;
    slv_req[Core].ar.burst = hart0_ar_burst_i;
    slv_req[Core].ar.lock  = hart0_ar_lock_i;
    slv_req[Core].r_ready  = hart0_r_ready_i;

    slv_req[Sink].aw_valid = awvalid_i;
    slv_req[Sink].aw.addr  = awaddr_i;
    slv_req[Sink].aw.len   = awlen_i;
    slv_req[Sink].aw.size  = awsize_i;
    slv_req[Sink].aw.burst = awburst_i;
    slv_req[Sink].w_valid  = wvalid_i;
    slv_req[Sink].w.data   = wdata_i;
    slv_req[Sink].w.strb   = wstrb_i;
    slv_req[Sink].w.last   = wlast_i;
    slv_req[Sink].b_ready  = bready_i;
  end

  assign hart0_aw_ready_o = slv_resp[Core].aw_ready;
  assign hart0_w_ready_o  = slv_resp[Core].w_ready;
  assign hart0_b_valid_o  = slv_resp[Core].b_valid;
  assign hart0_b_id_o     = slv_resp[Core].b.id;
  assign hart0_b_resp_o   = slv_resp[Core].b.resp;
  assign hart0_ar_ready_o = slv_resp[Core].ar_ready;
  assign hart0_r_valid_o  = slv_resp[Core].r_valid;
  assign hart0_r_id_o     = slv_resp[Core].r.id;
  assign hart0_r_data_o   = slv_resp[Core].r.data;
  assign hart0_r_resp_o   = slv_resp[Core].r.resp;
  assign hart0_r_last_o   = slv_resp[Core].r.last;

  assign awready_o = slv_resp[Sink].aw_ready;
  assign wready_o  = slv_resp[Sink].w_ready;
  assign bvalid_o  = slv_resp[Sink].b_valid;
  assign bresp_o   = slv_resp[Sink].b.resp;

  assign aw_valid_o = mst_req[Memory].aw_valid;
  assign aw_id_o    = mst_req[Memory].aw.id;
  assign aw_addr_o  = mst_req[Memory].aw.addr;
  assign aw_len_o   = mst_req[Memory].aw.len;
  assign aw_size_o  = mst_req[Memory].aw.size;
  assign aw_burst_o = mst_req[Memory].aw.burst;
  assign aw_lock_o  = mst_req[Memory].aw.lock;
  assign aw_atop_o  = mst_req[Memory].aw.atop;
  assign w_valid_o  = mst_req[Memory].w_valid;
  assign w_data_o   = mst_req[Memory].w.data;
  assign w_strb_o   = mst_req[Memory].w.strb;
  assign w_last_o   = mst_req[Memory].w.last;
  assign b_ready_o  = mst_req[Memory].b_ready;
  assign ar_valid_o = mst_req[Memory].ar_valid;
  assign ar_id_o    = mst_req[Memory].ar.id;
  assign ar_addr_o  = mst_req[Memory].ar.addr;
  assign ar_len_o   = mst_req[Memory].ar.len;
  assign ar_size_o  = mst_req[Memory].ar.size;
  assign ar_burst_o = mst_req[Memory].ar.burst;
  assign ar_lock_o  = mst_req[Memory].ar.lock;
  assign r_ready_o  = mst_req[Memory].r_ready;

  always_comb begin
    memory_resp          = '0;
    memory_resp.aw_ready = aw_ready_i;
    memory_resp.w_ready  = w_ready_i;
    memory_resp.b_valid  = b_valid_i;
    memory_resp.b.id     = b_id_i;
    memory_resp.b.resp   = b_resp_i;
    memory_resp.ar_ready = ar_ready_i;
    memory_resp.r_valid  = r_valid_i;
    memory_resp.r.id     = r_id_i;
    memory_resp.r.data   = r_data_i;
    memory_resp.r.resp   = r_resp_i;
    memory_resp.r.last   = r_last_i;
  end

  assign registers_resp.b.user = '0;
  assign registers_resp.r.user = '0;

  axi_to_apb_8i5a13 i_axi_to_apb (
    .clk_i,
    .rst_ni,
    .awvalid_i (mst_req[Registers].aw_valid),
    .awready_o (registers_resp.aw_ready),
    .awid_i    (mst_req[Registers].aw.id),
    .awaddr_i  (mst_req[Registers].aw.addr[12:0]),
    .awlen_i   (mst_req[Registers].aw.len),
    .awsize_i  (mst_req[Registers].aw.size),
    .awatop_i  (mst_req[Registers].aw.atop),
    .wvalid_i  (mst_req[Registers].w_valid),
    .wready_o  (registers_resp.w_ready),
    .wdata_i   (mst_req[Registers].w.data),
    .wstrb_i   (mst_req[Registers].w.strb),
    .wlast_i   (mst_req[Registers].w.last),
    .bvalid_o  (registers_resp.b_valid),
    .bready_i  (mst_req[Registers].b_ready),
    .bid_o     (registers_resp.b.id),
    .bresp_o   (registers_resp.b.resp),
    .arvalid_i (mst_req[Registers].ar_valid),
    .arready_o (registers_resp.ar_ready),
    .arid_i    (mst_req[Registers].ar.id),
    .araddr_i  (mst_req[Registers].ar.addr[12:0]),
    .arlen_i   (mst_req[Registers].ar.len),
    .arsize_i  (mst_req[Registers].ar.size),
    .rvalid_o  (registers_resp.r_valid),
    .rready_i  (mst_req[Registers].r_ready),
    .rid_o     (registers_resp.r.id),
    .rdata_o   (registers_resp.r.data),
    .rresp_o   (registers_resp.r.resp),
    .rlast_o   (registers_resp.r.last),
    .psel_o,
    .penable_o,
    .pwrite_o,
    .paddr_o,
    .pwdata_o,
    .pstrb_o,
    .pready_i,
    .prdata_i,
    .pslverr_i
  );
endmodule
