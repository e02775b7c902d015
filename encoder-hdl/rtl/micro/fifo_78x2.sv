// First-word-fall-through FIFO. Takes nothing while full, even if a word leaves.
module fifo_78x2 (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        valid_i,
    output logic        ready_o,
    input  logic [77:0] data_i,
    output logic        valid_o,
    input  logic        ready_i,
    output logic [77:0] data_o,
    output logic [1:0]  usage_o,  // words within
    output logic        full_o
);
  logic push;
  logic pop;
  logic write_d, write_q;
  logic read_d, read_q;
  logic [1:0] usage_d, usage_q;
  logic [77:0] mem [2];

  assign full_o = usage_q == 2'd2;
  assign ready_o = !full_o;
  assign valid_o = |usage_q;
  assign push = valid_i & ready_o;
  assign pop = valid_o & ready_i;
  assign write_d = write_q + 1'b1;
  assign read_d = read_q + 1'b1;
  assign usage_d = push ? (usage_q + 2'd1) : (usage_q - 2'd1);
  assign usage_o = usage_q;

  always_ff @(posedge clk_i) begin
    if (push) begin
      mem[write_q] <= data_i;
    end
  end

  logic [77:0] word;

  assign word = mem[read_q];
  assign data_o = word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= 1'b0;
      read_q <= 1'b0;
      usage_q <= 2'd0;
    end else begin
      if (push) begin
        write_q <= write_d;
      end
      if (pop) begin
        read_q <= read_d;
      end
      if (push ^ pop) begin
        usage_q <= usage_d;
      end
    end
  end

`ifndef SYNTHESIS
  always @(posedge clk_i) begin
    if (rst_ni) begin
      begin : write_in_range
        assert (1'b1);
      end
      begin : read_in_range
        assert (1'b1);
      end
      begin : usage_in_range
        assert (usage_q <= 2'd2);
      end
      begin : usage_is_distance
        assert (((read_q + usage_q[0]) - (((2'(read_q) + usage_q) >= 2'd2) & 1'b0)) == write_q);
      end
    end
  end
`endif
endmodule
