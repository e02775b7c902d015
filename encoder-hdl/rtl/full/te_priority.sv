// Decides which packets are sent, in the order of the flow chart of E-Trace 2.0, chapter 9.
module te_priority (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         valid_i,  // there is a group
    output logic         ready_o,  // all its steps have been taken
    input  logic [1:0]   retires_i,  // instructions retired on the lane
    input  logic [1:0]   two_i,  // more than one: first and last are two steps
    input  logic [1:0]   qualified_i,  // the lane is traced
    input  logic [125:0] first_i,  // address of its first instruction
    input  logic [125:0] last_i,  // address of its last instruction; of the one that traps alone
    input  logic [1:0]   taken_i,  // the last instruction is a branch, taken
    input  logic [1:0]   not_taken_i,  // the last instruction is a branch, not taken
    input  logic [1:0]   uninferable_i,  // it is an uninferable discontinuity
    input  logic [1:0]   wide_i,  // it has 4 bytes
    input  logic [1:0]   call_i,  // it is a call
    input  logic [1:0]   ret_i,  // it is a return
    input  logic [1:0]   sijump_i,  // it is a sequentially inferable jump
    input  logic [1:0]   notify_i,  // it is to be reported
    input  logic [9:0]   half_words_i,  // retired
    input  logic [7:0]   cycles_i,  // since the group before
    input  logic         trap_i,  // a trap follows the lanes
    input  logic [1:0]   trap_alone_i,  // the lane of a trap before which nothing retired
    input  logic         trap_qualified_i,  // the trap is traced
    input  logic         interrupt_i,  // it is an interrupt
    input  logic [4:0]   cause_i,
    input  logic [63:0]  tval_i,
    input  logic [1:0]   privilege_i,
    input  logic         privilege_changes_i,  // against the group before
    input  logic [1:0]   mark_i,  // 1 break, 2 stop, 3 start, behind all others
    input  logic         lost_i,  // input was lost here
    input  logic         implicit_return_i,  // the mode is on
    input  logic         sequential_jump_i,  // the mode is on
    input  logic         branch_prediction_i,  // the mode is on
    input  logic         jump_target_cache_i,  // the mode is on
    input  logic [1:0]   resync_mode_i,  // 0 never, 1 packets, 2 cycles, 3 half-words
    input  logic [3:0]   resync_max_i,
    output logic         valid_o,  // there is a request
    input  logic         ready_i,  // it is taken
    output logic         start_o,  // format 3.0
    output logic         trap_o,  // format 3.1
    output logic         report_o,  // an address: format 0, 1 or 2
    output logic         map_only_o,  // branches without an address: format 0.0 or 1
    output logic         support_o,  // format 3.3
    output logic [62:0]  address_o,
    output logic         branch_o,  // it is no branch that was taken
    output logic [1:0]   privilege_o,
    output logic [4:0]   ecause_o,
    output logic         interrupt_o,
    output logic         thaddr_o,
    output logic [63:0]  tval_o,
    output logic [4:0]   branches_o,  // in the map
    output logic [30:0]  branch_map_o,
    output logic         counting_o,  // branches are reported as a count
    output logic [31:0]  branch_count_o,
    output logic         mispredicted_o,  // the address is a branch that is not counted
    output logic         notify_o,
    output logic         updiscon_o,
    output logic         target_o,  // of an uninferable discontinuity
    output logic         irreport_o,
    output logic [4:0]   irdepth_o,
    output logic         ienable_o,
    output logic [1:0]   qual_status_o,
    input  logic         settled_i,  // no target is on its way
    input  logic         indexed_i  // the last target was sent as an index
);
  logic sequence_busy;

  // The pending step.
  logic load;
  logic load_trap;
  logic pending_valid_d, pending_valid_q;
  logic pending_qualified_d, pending_qualified_q;
  logic pending_wide_d, pending_wide_q;
  logic [62:0] pending_address_d, pending_address_q;
  logic [62:0] pending_behind;
  logic traced;
  logic [7:0] pending_units_d, pending_units_q;
  logic pending_trap_d, pending_trap_q;
  logic pending_interrupt_d, pending_interrupt_q;
  logic pending_taken_d, pending_taken_q;
  logic pending_not_taken_d, pending_not_taken_q;
  logic pending_uninferable_d, pending_uninferable_q;
  logic pending_call_d, pending_call_q;
  logic pending_ret_d, pending_ret_q;
  logic pending_sijump_d, pending_sijump_q;
  logic pending_notify_d, pending_notify_q;
  logic pending_at_first_0_d, pending_at_first_0_q;
  logic pending_at_first_1_d, pending_at_first_1_q;
  logic [1:0] pending_privilege_d, pending_privilege_q;
  logic pending_changes_d, pending_changes_q;
  logic [4:0] pending_cause_d, pending_cause_q;
  logic [63:0] pending_tval_d, pending_tval_q;

  assign pending_behind = pending_address_q + {61'd0, pending_wide_q ? 2'd2 : 2'd1};
  assign traced = pending_valid_q & pending_qualified_q;

  // The step before it.
  logic pass_trap;
  logic previous_mismatch_d, previous_mismatch_q;
  logic [4:0] previous_depth_d, previous_depth_q;
  logic previous_valid_d, previous_valid_q;
  logic previous_trap_d, previous_trap_q;
  logic previous_reported_d, previous_reported_q;
  logic previous_updiscon_d, previous_updiscon_q;
  logic [4:0] previous_cause_d, previous_cause_q;
  logic previous_interrupt_d, previous_interrupt_q;
  logic [63:0] previous_tval_d, previous_tval_q;

  // The steps of the group that have not been taken.
  logic [1:0] done_first_d, done_first_q;
  logic [1:0] done_last_d, done_last_q;
  logic done_trap_d, done_trap_q;
  logic begun_d, begun_q;
  logic has_first_0;
  logic has_first_1;
  logic has_last_0;
  logic has_last_1;
  logic has_trap;
  logic has_mark;
  logic fresh;
  logic now_privilege;
  logic now_changes;
  logic now_drifts;

  assign has_first_0 = valid_i & retires_i[0] & two_i[0] & !done_first_q[0];
  assign has_first_1 = valid_i & retires_i[1] & two_i[1] & !done_first_q[1];
  assign has_last_0 = valid_i & retires_i[0] & !done_last_q[0];
  assign has_last_1 = valid_i & retires_i[1] & !done_last_q[1];
  assign has_trap = valid_i & trap_i & !done_trap_q;
  assign has_mark = valid_i & (|mark_i);
  assign fresh = valid_i & !begun_q;
  assign now_privilege = fresh & privilege_changes_i;
  assign now_changes = now_privilege | (fresh & 1'b0);
  assign now_drifts = fresh & 1'b0;

  // What is counted and remembered.
  logic [1:0] branches_there;
  logic [1:0] push;
  logic [1:0] not_taken;
  logic [1:0] cut;
  logic flush;
  logic predicted;
  logic [30:0] branch_map_map;
  logic [4:0] branch_map_branches;
  logic branch_map_some;
  logic [1:0] branch_map_full;
  logic branch_map_counting;
  logic [31:0] branch_map_count;
  logic branch_map_exhausted;

  te_branch_map i_branch_map (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .branch_i(branches_there),
      .push_i(push),
      .not_taken_i(not_taken),
      .cut_i(cut),
      .flush_i(flush),
      .map_o(branch_map_map),
      .branches_o(branch_map_branches),
      .some_o(branch_map_some),
      .full_o(branch_map_full),
      .predicting_i(branch_prediction_i),
      .predicted_i(predicted),
      .counting_o(branch_map_counting),
      .count_o(branch_map_count),
      .exhausted_o(branch_map_exhausted)
  );

  logic forget;
  logic train;
  logic branch_predictor_taken;

  te_branch_predictor i_branch_predictor (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .address_i(pending_address_q),
      .update_i(train),
      .taken_i(pending_taken_q),
      .clear_i(forget),
      .taken_o(branch_predictor_taken)
  );

  logic calls;
  logic returns;
  logic [62:0] link;
  logic [62:0] return_target;
  logic [4:0] return_stack_depth;
  logic return_stack_predicts;

  te_return_stack i_return_stack (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .clear_i(forget),
      .call_i(calls),
      .ret_i(returns),
      .depth_o(return_stack_depth),
      .predicts_o(return_stack_predicts),
      .link_i(link),
      .target_i(return_target)
  );

  logic mark_clear;
  logic mark_push;
  logic mark_second;
  logic return_marks_some;
  logic return_marks_full;
  logic [62:0] return_marks_address;
  logic [4:0] return_marks_depth;

  te_return_marks i_return_marks (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .clear_i(mark_clear),
      .push_i(mark_push),
      .address_i(pending_address_q),
      .depth_i(return_stack_depth),
      .second_i(mark_second),
      .some_o(return_marks_some),
      .full_o(return_marks_full),
      .address_o(return_marks_address),
      .depth_o(return_marks_depth)
  );

  logic popped_d, popped_q;
  logic packet_sent;
  logic synced_sent;
  logic [7:0] step_units;
  logic step_taken;
  logic [9:0] more_units;
  logic resync_counter_due;
  logic resync_counter_near;

  assign predicted = branch_predictor_taken == pending_taken_q;

  te_resync_counter i_resync_counter (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .mode_i(resync_mode_i),
      .max_i(resync_max_i),
      .packet_i(packet_sent),
      .synced_i(synced_sent),
      .due_o(resync_counter_due),
      .near_o(resync_counter_near),
      .step_i(step_units),
      .take_i(step_taken),
      .more_i(more_units)
  );

  // The step behind the pending one.
  logic next_lane;
  logic next_trap;
  logic next_mark;
  logic next_exists;
  logic next_qualified;

  assign next_lane = !(1'b1 & !has_last_0 & !has_last_1);
  assign next_trap = !next_lane & has_trap;
  assign next_mark = !next_lane & !has_trap & has_mark;
  assign next_exists = next_lane | has_trap | has_mark;
  assign next_qualified = (1'b1 & has_last_0 & qualified_i[0]) |
      (1'b1 & !has_last_0 & has_last_1 & qualified_i[1]) |
      (next_trap & trap_qualified_i);

  // The chart. A resynchronisation first has what is pending reported, then it is due.
  logic sync_due_d, sync_due_q;
  logic flush_held_d, flush_held_q;
  logic open_target_d, open_target_q;
  logic was_due_d, was_due_q;
  logic flush_due;
  logic resync;
  logic calm;
  logic is_branch;
  logic sequential;
  logic return_predicted;
  logic returning;
  logic bad_return;
  logic torn;
  logic restart;
  logic next_shown;
  logic change_next;
  logic sends_start;
  logic reports_none_yet;
  logic sends_target;
  logic flushable;
  logic reasons;
  logic sends_plain;
  logic sends_map;
  logic sends_own_trap;
  logic sends_trap_before;
  logic sends_handler;
  logic synced;
  logic sends;

  assign flush_due = traced & (sequence_busy ? flush_held_q : (!sync_due_q & resync_counter_due));
  assign resync = flush_due | sync_due_q;
  assign calm = !resync_counter_near & !resync;
  assign is_branch = pending_taken_q | pending_not_taken_q;
  assign sequential = sequential_jump_i & pending_sijump_q & previous_valid_q & !previous_trap_q;
  assign return_predicted = next_qualified & return_stack_predicts;
  assign returning = implicit_return_i & pending_ret_q;
  assign bad_return = returning &
      !sequential &
      (|return_stack_depth) &
      next_qualified &
      !return_predicted;
  assign torn = next_qualified & !next_trap & (fresh & 1'b0);
  assign restart = torn | (bad_return & (next_qualified & !next_trap) & now_changes);
  assign next_shown = next_qualified & !restart;
  assign change_next = next_shown & now_changes;
  assign sends_start = traced &
      (!pending_trap_q &
          (!previous_valid_q |
              (previous_valid_q & previous_trap_q & previous_reported_q) |
              (previous_valid_q &
                  !previous_trap_q &
                  (pending_changes_q | (sync_due_q & !previous_mismatch_q)))));
  assign reports_none_yet = traced &
      (previous_valid_q & !previous_trap_q) &
      !pending_trap_q &
      !sends_start;
  assign sends_target = reports_none_yet & previous_updiscon_q;
  assign flushable = branch_map_some |
      is_branch |
      popped_q |
      return_marks_some |
      (open_target_q & !(jump_target_cache_i & indexed_i)) |
      (pending_uninferable_q & next_shown & !now_privilege);
  assign reasons = (flush_due & !bad_return & flushable) |
      (next_shown & next_trap) |
      (change_next & flushable) |
      !next_shown;
  assign sends_plain = reports_none_yet &
      !previous_updiscon_q &
      (reasons | pending_notify_q | (traced & branch_map_exhausted));
  assign sends_map = reports_none_yet & !previous_updiscon_q & !sends_plain & branch_map_full[0];
  assign sends_own_trap = traced &
      ((!previous_valid_q & pending_trap_q) |
          (previous_valid_q & previous_trap_q & pending_trap_q & previous_reported_q) |
          (previous_valid_q &
              !previous_trap_q &
              pending_trap_q &
              (previous_updiscon_q | !next_shown)));
  assign sends_trap_before = traced &
      (previous_valid_q & previous_trap_q & pending_trap_q & !previous_reported_q);
  assign sends_handler = traced &
      (previous_valid_q & previous_trap_q & !pending_trap_q & !previous_reported_q);
  assign synced = sends_start | sends_own_trap | sends_trap_before | sends_handler;
  assign sends = synced | sends_target | sends_plain | sends_map;

  // What the step does to what follows.
  logic inferred;
  logic on_stack;
  logic mismatch;
  logic pops;
  logic calling;
  logic marks_call;
  logic leaves_updiscon;
  logic restarts;

  assign inferred = sequential & !synced;
  assign on_stack = (|return_stack_depth) & !synced;
  assign mismatch = traced & returning & on_stack & !(inferred | return_predicted);
  assign pops = traced & returning & on_stack & (inferred | return_predicted);
  assign calling = traced & implicit_return_i & pending_call_q;
  assign marks_call = calling & popped_q & !sends;
  assign leaves_updiscon = traced & ((pending_uninferable_q & !inferred & !pops) | mismatch);
  assign restarts = traced & (torn | (restart & mismatch));

  // How much work it is.
  logic skip;
  logic simple;
  logic quiet;
  logic easy;
  logic hard;

  assign skip = !traced & !(next_mark & (mark_i == 2'd2)) & !(next_mark & (mark_i == 2'd3));
  assign simple = traced &
      (previous_valid_q & !previous_trap_q) &
      !pending_trap_q &
      !pending_changes_q &
      next_qualified &
      !next_trap &
      !now_changes &
      !pending_notify_q &
      1'b1 &
      !(implicit_return_i & (pending_call_q | pending_ret_q)) &
      !(branch_prediction_i & is_branch) &
      !(traced & branch_map_exhausted) &
      calm &
      !previous_mismatch_q &
      !sequence_busy;
  assign quiet = simple & !(previous_updiscon_q | branch_map_full[0]);
  assign easy = simple & (previous_updiscon_q | branch_map_full[0]);
  assign hard = !skip & !simple;

  // The packets of a hard step, one a cycle.
  logic [8:0] sent_d, sent_q;
  logic lost_d, lost_q;
  logic [8:0] left;
  logic turn_lost;
  logic turn_mark_first;
  logic turn_mark_second;
  logic turn_main;
  logic turn_trap_end;
  logic turn_context;
  logic turn_late_first;
  logic turn_late_second;
  logic turn_support;
  logic active;
  logic sequence_emits;
  logic last;
  logic marking;
  logic commits;
  logic take;

  assign left = {
          restarts |
          (traced & !next_qualified) |
          (next_mark & (mark_i == 2'd2)) |
          (next_mark & (mark_i == 2'd3)),
          marks_call & return_marks_full & return_marks_full,
          marks_call & return_marks_full & return_marks_some,
          traced & previous_valid_q & 1'b0 & !synced,
          traced &
          (previous_valid_q & previous_trap_q & pending_trap_q & !previous_reported_q & !next_shown),
          sends,
          (sends_plain | (sends_target & previous_mismatch_q)) & return_marks_full,
          (sends_plain | (sends_target & previous_mismatch_q)) & return_marks_some,
          lost_q &
          (1'b0 |
              ((sends_plain | (sends_target & previous_mismatch_q)) & return_marks_some) |
              ((sends_plain | (sends_target & previous_mismatch_q)) & return_marks_full) |
              sends |
              (traced &
                  (previous_valid_q &
                      previous_trap_q &
                      pending_trap_q &
                      !previous_reported_q &
                      !next_shown)) |
              (traced & previous_valid_q & 1'b0 & !synced) |
              (marks_call & return_marks_full & return_marks_some) |
              (marks_call & return_marks_full & return_marks_full) |
              (restarts |
                  (traced & !next_qualified) |
                  (next_mark & (mark_i == 2'd2)) |
                  (next_mark & (mark_i == 2'd3))))
      } &
      ~sent_q;
  assign turn_lost = 1'b1 & left[0];
  assign turn_mark_first = 1'b1 & !left[0] & left[1];
  assign turn_mark_second = 1'b1 & !left[0] & !left[1] & left[2];
  assign turn_main = 1'b1 & !left[0] & !left[1] & !left[2] & left[3];
  assign turn_trap_end = 1'b1 & !left[0] & !left[1] & !left[2] & !left[3] & left[4];
  assign turn_context = 1'b1 & !left[0] & !left[1] & !left[2] & !left[3] & !left[4] & left[5];
  assign turn_late_first = 1'b1 &
      !left[0] &
      !left[1] &
      !left[2] &
      !left[3] &
      !left[4] &
      !left[5] &
      left[6];
  assign turn_late_second = 1'b1 &
      !left[0] &
      !left[1] &
      !left[2] &
      !left[3] &
      !left[4] &
      !left[5] &
      !left[6] &
      left[7];
  assign turn_support = 1'b1 &
      !left[0] &
      !left[1] &
      !left[2] &
      !left[3] &
      !left[4] &
      !left[5] &
      !left[6] &
      !left[7] &
      left[8];
  assign active = next_exists & hard & !(open_target_q & !settled_i & (flush_due | change_next));
  assign sequence_emits = active & (|left);
  assign last = active &
      !(1'b0 |
          (turn_lost & (|left[8:1])) |
          (turn_mark_first & (|left[8:2])) |
          (turn_mark_second & (|left[8:3])) |
          (turn_main & (|left[8:4])) |
          (turn_trap_end & (|left[8:5])) |
          (turn_context & (|left[8:6])) |
          (turn_late_first & (|left[8:7])) |
          (turn_late_second & left[8])) &
      (ready_i | !(|left));
  assign marking = turn_mark_first | turn_mark_second | turn_late_first | turn_late_second;
  assign commits = hard & last;
  assign take = next_exists & (skip | quiet | (easy & ready_i) | (hard & last));

  // Steps that are taken in the same cycle.
  logic goes_on;
  logic comes_first_0;
  logic passes_first_0;
  logic wants_first_0;
  logic comes_last_0;
  logic fires_0;
  logic passes_last_0;
  logic wants_last_0;
  logic behind_packet_0;
  logic updiscon_0;
  logic comes_first_1;
  logic passes_first_1;
  logic wants_first_1;
  logic comes_last_1;
  logic lane_wants;
  logic takes_trap;

  assign goes_on = !hard & calm & !now_changes & !now_drifts;
  assign comes_first_0 = has_first_0 & take;
  assign passes_first_0 = comes_first_0 &
      (goes_on & traced & qualified_i[0]) &
      (!leaves_updiscon | (!easy & ready_i));
  assign wants_first_0 = comes_first_0 &
      (goes_on & traced & qualified_i[0]) &
      leaves_updiscon &
      !easy;
  assign comes_last_0 = has_last_0 & (has_first_0 ? passes_first_0 : take);
  assign fires_0 = (leaves_updiscon & !has_first_0) |
      (branch_map_full[1] &
          !(easy | (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy)));
  assign passes_last_0 = comes_last_0 &
      ((!qualified_i[0] & (!(1'b1 & !has_last_1) | has_trap) & !hard) |
          (goes_on &
              (has_first_0 ? qualified_i[0] : traced) &
              qualified_i[0] &
              !(notify_i[0] |
                  (implicit_return_i & (call_i[0] | ret_i[0])) |
                  (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
              (1'b1 & has_last_1 & qualified_i[1]) &
              (!fires_0 |
                  (!(easy |
                          (comes_first_0 &
                              (goes_on & traced & qualified_i[0]) &
                              leaves_updiscon &
                              !easy)) &
                      ready_i))));
  assign wants_last_0 = comes_last_0 &
      (goes_on &
          (has_first_0 ? qualified_i[0] : traced) &
          qualified_i[0] &
          !(notify_i[0] |
              (implicit_return_i & (call_i[0] | ret_i[0])) |
              (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
          (1'b1 & has_last_1 & qualified_i[1])) &
      fires_0 &
      !(easy | (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy));
  assign behind_packet_0 = easy |
      (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy);
  assign updiscon_0 = has_last_0 ?
      (uninferable_i[0] &
          !(sequential_jump_i & sijump_i[0] & (has_first_0 ? qualified_i[0] : traced))) :
      (leaves_updiscon & !has_first_0);
  assign comes_first_1 = has_first_1 &
      (has_last_0 ? passes_last_0 : (has_first_0 ? passes_first_0 : take));
  assign passes_first_1 = comes_first_1 &
      (goes_on &
          (has_last_0 ? qualified_i[0] : (has_first_0 ? qualified_i[0] : traced)) &
          qualified_i[1]) &
      (!updiscon_0 |
          (!(easy |
                  (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy) |
                  (comes_last_0 &
                      (goes_on &
                          (has_first_0 ? qualified_i[0] : traced) &
                          qualified_i[0] &
                          !(notify_i[0] |
                              (implicit_return_i & (call_i[0] | ret_i[0])) |
                              (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
                          (1'b1 & has_last_1 & qualified_i[1])) &
                      fires_0 &
                      !(easy |
                          (comes_first_0 &
                              (goes_on & traced & qualified_i[0]) &
                              leaves_updiscon &
                              !easy)))) &
              ready_i));
  assign wants_first_1 = comes_first_1 &
      (goes_on &
          (has_last_0 ? qualified_i[0] : (has_first_0 ? qualified_i[0] : traced)) &
          qualified_i[1]) &
      updiscon_0 &
      !(easy |
          (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy) |
          (comes_last_0 &
              (goes_on &
                  (has_first_0 ? qualified_i[0] : traced) &
                  qualified_i[0] &
                  !(notify_i[0] |
                      (implicit_return_i & (call_i[0] | ret_i[0])) |
                      (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
                  (1'b1 & has_last_1 & qualified_i[1])) &
              fires_0 &
              !(easy |
                  (comes_first_0 & (goes_on & traced & qualified_i[0]) & leaves_updiscon & !easy))));
  assign comes_last_1 = has_last_1 &
      (has_first_1 ?
          passes_first_1 :
          (has_last_0 ? passes_last_0 : (has_first_0 ? passes_first_0 : take)));
  assign lane_wants = wants_first_0 | wants_first_1 | wants_last_0;
  assign takes_trap = has_trap &
      ((has_first_1 ?
              passes_first_1 :
              (has_last_0 ? passes_last_0 : (has_first_0 ? passes_first_0 : take))) &
          !has_last_1);

  // The request.
  logic easy_now;
  logic accepted;
  logic hard_now;
  logic report;
  logic map_only;
  logic start;
  logic trap;
  logic address_from_0;
  logic address_from_1;
  logic target;

  assign easy_now = next_exists & easy;
  assign valid_o = easy_now | lane_wants | sequence_emits;
  assign accepted = valid_o & ready_i;
  assign hard_now = sequence_emits;
  assign report = hard_now ?
      (marking | (turn_main & (sends_target | sends_plain))) :
      ((easy & previous_updiscon_q) |
          (wants_first_0 |
              wants_first_1 |
              (comes_last_0 &
                  (goes_on &
                      (has_first_0 ? qualified_i[0] : traced) &
                      qualified_i[0] &
                      !(notify_i[0] |
                          (implicit_return_i & (call_i[0] | ret_i[0])) |
                          (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
                      (1'b1 & has_last_1 & qualified_i[1])) &
                  fires_0 &
                  !(easy |
                      (comes_first_0 &
                          (goes_on & traced & qualified_i[0]) &
                          leaves_updiscon &
                          !easy)) &
                  (leaves_updiscon & !has_first_0))));
  assign map_only = hard_now ?
      (turn_main & sends_map) :
      !((easy & previous_updiscon_q) |
          (wants_first_0 |
              wants_first_1 |
              (comes_last_0 &
                  (goes_on &
                      (has_first_0 ? qualified_i[0] : traced) &
                      qualified_i[0] &
                      !(notify_i[0] |
                          (implicit_return_i & (call_i[0] | ret_i[0])) |
                          (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
                      (1'b1 & has_last_1 & qualified_i[1])) &
                  fires_0 &
                  !(easy |
                      (comes_first_0 &
                          (goes_on & traced & qualified_i[0]) &
                          leaves_updiscon &
                          !easy)) &
                  (leaves_updiscon & !has_first_0))));
  assign start = hard_now & (turn_main & sends_start);
  assign trap = hard_now &
      (turn_trap_end | (turn_main & (sends_own_trap | sends_trap_before | sends_handler)));
  assign report_o = report;
  assign map_only_o = map_only;
  assign start_o = start;
  assign trap_o = trap;
  assign support_o = hard_now & (turn_support | turn_lost);
  assign address_from_0 = wants_first_0 |
      (!lane_wants & !(hard_now & marking) & pending_at_first_0_q) |
      wants_last_0;
  assign address_from_1 = wants_first_1 |
      (!lane_wants & !(hard_now & marking) & pending_at_first_1_q) |
      wants_last_0;
  assign address_o = address_from_1 ?
      (address_from_0 ? last_i[62:0] : first_i[125:63]) :
      (address_from_0 ? first_i[62:0] : (marking ? return_marks_address : pending_address_q));
  assign branch_o = !pending_taken_q;
  assign privilege_o = pending_privilege_q;
  assign ecause_o = (turn_main & (sends_trap_before | sends_handler)) ?
      previous_cause_q :
      pending_cause_q;
  assign interrupt_o = (turn_main & (sends_trap_before | sends_handler)) ?
      previous_interrupt_q :
      pending_interrupt_q;
  assign tval_o = (turn_main & (sends_trap_before | sends_handler)) ?
      previous_tval_q :
      pending_tval_q;
  assign thaddr_o = turn_main & sends_handler;
  assign branches_o = branch_map_branches;
  assign branch_map_o = branch_map_map;
  assign counting_o = branch_map_counting;
  assign branch_count_o = branch_map_count;
  assign mispredicted_o = turn_main & (pending_taken_q | pending_not_taken_q) & !predicted;
  assign notify_o = hard_now &
      (marking |
          (turn_main &
              sends_plain &
              (pending_notify_q | (traced & branch_map_exhausted & !reasons))));
  assign updiscon_o = hard_now &
      (turn_main & sends_target & ((next_shown & next_trap) | change_next | resync));
  assign target = hard_now ?
      (turn_main & sends_target) :
      ((easy & previous_updiscon_q) |
          (wants_first_0 |
              wants_first_1 |
              (comes_last_0 &
                  (goes_on &
                      (has_first_0 ? qualified_i[0] : traced) &
                      qualified_i[0] &
                      !(notify_i[0] |
                          (implicit_return_i & (call_i[0] | ret_i[0])) |
                          (branch_prediction_i & (taken_i[0] | not_taken_i[0]))) &
                      (1'b1 & has_last_1 & qualified_i[1])) &
                  fires_0 &
                  !(easy |
                      (comes_first_0 &
                          (goes_on & traced & qualified_i[0]) &
                          leaves_updiscon &
                          !easy)) &
                  (leaves_updiscon & !has_first_0))));
  assign target_o = target;
  assign irreport_o = hard_now &
      (marking | (turn_main & ((sends_target & previous_mismatch_q) | (sends_plain & popped_q))));
  assign irdepth_o = marking ?
      return_marks_depth :
      (sends_target ? previous_depth_q : return_stack_depth);
  assign ienable_o = turn_lost | !(next_mark & (mark_i == 2'd2));
  assign qual_status_o = turn_lost ? 2'd2 : ({2{traced}} & (was_due_q ? 2'd3 : 2'd1));

  // What has been done with.
  logic reports;
  logic flush_now;
  logic main_now;
  logic forget_returns;

  assign reports = report | map_only | start | trap;
  assign flush_now = accepted & reports;
  assign main_now = turn_main & accepted;
  assign branches_there = {
          has_last_0 & qualified_i[0] & (taken_i[0] | not_taken_i[0]),
          traced & (pending_taken_q | pending_not_taken_q)
      };
  assign push = {
          passes_last_0 & qualified_i[0] & (taken_i[0] | not_taken_i[0]),
          traced &
          ((take & !hard) | main_now | (commits & !sends & !sent_q[3])) &
          (pending_taken_q | pending_not_taken_q)
      };
  assign not_taken = {not_taken_i[0], pending_not_taken_q};
  assign cut = {behind_packet_0, 1'b0};
  assign flush = flush_now;
  assign packet_sent = accepted;
  assign synced_sent = start | trap;
  assign step_units = pending_units_q;
  assign step_taken = traced & ((take & !hard) | (active & !(|sent_q) & (ready_i | !(|left))));
  assign more_units = 10'd0 +
      ({10{(resync_mode_i == 2'd2) & ((passes_first_0 | passes_last_0) & !begun_q)}} &
          10'(cycles_i)) +
      ({10{(resync_mode_i == 2'd3) & passes_last_0}} & 10'(half_words_i[4:0]));
  assign forget = commits & synced;
  assign train = commits & traced & (pending_taken_q | pending_not_taken_q);
  assign calls = commits & calling;
  assign returns = commits & (traced & returning);
  assign link = pending_behind;
  assign return_target = 63'd0 |
      ({63{(1'b1 & has_last_0) | (next_trap & trap_alone_i[0])}} & first_i[62:0]) |
      ({63{(1'b1 & !has_last_0 & has_last_1) | (next_trap & trap_alone_i[1])}} & first_i[125:63]);
  assign forget_returns = (flush_now & !marking) |
      ((traced &
              ((take & !hard) | main_now | (commits & !sends & !sent_q[3])) &
              (pending_taken_q | pending_not_taken_q)) |
          (passes_last_0 & qualified_i[0] & (taken_i[0] | not_taken_i[0]))) |
      (commits &
          ((traced & !next_qualified) |
              (next_mark & (mark_i == 2'd2)) |
              (next_mark & (mark_i == 2'd3)) |
              restarts |
              (marks_call & return_marks_full)));
  assign mark_clear = forget_returns;
  assign mark_push = commits & marks_call;
  assign mark_second = turn_mark_second | turn_late_second;

  always_comb begin
    popped_d = popped_q;
    if (forget_returns) begin
      popped_d = 1'b0;
    end
    if (commits & marks_call) begin
      popped_d = 1'b0;
    end
    if (commits & pops) begin
      popped_d = 1'b1;
    end
  end

  assign flush_held_d = flush_due;

  always_comb begin
    sync_due_d = sync_due_q;
    open_target_d = open_target_q;
    was_due_d = was_due_q;
    if (flush_now) begin
      open_target_d = target &
          !(hard_now &
              (turn_main & sends_target & ((next_shown & next_trap) | change_next | resync)));
      was_due_d = target;
    end
    if (commits) begin
      sync_due_d = (sync_due_q | flush_due) & !synced;
      if ((traced & !next_qualified) |
          (next_mark & (mark_i == 2'd2)) |
          (next_mark & (mark_i == 2'd3)) |
          restarts) begin
        open_target_d = 1'b0;
        was_due_d = 1'b0;
        sync_due_d = 1'b0;
      end
    end
  end

  assign sequence_busy = |sent_q;

  always_comb begin
    sent_d = sent_q;
    lost_d = lost_q;
    if (commits) begin
      sent_d = 9'd0;
    end else if (sequence_emits & accepted) begin
      sent_d = sent_q |
          {
              turn_support,
              turn_late_second,
              turn_late_first,
              turn_context,
              turn_trap_end,
              turn_main,
              turn_mark_second,
              turn_mark_first,
              turn_lost
          };
    end
    if (sequence_emits & accepted & turn_lost) begin
      lost_d = 1'b0;
    end
    if (lost_i & next_mark & take) begin
      lost_d = 1'b1;
    end
  end

  // The last step that was described is the one before.
  assign pass_trap = take & traced & pending_trap_q;
  assign previous_cause_d = pending_cause_q;
  assign previous_interrupt_d = pending_interrupt_q;
  assign previous_tval_d = pending_tval_q;

  always_comb begin
    previous_mismatch_d = previous_mismatch_q;
    previous_depth_d = previous_depth_q;
    previous_valid_d = previous_valid_q;
    previous_trap_d = previous_trap_q;
    previous_reported_d = previous_reported_q;
    previous_updiscon_d = previous_updiscon_q;
    if (take) begin
      previous_valid_d = (passes_first_1 ?
              qualified_i[1] :
              (passes_last_0 ? qualified_i[0] : (passes_first_0 ? qualified_i[0] : traced))) &
          !restarts &
          !next_mark;
      previous_trap_d = pending_trap_q;
      previous_reported_d = sends_own_trap |
          (traced &
              (previous_valid_q &
                  previous_trap_q &
                  pending_trap_q &
                  !previous_reported_q &
                  !next_shown));
      previous_updiscon_d = passes_first_1 ?
          1'b0 :
          (passes_last_0 ?
              (qualified_i[0] &
                  (uninferable_i[0] &
                      !(sequential_jump_i & sijump_i[0] & (has_first_0 ? qualified_i[0] : traced)))) :
              (passes_first_0 ? 1'b0 : leaves_updiscon));
      previous_mismatch_d = hard & mismatch;
      previous_depth_d = return_stack_depth;
    end
  end

  // The last step that is taken waits for the one behind it. Nothing waits behind a mark.
  assign load = take & !next_mark;
  assign load_trap = takes_trap;
  assign pending_valid_d = take ? !next_mark : pending_valid_q;
  assign pending_qualified_d = (((comes_first_0 & !passes_first_0) |
              (comes_last_0 & !passes_last_0)) &
          qualified_i[0]) |
      (((comes_first_1 & !passes_first_1) | comes_last_1) & qualified_i[1]) |
      (takes_trap & trap_qualified_i);
  assign pending_wide_d = (((comes_first_0 & !passes_first_0) | (comes_last_0 & !passes_last_0)) &
          wide_i[0]) |
      (((comes_first_1 & !passes_first_1) | comes_last_1) & wide_i[1]);
  assign pending_trap_d = takes_trap;
  assign pending_taken_d = (comes_last_0 & !passes_last_0 & taken_i[0]) |
      (comes_last_1 & taken_i[1]);
  assign pending_not_taken_d = (comes_last_0 & !passes_last_0 & not_taken_i[0]) |
      (comes_last_1 & not_taken_i[1]);
  assign pending_uninferable_d = (comes_last_0 & !passes_last_0 & uninferable_i[0]) |
      (comes_last_1 & uninferable_i[1]);
  assign pending_call_d = (comes_last_0 & !passes_last_0 & call_i[0]) | (comes_last_1 & call_i[1]);
  assign pending_ret_d = (comes_last_0 & !passes_last_0 & ret_i[0]) | (comes_last_1 & ret_i[1]);
  assign pending_sijump_d = (comes_last_0 & !passes_last_0 & sijump_i[0]) |
      (comes_last_1 & sijump_i[1]);
  assign pending_notify_d = (comes_last_0 & !passes_last_0 & notify_i[0]) |
      (comes_last_1 & notify_i[1]);
  assign pending_at_first_0_d = comes_first_0 & !passes_first_0;
  assign pending_at_first_1_d = comes_first_1 & !passes_first_1;
  assign pending_address_d = 63'd0 |
      ({63{(comes_last_0 & !passes_last_0) | (takes_trap & trap_alone_i[0])}} & last_i[62:0]) |
      ({63{comes_last_1 | (takes_trap & trap_alone_i[1])}} & last_i[125:63]) |
      ({63{takes_trap & !(|trap_alone_i)}} & pending_behind);
  assign pending_privilege_d = privilege_i;
  assign pending_changes_d = now_changes;
  assign pending_cause_d = cause_i;
  assign pending_interrupt_d = interrupt_i;
  assign pending_tval_d = tval_i;
  assign pending_units_d = 8'd0 |
      ({8{(resync_mode_i == 2'd2) &
          (!begun_q &
              ((has_first_0 ? (comes_first_0 & !passes_first_0) : (comes_last_0 & !passes_last_0)) |
                  (takes_trap & trap_alone_i[0])))}} &
          cycles_i) |
      ({8{(resync_mode_i == 2'd3) & (comes_last_0 & !passes_last_0)}} & 8'(half_words_i[4:0])) |
      ({8{(resync_mode_i == 2'd3) & comes_last_1}} & 8'(half_words_i[9:5]));

  // The group is done with when its last step is.
  logic over;

  assign over = valid_i &
      !((has_last_0 & !(passes_last_0 | (comes_last_0 & !passes_last_0))) |
          (has_last_1 & !(1'b0 | comes_last_1)) |
          (has_trap & !takes_trap) |
          (has_mark & !(take & next_mark)));
  assign ready_o = over;
  assign done_first_d = {2{!over}} &
      (done_first_q |
          {
              passes_first_1 | (comes_first_1 & !passes_first_1),
              passes_first_0 | (comes_first_0 & !passes_first_0)
          });
  assign done_last_d = {2{!over}} &
      (done_last_q | {1'b0 | comes_last_1, passes_last_0 | (comes_last_0 & !passes_last_0)});
  assign done_trap_d = !over & (done_trap_q | takes_trap);
  assign begun_d = !over & (begun_q | take);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_valid_q <= 1'b0;
      previous_mismatch_q <= 1'b0;
      previous_depth_q <= 5'd0;
      previous_valid_q <= 1'b0;
      previous_trap_q <= 1'b0;
      previous_reported_q <= 1'b0;
      previous_updiscon_q <= 1'b0;
      done_first_q <= 2'd0;
      done_last_q <= 2'd0;
      done_trap_q <= 1'b0;
      begun_q <= 1'b0;
      popped_q <= 1'b0;
      sync_due_q <= 1'b0;
      flush_held_q <= 1'b0;
      open_target_q <= 1'b0;
      was_due_q <= 1'b0;
      sent_q <= 9'd0;
      lost_q <= 1'b0;
    end else begin
      pending_valid_q <= pending_valid_d;
      previous_mismatch_q <= previous_mismatch_d;
      previous_depth_q <= previous_depth_d;
      previous_valid_q <= previous_valid_d;
      previous_trap_q <= previous_trap_d;
      previous_reported_q <= previous_reported_d;
      previous_updiscon_q <= previous_updiscon_d;
      done_first_q <= done_first_d;
      done_last_q <= done_last_d;
      done_trap_q <= done_trap_d;
      begun_q <= begun_d;
      popped_q <= popped_d;
      sync_due_q <= sync_due_d;
      flush_held_q <= flush_held_d;
      open_target_q <= open_target_d;
      was_due_q <= was_due_d;
      sent_q <= sent_d;
      lost_q <= lost_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      pending_qualified_q <= pending_qualified_d;
    end
    if (load) begin
      pending_wide_q <= pending_wide_d;
    end
    if (load) begin
      pending_address_q <= pending_address_d;
    end
    if (load) begin
      pending_units_q <= pending_units_d;
    end
    if (load) begin
      pending_trap_q <= pending_trap_d;
    end
    if (load_trap) begin
      pending_interrupt_q <= pending_interrupt_d;
    end
    if (load) begin
      pending_taken_q <= pending_taken_d;
    end
    if (load) begin
      pending_not_taken_q <= pending_not_taken_d;
    end
    if (load) begin
      pending_uninferable_q <= pending_uninferable_d;
    end
    if (load) begin
      pending_call_q <= pending_call_d;
    end
    if (load) begin
      pending_ret_q <= pending_ret_d;
    end
    if (load) begin
      pending_sijump_q <= pending_sijump_d;
    end
    if (load) begin
      pending_notify_q <= pending_notify_d;
    end
    if (load) begin
      pending_at_first_0_q <= pending_at_first_0_d;
    end
    if (load) begin
      pending_at_first_1_q <= pending_at_first_1_d;
    end
    if (load) begin
      pending_privilege_q <= pending_privilege_d;
    end
    if (load) begin
      pending_changes_q <= pending_changes_d;
    end
    if (load_trap) begin
      pending_cause_q <= pending_cause_d;
    end
    if (load_trap) begin
      pending_tval_q <= pending_tval_d;
    end
    if (pass_trap) begin
      previous_cause_q <= previous_cause_d;
    end
    if (pass_trap) begin
      previous_interrupt_q <= previous_interrupt_d;
    end
    if (pass_trap) begin
      previous_tval_q <= previous_tval_d;
    end
  end
endmodule
