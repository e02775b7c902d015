module statements (
    input  logic [1:0] sel_i,
    input  logic [7:0] a_i,
    output logic [7:0] x_o,
    output logic [7:0] y_o,
    output logic [1:0] z_o
);
  localparam logic [1:0] Last = 2'd3;

  always_comb begin
    // Complete, so that no path leaves a bit as it was.
    if (sel_i == 2'd0) begin
      x_o = a_i;
    end else if (sel_i == 2'd1) begin
      x_o = ~a_i;
    end else begin
      x_o = 8'd0;
    end
    y_o = x_o;
    case (sel_i)
      2'd0: begin
        y_o[3:0] = a_i[7:4];
      end
      2'd1, Last: begin
        y_o[5:4] = a_i[1:0];
      end
      default: begin
        y_o[a_i[2:0]] = 1'b1;
      end
    endcase
  end

  always_comb begin
    z_o = 2'd1;
    case (sel_i)
      Last: begin
        z_o = 2'd2;
      end
      default: ;
    endcase
  end
endmodule
