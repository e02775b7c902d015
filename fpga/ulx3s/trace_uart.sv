// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Sends a stream of one or two bytes at a time over a serial line: 8 data bits, no parity, one stop bit. A bit need not
// be a whole number of cycles: each ends less than a cycle late.
module trace_uart #(
  parameter int unsigned ClockHz = 25_000_000,
  parameter int unsigned Baud = 3_000_000  // at most ClockHz
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [15:0] data_i,
  input  logic [1:0]  keep_i,  // bit 0 is always set
  output logic        line_o
);
  // How much of a bit has passed, in units of 1 / ClockHz of it.
  localparam int unsigned PhaseBits = $clog2(ClockHz + Baud + 1);
  logic [PhaseBits-1:0] phase_d, phase_q, next_phase;
  logic [19:0]          bits_d, bits_q;
  logic [4:0]           left_d, left_q;

  assign ready_o = left_q == 5'd0;
  // The line rests at 1.
  assign line_o  = bits_q[0];

  assign next_phase = phase_q + PhaseBits'(Baud);
  always_comb begin
    bits_d  = bits_q;
    left_d  = left_q;
    phase_d = phase_q;
    if (ready_o) begin
      if (valid_i) begin
        // For each byte a start bit, the byte from its lowest bit, and a stop bit.
        bits_d  = {1'b1, data_i[15:8], 1'b0, 1'b1, data_i[7:0], 1'b0};
        left_d  = keep_i[1] ? 5'd20 : 5'd10;
        phase_d = '0;
      end
    end else if (next_phase >= PhaseBits'(ClockHz)) begin
      bits_d  = {1'b1, bits_q[19:1]};
      left_d  = left_q - 5'd1;
      phase_d = next_phase - PhaseBits'(ClockHz);
      // A second byte that is not to be sent.
      if (left_q == 5'd1) bits_d = '1;
    end else begin
      phase_d = next_phase;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q  <= '1;
      left_q  <= 5'd0;
      phase_q <= '0;
    end else begin
      bits_q  <= bits_d;
      left_q  <= left_d;
      phase_q <= phase_d;
    end
  end
endmodule
