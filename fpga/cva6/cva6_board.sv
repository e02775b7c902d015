// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// What is the same on every board: a traced core, and the serial line for its trace.
module cva6_board #(
  parameter int unsigned ClockHz = 50_000_000,
  parameter int unsigned Baud = 2_000_000,
  parameter MemoryFile = "program.hex"
) (
  input  logic       clk_i,
  input  logic       locked_i,  // the clock is there; low resets everything
  output logic       tx_o,
  output logic [1:0] led_o  // 0 the core runs, 1 trace was lost
);
  // Reset ends in step with the clock.
  logic [2:0] reset_q;
  always_ff @(posedge clk_i or negedge locked_i) begin
    if (!locked_i) reset_q <= 3'd0;
    else reset_q <= {reset_q[1:0], 1'b1};
  end

  logic        trace_valid, trace_ready;
  logic [15:0] trace_data;
  logic [1:0]  trace_keep;

  traced_cva6 #(
    .MemoryFile (MemoryFile)
  ) i_traced (
    .clk_i,
    .rst_ni        (reset_q[2]),
    .runs_o        (led_o[0]),
    .lost_o        (led_o[1]),
    .trace_valid_o (trace_valid),
    .trace_ready_i (trace_ready),
    .trace_data_o  (trace_data),
    .trace_keep_o  (trace_keep)
  );

  trace_uart #(
    .ClockHz (ClockHz),
    .Baud    (Baud)
  ) i_uart (
    .clk_i,
    .rst_ni  (reset_q[2]),
    .valid_i (trace_valid),
    .ready_o (trace_ready),
    .data_i  (trace_data),
    .keep_i  (trace_keep),
    .line_o  (tx_o)
  );
endmodule
