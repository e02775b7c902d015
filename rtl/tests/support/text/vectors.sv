module vectors (
    input  logic [7:0]   a_i,
    input  logic         b_i,
    output logic [2:0]   slice_o,
    output logic [1:0]   nested_o,
    output logic         bit_o,
    output logic         only_bit_o,
    output logic [10:0]  concat_o,
    output logic [23:0]  repeat_o,
    output logic [11:0]  zext_o,
    output logic [15:0]  zext_of_not_o,
    output logic [199:0] sext_o,
    output logic [3:0]   sext_of_bit_o,
    output logic [15:0]  sext_of_sum_o,
    output logic [7:0]   gate_o
);
  assign slice_o = a_i[4:2];
  assign nested_o = a_i[4:3];
  assign bit_o = a_i[7];
  assign only_bit_o = b_i;
  assign concat_o = {a_i, b_i, 2'd1};
  assign repeat_o = {3{a_i}};
  assign zext_o = 12'(a_i);
  assign zext_of_not_o = {8'd0, ~a_i};
  assign sext_o = {{192{a_i[7]}}, a_i};
  assign sext_of_bit_o = {4{b_i}};
  assign sext_of_sum_o = $unsigned(16'($signed(a_i + a_i)));
  assign gate_o = {8{b_i}} & a_i;
endmodule
