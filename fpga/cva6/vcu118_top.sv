// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The top for the board VCU118 (XCVU9P): runs the program in block RAM at 50 MHz after power-on and after each
// reset, and sends its trace over USB, 2 Mbaud 8N1.
module vcu118_top #(
  parameter int unsigned Baud = 2_000_000,
  parameter MemoryFile = "program.hex"
) (
  input  logic       sysclk_p,  // 300 MHz
  input  logic       sysclk_n,
  input  logic       cpu_reset,  // button, high while pressed
  // To the serial input of the USB bridge.
  output logic       tx,
  // 0 the core runs, 1 trace was lost.
  output logic [1:0] led
);
  logic sysclk, feedback, clk_unbuffered, clk, locked;

  IBUFDS i_sysclk (
    .I  (sysclk_p),
    .IB (sysclk_n),
    .O  (sysclk)
  );

  // 50 MHz.
  MMCME4_BASE #(
    .CLKIN1_PERIOD    (3.333),
    .CLKFBOUT_MULT_F  (4.000),
    .CLKOUT0_DIVIDE_F (24.000)
  ) i_clock (
    .CLKIN1   (sysclk),
    .CLKFBIN  (feedback),
    .CLKFBOUT (feedback),
    .CLKOUT0  (clk_unbuffered),
    .LOCKED   (locked),
    .PWRDWN   (1'b0),
    .RST      (cpu_reset)
  );

  BUFG i_clk (
    .I (clk_unbuffered),
    .O (clk)
  );

  cva6_board #(
    .ClockHz    (50_000_000),
    .Baud       (Baud),
    .MemoryFile (MemoryFile)
  ) i_board (
    .clk_i    (clk),
    .locked_i (locked),
    .tx_o     (tx),
    .led_o    (led)
  );
endmodule
