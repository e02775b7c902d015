// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// A clock gate: the edge passes if enable_i was set before it. Technology cell: replace it by that of the process, or by
// the clock buffer with enable of an FPGA (BUFGCE on AMD devices, DCCA on ECP5).
module te_clock_gate (
  input  logic clk_i,
  input  logic enable_i,
  output logic clk_o
);
  logic enabled;

  always_latch if (!clk_i) enabled = enable_i;

  assign clk_o = clk_i & enabled;
endmodule
