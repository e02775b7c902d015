//! Area on UltraScale+.

use crate::netlist::Netlist;
use crate::source::Source;
use crate::tools::Tools;
use crate::{Cells, FpgaError, levels};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The plain flow: what others use, so that figures compare. `docs/design/fpga.md` has what other
/// options give.
const SYNTHESIS: &str = "synth_xilinx -family xcup -noiopad -noclkbuf";

/// What a design takes on UltraScale+.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The synthesis command; options for flattening are added to it.
    pub synthesis: String,
    /// All of it, optimised across modules: what it takes.
    pub flat: Cells,
    /// How many cells the longest path of the flattened design passes, of unlike delay: more are
    /// worth a look, and not a frequency. None if there is a loop.
    pub flat_levels: Option<u64>,
    /// All of it, each module by itself: the sum of `modules`.
    pub hierarchy: Cells,
    /// The modules by name.
    pub modules: Vec<ModuleArea>,
}

/// What one module takes, without the modules in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleArea {
    /// Its name.
    pub name: String,
    /// How often it is there.
    pub instances: u64,
    /// What one instance takes.
    pub cells: Cells,
    /// How many cells its longest path passes. None if there is a loop.
    pub levels: Option<u64>,
}

impl Area {
    /// Measures the area; also says which version of yosys did.
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
