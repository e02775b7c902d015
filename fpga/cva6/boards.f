// Files of both boards besides those of the core, for tools that read such lists: after
// ${CVA6_REPO_DIR}/core/Flist.cv64a6_imafdc_sv39, and after te_top.f and cva6_te_adapter.f, which `hartrace hdl` writes
// into the folder HARTRACE_HDL. FPGA is this folder's parent.
+incdir+${CVA6_REPO_DIR}/corev_apu/axi/include
${CVA6_REPO_DIR}/corev_apu/axi_mem_if/src/axi2mem.sv
${FPGA}/ulx3s/trace_uart.sv
${FPGA}/cva6/traced_cva6.sv
${FPGA}/cva6/cva6_board.sv
