module registers (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       load_i,
    input  logic [7:0] value_i,
    output logic [7:0] count_o,
    output logic [7:0] held_o,
    output logic [7:0] data_o
);
  logic [7:0] count_d, count_q;
  logic [7:0] held_d, held_q;
  logic [7:0] data_d, data_q;

  always_comb begin
    count_d = count_q;
    if (load_i) begin
      count_d = value_i;
    end
  end

  assign held_d = value_i;
  assign data_d = ~value_i;
  assign count_o = count_q;
  assign held_o = held_q;
  assign data_o = data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 8'd3;
      held_q <= 8'd0;
    end else begin
      count_q <= count_d;
      if (load_i) begin
        held_q <= held_d;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i & value_i[0]) begin
      data_q <= data_d;
    end
  end
endmodule
