//! Area on UltraScale+.

use crate::netlist::Netlist;
use crate::source::Source;
use crate::tools::Tools;
use crate::{Cells, FpgaError, levels};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The plain flow, which others use too, so that figures can be compared. `docs/design/fpga.md`
/// shows the effect of other options.
const SYNTHESIS: &str = "synth_xilinx -family xcup -noiopad -noclkbuf";

/// Resources of a design on UltraScale+.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The synthesis command; options for flattening are added to it.
    pub synthesis: String,
    /// The whole design, optimised across modules: the real cost.
    pub flat: Cells,
    /// Number of cells on the longest path of the flattened design. Their delays differ, so a
    /// larger number is a hint and not a frequency. None if there is a loop.
    pub flat_levels: Option<u64>,
    /// The whole design, with each module optimised separately: the sum of `modules`.
    pub hierarchy: Cells,
    /// The modules by name.
    pub modules: Vec<ModuleArea>,
}

/// Resources of one module, without the modules in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleArea {
    /// Its name.
    pub name: String,
    /// Number of its instances.
    pub instances: u64,
    /// Resources of one instance.
    pub cells: Cells,
    /// Number of cells on its longest path. None if there is a loop.
    pub levels: Option<u64>,
}

impl Area {
    /// Measures the area. Also returns the version of yosys.
    pub(crate) fn of(
        source: &Source,
        tools: &Tools,
        folder: &Path,
        watch: &dyn Fn(&str),
    ) -> Result<(Self, String), FpgaError> {
        let synthesise = |options: &str, file: &'static str| {
            let (read, top) = (source.read(), source.top());
            tools.yosys(
                folder,
                &format!("{read}{SYNTHESIS} {options} -top {top}\nwrite_json {file}\n"),
            )?;
            Netlist::read(folder, file)
        };
        watch("area as a whole");
        let flat = synthesise("-flatten", "flat.json")?;
        let module = flat.module(source.top())?;
        let flat_cells = Cells::count(module.kinds(|_| false));
        let flat_levels = levels::longest(module);

        watch("area by module");
        let netlist = synthesise("", "hierarchy.json")?;
        let mut hierarchy = Cells::default();
        let mut modules = Vec::new();
        for (name, instances) in netlist.instances(source.top())? {
            let module = netlist.module(name)?;
            let cells = Cells::count(module.kinds(|cell| netlist.is_instance(cell)));
            for _ in 0..instances {
                hierarchy += &cells;
            }
            let levels = levels::longest(module);
            modules.push(ModuleArea { name: name.to_owned(), instances, cells, levels });
        }
        let synthesis = SYNTHESIS.to_owned();
        let area = Self { synthesis, flat: flat_cells, flat_levels, hierarchy, modules };
        Ok((area, netlist.version()))
    }
}
