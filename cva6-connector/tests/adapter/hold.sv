// A core's port to memory with cva6_te_hold in it, with structures as PULP's buses have them.
module held (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        hold_i,
  output logic        core_clk_o,
  input  logic [77:0] core_req_i,
  output logic [31:0] core_resp_o,
  output logic [77:0] bus_req_o,
  input  logic [31:0] bus_resp_i
);
  typedef struct packed {
    logic [3:0]  id;
    logic [15:0] addr;
    logic [5:0]  atop;
  } aw_t;
  typedef struct packed {
    logic [15:0] data;
    logic        last;
  } w_t;
  typedef struct packed {
    logic [3:0] id;
    logic [1:0] resp;
  } b_t;
  typedef struct packed {
    logic [3:0]  id;
    logic [15:0] addr;
    logic [9:0]  user;
  } ar_t;
  typedef struct packed {
    logic [3:0]  id;
    logic [15:0] data;
    logic        last;
  } r_t;
  typedef struct packed {
    aw_t  aw;
    logic aw_valid;
    w_t   w;
    logic w_valid;
    logic b_ready;
    ar_t  ar;
    logic ar_valid;
    logic r_ready;
  } req_t;
  typedef struct packed {
    logic aw_ready;
    logic ar_ready;
    logic w_ready;
    logic b_valid;
    b_t   b;
    logic r_valid;
    r_t   r;
  } resp_t;

  cva6_te_hold #(
    .aw_t   (aw_t),
    .w_t    (w_t),
    .b_t    (b_t),
    .ar_t   (ar_t),
    .r_t    (r_t),
    .req_t  (req_t),
    .resp_t (resp_t)
  ) i_hold (
    .clk_i,
    .rst_ni,
    .hold_i,
    .core_clk_o,
    .core_req_i,
    .core_resp_o,
    .bus_req_o,
    .bus_resp_i
  );
endmodule
