module comparison (
    input  logic [7:0] a_i,
    input  logic [7:0] b_i,
    output logic       precedence_o,
    output logic       wraps_o,
    output logic       order_o,
    output logic       signed_o,
    output logic       always_o,
    output logic       reduced_o,
    output logic       chosen_o
);
  assign precedence_o = (a_i & b_i) == 8'd2;
  assign wraps_o = (a_i + 8'd1) != b_i;
  assign order_o = ((a_i < b_i) & (a_i <= b_i)) | ((a_i > b_i) ^ (a_i >= b_i));
  assign signed_o = $signed(a_i) < $signed(b_i);
  assign always_o = 1'b1;
  assign reduced_o = (|a_i) & !(&b_i) & (^(a_i ^ b_i));
  assign chosen_o = (a_i == 8'd3) ? b_i[0] : (a_i[7] ? b_i[1] : b_i[7]);
endmodule
