module dynamic (
    input  logic [23:0] a_i,
    input  logic [4:0]  index_i,
    input  logic [1:0]  few_i,
    output logic        bit_o,
    output logic        always_within_o,
    output logic [7:0]  byte_o,
    output logic [2:0]  triple_o,
    output logic [5:0]  of_sum_o,
    output logic [1:0]  only_o
);
  logic [23:0] of_sum_full;

  assign bit_o = (index_i < 5'd24) ? a_i[index_i] : 1'b0;
  assign always_within_o = a_i[5'(few_i)];
  assign byte_o = (few_i < 2'd3) ? a_i[{few_i, 3'd0} +: 8] : 8'd0;
  assign triple_o = a_i[5'(few_i) + {2'd0, {few_i, 1'b0}} +: 3];
  assign of_sum_full = a_i + a_i;
  assign of_sum_o = of_sum_full[{2'd0, {few_i, 1'b0}} + {1'b0, {few_i, 2'd0}} +: 6];
  assign only_o = (index_i[0] == 1'b0) ? few_i : 2'd0;
endmodule
