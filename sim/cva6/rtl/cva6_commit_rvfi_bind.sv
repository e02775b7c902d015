// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Binds the probe into a current core, whose types are its own: a bind is resolved inside it.
bind cva6 cva6_commit_probe #(
  .Ports              (CVA6Cfg.NrCommitPorts),
  .Xlen               (CVA6Cfg.XLEN),
  .Vlen               (CVA6Cfg.VLEN),
  .SlotBits           (CVA6Cfg.TRANS_ID_BITS),
  .scoreboard_entry_t (scoreboard_entry_t),
  .exception_t        (exception_t),
  .bp_resolve_t       (bp_resolve_t)
) i_commit_probe (.*);
