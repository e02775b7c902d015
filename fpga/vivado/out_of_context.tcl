# Out-of-context synthesis, placement and routing with Vivado: utilisation by module and timing.
#
# NOT RUN by this project, which has no Vivado: written from the vendor's documentation, so expect to
# adapt it. No figure in this repository comes from it.
#
#   vivado -mode batch -nojournal -source out_of_context.tcl \
#       -tclargs PART PERIOD_NS TOP OUTPUT_FOLDER FILE.sv...
#
# for example
#
#   vivado -mode batch -nojournal -source out_of_context.tcl \
#       -tclargs xczu9eg-ffvb1156-2-e 4.0 te_core out te_core.sv
#
# The clock is `clk_i`. Ports are not constrained, so that the figures are of paths from register to
# register; where the block goes into a system, what feeds and reads its ports counts as well.

if {$argc < 5} {
    puts stderr "usage: -tclargs PART PERIOD_NS TOP OUTPUT_FOLDER FILE.sv..."
    exit 2
}
lassign $argv part period top out
set files [lrange $argv 4 end]

# An undriven signal or a latch is a mistake in what was generated, not a remark.
set_msg_config -id {Synth 8-3848} -new_severity ERROR
set_msg_config -id {Synth 8-327} -new_severity ERROR

file mkdir $out
read_verilog -sv $files
synth_design -top $top -part $part -mode out_of_context -verilog_define SYNTHESIS \
    -flatten_hierarchy rebuilt
create_clock -name clk -period $period [get_ports clk_i]
# Reset is asynchronous and released long before it matters.
set_false_path -from [get_ports rst_ni]
report_utilization -hierarchical -file $out/utilization_synthesis.rpt

opt_design
place_design
phys_opt_design
route_design

report_utilization -hierarchical -file $out/utilization.rpt
report_timing_summary -delay_type max -max_paths 10 -file $out/timing.rpt
write_checkpoint -force $out/$top.dcp

set paths [get_timing_paths -from [all_registers] -to [all_registers] -delay_type max -max_paths 1]
if {[llength $paths] == 0} {
    puts "no path from register to register"
    exit 1
}
set slack [get_property SLACK [lindex $paths 0]]
puts [format "%s on %s: period %.3f ns, slack %.3f ns, %.1f MHz" \
    $top $part $period $slack [expr {1000.0 / ($period - $slack)}]]
# Placement only tries as hard as the period asks: start from the period that is needed.
if {$slack < 0} {
    exit 1
}
