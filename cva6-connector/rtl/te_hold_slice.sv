// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// A register stage of a stream without a path from any input to any output. The second register takes the word that
// comes while the first is not taken.
module te_hold_slice #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic             first_valid_q, second_valid_q;
  logic [Width-1:0] first_q, second_q;

  assign ready_o = ~second_valid_q;
  assign valid_o = first_valid_q;
  assign data_o  = first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
    end else if (ready_i | ~first_valid_q) begin
      first_valid_q  <= valid_i | second_valid_q;
      second_valid_q <= 1'b0;
    end else begin
      second_valid_q <= valid_i | second_valid_q;
    end
  end

  // Data has no reset.
  always_ff @(posedge clk_i) begin
    if (ready_i | ~first_valid_q) first_q <= second_valid_q ? second_q : data_i;
    if (~second_valid_q) second_q <= data_i;
  end
endmodule
