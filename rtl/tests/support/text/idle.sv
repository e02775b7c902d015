// Has a clock for the sake of its siblings only.
module idle (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [3:0] a_i,
    output logic       y_o
);
  logic unused_a_i;
  logic unused_clk_i;
  logic unused_rst_ni;

  assign unused_a_i = ^a_i[2:0];
  assign y_o = a_i[3];
  assign unused_clk_i = clk_i;
  assign unused_rst_ni = rst_ni;
endmodule
