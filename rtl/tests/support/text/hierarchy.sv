module adder (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [7:0] a_i,
    input  logic       b_i,
    output logic [7:0] sum_o,
    output logic       any_o
);
  logic [7:0] sum_d, sum_q;

  assign sum_d = sum_q + ({8{b_i}} & a_i);
  assign sum_o = sum_q;
  assign any_o = b_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sum_q <= 8'd0;
    end else begin
      sum_q <= sum_d;
    end
  end
endmodule

module hierarchy (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic [7:0] a_i,
    output logic [7:0] y_o,
    output logic       odd_o
);
  logic first_any;

  adder i_first (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .a_i(a_i),
      .b_i(a_i[0]),
      .sum_o(y_o),
      .any_o(first_any)
  );

  logic [7:0] second_sum;
  logic second_any;

  adder i_second (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .a_i(a_i - y_o),
      .b_i(first_any),
      .sum_o(second_sum),
      .any_o(second_any)
  );

  logic unused_second_sum;

  assign unused_second_sum = ^second_sum[7:1];
  assign odd_o = second_sum[0] & second_any;
endmodule
