module arithmetic (
    input  logic [7:0] a_i,
    input  logic [7:0] b_i,
    input  logic [7:0] c_i,
    input  logic [3:0] by_i,
    output logic [7:0] sum_o,
    output logic [7:0] difference_o,
    output logic [7:0] nested_o,
    output logic [7:0] mixed_o,
    output logic [7:0] negated_o,
    output logic [7:0] left_o,
    output logic [7:0] right_o,
    output logic [7:0] arithmetic_o,
    output logic [7:0] all_out_o
);
  assign sum_o = a_i + b_i + c_i;
  assign difference_o = (a_i - b_i) - c_i;
  assign nested_o = a_i - (b_i - c_i);
  assign mixed_o = (a_i & b_i) | (a_i ^ ~c_i);
  assign negated_o = -(a_i + b_i);
  assign left_o = a_i << by_i;
  assign right_o = (a_i + b_i) >> 3;
  assign arithmetic_o = $unsigned($signed(a_i) >>> by_i) + b_i;
  assign all_out_o = 8'd0;
endmodule
