module properties (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       up_i,
    output logic [3:0] count_o
);
  logic [3:0] count_d, count_q;

  always_comb begin
    count_d = count_q;
    if (up_i & (count_q != 4'd9)) begin
      count_d = count_q + 4'd1;
    end
  end

  assign count_o = count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 4'd0;
    end else begin
      count_q <= count_d;
    end
  end

`ifndef SYNTHESIS
  always @(posedge clk_i) begin
    if (rst_ni) begin
      begin : count_is_a_digit
        assert (count_q <= 4'd9);
      end
      begin : up_if_zero
        assume (up_i | (|count_q));
      end
`ifdef FORMAL
      begin : count_is_full
        cover (count_q == 4'd9);
      end
`endif
    end
  end
`endif

`ifndef SYNTHESIS
`ifndef FORMAL
  logic count_stays_waits_q;
  logic [4:0] count_stays_before_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_stays_waits_q <= 1'b0;
    end else begin
      count_stays_waits_q <= !up_i;
    end
  end
  always @(posedge clk_i) begin
    count_stays_before_q <= {count_q, up_i};
    if (rst_ni & count_stays_waits_q) begin : count_stays
      assert (count_stays_before_q === ({count_q, up_i}));
    end
  end
`endif
`endif
endmodule
