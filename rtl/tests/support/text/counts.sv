module words_4x8 (
    input  logic       clk_i,
    input  logic       we_i,
    input  logic [2:0] address_i,
    input  logic [3:0] data_i,
    output logic [3:0] data_o
);
  logic [3:0] words [8];

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      words[address_i] <= data_i;
    end
  end

  logic [3:0] word;

  assign word = words[address_i];
  assign data_o = word;
endmodule

module counts (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       add_i,
    input  logic [2:0] index_i,
    output logic [3:0] sum_o
);
  words_4x8 i_words (
      .clk_i(clk_i),
      .we_i(add_i),
      .address_i(index_i),
      .data_i(sum_o + 4'd1),
      .data_o(sum_o)
  );

  logic unused_rst_ni;

  assign unused_rst_ni = rst_ni;
endmodule
