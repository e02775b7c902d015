module literals (
    output logic         bit_o,
    output logic [10:0]  small_o,
    output logic [10:0]  large_o,
    output logic [127:0] wide_o,
    output logic [299:0] zeros_o,
    output logic [299:0] ones_o,
    output logic [3:0]   folded_o,
    output logic [1:0]   named_o
);
  localparam logic [1:0] Idle = 2'd2;

  assign bit_o = 1'b1;
  assign small_o = 11'd1023;
  assign large_o = 11'h400;
  assign wide_o = 128'hfffffffffffffffffffffffffffffffe;
  assign zeros_o = 300'd0;
  assign ones_o = {300{1'b1}};
  assign folded_o = 4'd2;
  assign named_o = Idle;
endmodule
