// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// The top for the board ULX3S: runs the program in block RAM once after power-on, and again when FIRE1 is pressed, and
// sends its trace over USB, 3 Mbaud 8N1.
module ulx3s_top #(
  parameter int unsigned Baud = 3_000_000,
  parameter int unsigned MemoryWords = 16384,
  parameter MemoryFile = "program.hex"
) (
  input  logic        clk_25mhz,
  input  logic        fire1,
  // To the serial input of the USB bridge.
  output logic        ftdi_rxd,
  // 0 the program runs, 1 it has ended, 2 with an exit code other than 0, 3 the core has stopped, 4 trace was lost,
  // 7 trace is sent.
  output logic [7:0]  led,
  // Otherwise the ESP32 may reset the board.
  output logic        wifi_gpio0
);
  // Registers start at 0 when the device is configured. The button bounces: reset ends when it was still for a while.
  logic [1:0]  button_q;
  logic [15:0] still_q;
  logic        rst_n;
  initial begin
    button_q = 2'b00;
    still_q  = 16'd0;
  end
  always_ff @(posedge clk_25mhz) begin
    button_q <= {button_q[0], fire1};
    still_q  <= button_q[1] ? 16'd0 : still_q + {15'd0, ~rst_n};
  end
  assign rst_n = &still_q;

  logic        ended, trap, lost, trace_valid, trace_ready;
  logic [7:0]  code;
  logic [15:0] trace_data;
  logic [1:0]  trace_keep;

  traced_picorv32 #(
    .MemoryWords (MemoryWords),
    .MemoryFile  (MemoryFile)
  ) i_traced (
    .clk_i         (clk_25mhz),
    .rst_ni        (rst_n),
    .ended_o       (ended),
    .code_o        (code),
    .trap_o        (trap),
    .lost_o        (lost),
    .trace_valid_o (trace_valid),
    .trace_ready_i (trace_ready),
    .trace_data_o  (trace_data),
    .trace_keep_o  (trace_keep),
    // Read by their names in simulation.
    .retires_o     (),
    .pc_o          ()
  );

  trace_uart #(
    .ClockHz (25_000_000),
    .Baud    (Baud)
  ) i_uart (
    .clk_i   (clk_25mhz),
    .rst_ni  (rst_n),
    .valid_i (trace_valid),
    .ready_o (trace_ready),
    .data_i  (trace_data),
    .keep_i  (trace_keep),
    .line_o  (ftdi_rxd)
  );

  assign led        = {~trace_ready, 2'b00, lost, trap, ended & (|code), ended, rst_n & ~ended & ~trap};
  assign wifi_gpio0 = 1'b1;
endmodule
