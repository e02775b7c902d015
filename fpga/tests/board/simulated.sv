// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The board, with what its core retires.
module simulated #(
  parameter int unsigned Baud = 3_000_000,
  parameter MemoryFile = "program.hex"
) (
  input  logic        clk_i,
  input  logic        fire1_i,
  output logic        line_o,
  output logic [7:0]  led_o,
  output logic        retires_o,
  output logic [31:0] pc_o
);
  ulx3s_top #(
    .Baud       (Baud),
    .MemoryFile (MemoryFile)
  ) i_top (
    .clk_25mhz  (clk_i),
    .fire1      (fire1_i),
    .ftdi_rxd   (line_o),
    .led        (led_o),
    .wifi_gpio0 ()
  );
  assign retires_o = i_top.i_traced.retires_o;
  assign pc_o      = i_top.i_traced.pc_o;
endmodule
