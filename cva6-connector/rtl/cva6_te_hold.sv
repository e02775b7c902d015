// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Makes a CVA6 wait, which has no input for it: its clock stops while hold_i is set. Slices on the clock that never stops
// are between it and the bus, so that the bus sees no request withdrawn or changed, and the core misses no answer.
//
// hold_i is stall_o of the connector. In a cycle with hold_i, nothing that the core offers or accepts counts. Interrupts
// and debug requests have to stay until the core has a clock: synchronisers and whatever makes levels of pulses are on
// clk_i, not on core_clk_o. Types are those of the core's port, with the fields of PULP's AXI structures.
module cva6_te_hold #(
  parameter type aw_t   = logic,
  parameter type w_t    = logic,
  parameter type b_t    = logic,
  parameter type ar_t   = logic,
  parameter type r_t    = logic,
  parameter type req_t  = logic,
  parameter type resp_t = logic
) (
  input  logic  clk_i,  // never stops
  input  logic  rst_ni,
  input  logic  hold_i,
  output logic  core_clk_o,
  // The core, on core_clk_o
  input  req_t  core_req_i,
  output resp_t core_resp_o,
  // The bus, on clk_i
  output req_t  bus_req_o,
  input  resp_t bus_resp_i
);
  logic aw_valid, w_valid, ar_valid, b_ready, r_ready, aw_ready, w_ready, ar_ready, b_valid, r_valid;
  aw_t  aw;
  w_t   w;
  ar_t  ar;
  b_t   b;
  r_t   r;

  te_clock_gate i_clock_gate (
    .clk_i,
    .enable_i (~hold_i),
    .clk_o    (core_clk_o)
  );

  // From the core to the bus.
  te_hold_slice #(
    .Width ($bits(aw_t))
  ) i_aw (
    .clk_i,
    .rst_ni,
    .valid_i (core_req_i.aw_valid & ~hold_i),
    .ready_o (aw_ready),
    .data_i  (core_req_i.aw),
    .valid_o (aw_valid),
    .ready_i (bus_resp_i.aw_ready),
    .data_o  (aw)
  );

  te_hold_slice #(
    .Width ($bits(w_t))
  ) i_w (
    .clk_i,
    .rst_ni,
    .valid_i (core_req_i.w_valid & ~hold_i),
    .ready_o (w_ready),
    .data_i  (core_req_i.w),
    .valid_o (w_valid),
    .ready_i (bus_resp_i.w_ready),
    .data_o  (w)
  );

  te_hold_slice #(
    .Width ($bits(ar_t))
  ) i_ar (
    .clk_i,
    .rst_ni,
    .valid_i (core_req_i.ar_valid & ~hold_i),
    .ready_o (ar_ready),
    .data_i  (core_req_i.ar),
    .valid_o (ar_valid),
    .ready_i (bus_resp_i.ar_ready),
    .data_o  (ar)
  );

  // From the bus to the core.
  te_hold_slice #(
    .Width ($bits(b_t))
  ) i_b (
    .clk_i,
    .rst_ni,
    .valid_i (bus_resp_i.b_valid),
    .ready_o (b_ready),
    .data_i  (bus_resp_i.b),
    .valid_o (b_valid),
    .ready_i (core_req_i.b_ready & ~hold_i),
    .data_o  (b)
  );

  te_hold_slice #(
    .Width ($bits(r_t))
  ) i_r (
    .clk_i,
    .rst_ni,
    .valid_i (bus_resp_i.r_valid),
    .ready_o (r_ready),
    .data_i  (bus_resp_i.r),
    .valid_o (r_valid),
    .ready_i (core_req_i.r_ready & ~hold_i),
    .data_o  (r)
  );

  always_comb begin
    bus_req_o          = '0;
    bus_req_o.aw       = aw;
    bus_req_o.aw_valid = aw_valid;
    bus_req_o.w        = w;
    bus_req_o.w_valid  = w_valid;
    bus_req_o.ar       = ar;
    bus_req_o.ar_valid = ar_valid;
    bus_req_o.b_ready  = b_ready;
    bus_req_o.r_ready  = r_ready;
  end

  always_comb begin
    core_resp_o          = '0;
    core_resp_o.aw_ready = aw_ready;
    core_resp_o.w_ready  = w_ready;
    core_resp_o.ar_ready = ar_ready;
    core_resp_o.b        = b;
    core_resp_o.b_valid  = b_valid;
    core_resp_o.r        = r;
    core_resp_o.r_valid  = r_valid;
  end
endmodule
