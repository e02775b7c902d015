//! The device tree in which the proxy kernel finds the devices of the machine.

/// Writes a flattened device tree, version 17.
#[derive(Default)]
struct Tree {
    structure: Vec<u8>,
    strings: Vec<u8>,
}

impl Tree {
    fn number(&mut self, value: u32) {
        self.structure.extend(value.to_be_bytes());
    }

    /// Adds bytes, padded to whole words.
    fn bytes(&mut self, bytes: &[u8]) {
        self.structure.extend(bytes);
        self.structure.resize(self.structure.len().next_multiple_of(4), 0);
    }

    fn node(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.number(1);
        self.bytes(format!("{name}\0").as_bytes());
        content(self);
        self.number(2);
    }

    fn property(&mut self, name: &str, value: &[u8]) {
        let place = self.strings.len() as u32;
        self.strings.extend(name.bytes().chain([0]));
        self.number(3);
        self.number(value.len() as u32);
        self.number(place);
        self.bytes(value);
    }

    fn text(&mut self, name: &str, text: &str) {
        self.property(name, format!("{text}\0").as_bytes());
    }

    fn cells(&mut self, name: &str, cells: &[u32]) {
        let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        self.property(name, &bytes);
    }

    fn finish(mut self) -> Vec<u8> {
        self.number(9);
        // An empty list of reserved memory follows the header.
        let structure = 40 + 16;
        let strings = structure + self.structure.len();
        let total = strings + self.strings.len();
        let sizes = [self.strings.len(), self.structure.len()];
        let header = [0xd00d_feed, total, structure, strings, 40, 17, 16, 0, sizes[0], sizes[1]];
        let mut bytes: Vec<u8> =
            header.iter().flat_map(|&word| (word as u32).to_be_bytes()).collect();
        bytes.extend([0; 16]);
        bytes.extend(self.structure);
        bytes.extend(self.strings);
        bytes
    }
}

/// One hart, 2 GiB, a CLINT and the host.
pub(crate) fn spike() -> Vec<u8> {
    let mut tree = Tree::default();
    tree.node("", |tree| {
        tree.cells("#address-cells", &[2]);
        tree.cells("#size-cells", &[2]);
        tree.text("compatible", "ucbbar,spike-bare-dev");
        tree.text("model", "ucbbar,spike-bare");
        tree.node("chosen", |tree| tree.text("bootargs", "console=hvc0 earlycon=sbi"));
        tree.node("cpus", |tree| {
            tree.cells("#address-cells", &[1]);
            tree.cells("#size-cells", &[0]);
            tree.cells("timebase-frequency", &[10_000_000]);
            tree.node("cpu@0", cpu);
        });
        tree.node("memory@80000000", |tree| {
            tree.text("device_type", "memory");
            tree.cells("reg", &[0, 0x8000_0000, 0, 0x8000_0000]);
        });
        tree.node("soc", |tree| {
            tree.cells("#address-cells", &[2]);
            tree.cells("#size-cells", &[2]);
            tree.text("compatible", "ucbbar,spike-bare-soc\0simple-bus");
            tree.property("ranges", &[]);
            tree.node("clint@2000000", |tree| {
                tree.text("compatible", "riscv,clint0");
                tree.cells("interrupts-extended", &[1, 3, 1, 7]);
                tree.cells("reg", &[0, 0x200_0000, 0, 0xc_0000]);
            });
        });
        tree.node("htif", |tree| tree.text("compatible", "ucb,htif0"));
    });
    tree.finish()
}

fn cpu(tree: &mut Tree) {
    tree.text("device_type", "cpu");
    tree.cells("reg", &[0]);
    tree.text("status", "okay");
    tree.text("compatible", "riscv");
    tree.text("riscv,isa", "rv64imafdc");
    tree.text("mmu-type", "riscv,sv48");
    tree.cells("riscv,pmpregions", &[16]);
    tree.cells("riscv,pmpgranularity", &[4]);
    tree.cells("clock-frequency", &[1_000_000_000]);
    tree.node("interrupt-controller", |tree| {
        tree.cells("#address-cells", &[2]);
        tree.cells("#interrupt-cells", &[1]);
        tree.property("interrupt-controller", &[]);
        tree.text("compatible", "riscv,cpu-intc");
        tree.cells("phandle", &[1]);
    });
}
