module memories (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        write_i,
    input  logic [11:0] data_i,
    input  logic [2:0]  from_i,
    input  logic [2:0]  to_i,
    output logic [11:0] now_o,
    output logic [11:0] then_o
);
  logic [11:0] fast [6];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      fast[to_i] <= data_i;
    end
  end

  logic [11:0] now;
  logic [11:0] slow [8];

  assign now = fast[from_i];

  always_ff @(posedge clk_i) begin
    if (!write_i) begin
      slow[to_i] <= data_i;
    end
  end

  logic [11:0] then_q;

  always_ff @(posedge clk_i) begin
    if (write_i ? 1'b1 : from_i[0]) begin
      then_q <= slow[from_i];
    end
  end

  logic unused_rst_ni;

  assign now_o = now;
  assign then_o = then_q;
  assign unused_rst_ni = rst_ni;
endmodule
