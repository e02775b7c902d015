// Says what it does,
// and what it does not:
//
// nothing.
module comments (
    input  logic [7:0] a_i,  // beside
    // a comment that is much too long to stand beside the port that it is about
    output logic [7:0] y_o
);
  // The first part.
  logic [7:0] twice;

  assign twice = a_i + a_i;

  // The second part,
  // which is longer.
  always_comb begin
    // Broken where it is too long.
    if (|a_i) begin
      y_o = twice ^
          (twice & 8'd100) ^
          (twice & 8'd101) ^
          (twice & 8'd102) ^
          (twice & 8'd103) ^
          (twice & 8'd104) ^
          (twice & 8'd105) ^
          (twice & 8'd106) ^
          (twice & 8'd107) ^
          (twice & 8'd108);
    end else begin
      y_o = 8'd0;
    end
  end
endmodule
