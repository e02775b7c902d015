//! What a capture tells, as values that can be compared, printed, pickled and, where they cannot change, hashed.
#![expect(clippy::too_many_arguments, reason = "the macro makes constructors of all fields")]

use hartrace::{Edge, FunctionTotal, Time};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// What a function has executed.
#[pyclass(
    module = "hartrace",
    name = "Function",
    frozen,
    get_all,
    eq,
    hash,
    new = "from_fields",
    from_py_object
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyFunction {
    /// Its source, where the capture names sources.
    source: Option<u16>,
    /// Its name, or its address. Two functions may have one name.
    name: String,
    /// Its first instruction; of an inlined function, that of one of its copies, always the same one.
    address: u64,
    /// Whether it was inlined: these are its copies in other functions, all together.
    inlined: bool,
    /// Its file and line, if they are known.
    place: Option<(String, u32)>,
    /// How often it was called.
    calls: u64,
    /// Instructions of its own.
    instructions: u64,
    /// Instructions with those of everything that it called.
    with_callees: u64,
}

impl From<FunctionTotal> for PyFunction {
    fn from(total: FunctionTotal) -> Self {
        let FunctionTotal {
            source,
            name,
            address,
            inlined,
            object: _,
            place,
            calls,
            instructions,
            with_callees,
        } = total;
        Self { source, name, address, inlined, place, calls, instructions, with_callees }
    }
}

#[pymethods]
impl PyFunction {
    #[allow(clippy::type_complexity, reason = "the fields in order")]
    fn __getnewargs__(
        &self,
    ) -> (Option<u16>, &str, u64, bool, Option<&(String, u32)>, u64, u64, u64) {
        let Self { source, name, address, inlined, place, calls, instructions, with_callees } =
            self;
        let place = place.as_ref();
        (*source, name, *address, *inlined, place, *calls, *instructions, *with_callees)
    }

    fn __repr__(&self) -> String {
        let Self { name, calls, instructions, .. } = self;
        format!("<hartrace.Function {name:?}: {instructions} instructions, {calls} calls>")
    }
}

/// A function that was entered or left, or what else happened to a call stack.
#[pyclass(
    module = "hartrace",
    name = "Call",
    frozen,
    get_all,
    eq,
    hash,
    new = "from_fields",
    from_py_object
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyCall {
    /// The source, where the capture names sources.
    source: Option<u16>,
    /// What happened: `enter`, `leave`, `suspend` and `resume` where another thread runs in between, `repeat`, `end_repeat` or
    /// `gap`. A function that is resumed has not been called.
    kind: String,
    /// The function's name, or its address, unless it is `repeat`, `end_repeat` or `gap`.
    name: Option<String>,
    /// The function's first instruction; of an inlined function, that of this copy.
    address: Option<u64>,
    /// Whether it is a copy of a function that was inlined.
    inlined: bool,
    /// Instructions of the source before that, unless it is `repeat` or `end_repeat`.
    at: Option<u64>,
    /// How often everything up to `end_repeat` happened, for `repeat`.
    times: Option<u64>,
}

impl From<hartrace::Call> for PyCall {
    fn from(call: hartrace::Call) -> Self {
        use hartrace::Call;
        let of = |source, kind: &str| Self {
            source,
            kind: kind.into(),
            name: None,
            address: None,
            inlined: false,
            at: None,
            times: None,
        };
        let function = |source, kind, function: &hartrace::Function, at| Self {
            name: Some(function.name.clone()),
            address: Some(function.address),
            inlined: function.inlined,
            at: Some(at),
            ..of(source, kind)
        };
        match call {
            Call::Enter { source, function: entered, at } => {
                function(source, "enter", &entered, at)
            }
            Call::Leave { source, function: left, at } => function(source, "leave", &left, at),
            Call::Suspend { source, function: waits, at } => {
                function(source, "suspend", &waits, at)
            }
            Call::Resume { source, function: resumed, at } => {
                function(source, "resume", &resumed, at)
            }
            Call::Repeat { source, times } => Self { times: Some(times), ..of(source, "repeat") },
            Call::EndRepeat { source } => of(source, "end_repeat"),
            Call::Gap { source, at } => Self { at: Some(at), ..of(source, "gap") },
            _ => of(None, "unknown"),
        }
    }
}

#[pymethods]
impl PyCall {
    #[allow(clippy::type_complexity, reason = "the fields in order")]
    fn __getnewargs__(
        &self,
    ) -> (Option<u16>, &str, Option<&String>, Option<u64>, bool, Option<u64>, Option<u64>) {
        let Self { source, kind, name, address, inlined, at, times } = self;
        (*source, kind, name.as_ref(), *address, *inlined, *at, *times)
    }

    fn __repr__(&self) -> String {
        let Self { kind, name, at, times, .. } = self;
        let name = name.as_ref().map_or(String::new(), |name| format!(" {name:?}"));
        let at = at.map_or(String::new(), |at| format!(" after {at} instructions"));
        let times = times.map_or(String::new(), |times| format!(" {times} times"));
        format!("<hartrace.Call {kind}{name}{at}{times}>")
    }
}

/// A branch or jump, taken or not, and how often.
#[pyclass(
    module = "hartrace",
    name = "Edge",
    frozen,
    get_all,
    eq,
    hash,
    new = "from_fields",
    from_py_object
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyEdge {
    /// The address of the branch or jump.
    branch: u64,
    /// The address where the program continued.
    target: u64,
    /// What it is: `branch`, `jump`, or `indirect`, whose target is not in the code.
    kind: String,
    /// How often the program went this way.
    count: u64,
}

impl From<(Edge, u64)> for PyEdge {
    fn from((Edge { from, to, kind }, count): (Edge, u64)) -> Self {
        Self { branch: from, target: to, kind: kind.name().into(), count }
    }
}

#[pymethods]
impl PyEdge {
    fn __getnewargs__(&self) -> (u64, u64, &str, u64) {
        let Self { branch, target, kind, count } = self;
        (*branch, *target, kind, *count)
    }

    fn __repr__(&self) -> String {
        let Self { branch, target, kind, count } = self;
        format!("<hartrace.Edge {kind} {branch:#x} to {target:#x}: {count} times>")
    }
}

/// Instructions that retired one after the other.
#[pyclass(
    module = "hartrace",
    name = "Block",
    frozen,
    get_all,
    eq,
    hash,
    new = "from_fields",
    from_py_object
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyBlock {
    /// The source, where the capture names sources.
    source: Option<u16>,
    /// The number of the packet that tells of it.
    packet: u64,
    /// The byte of the capture where that packet starts.
    byte: u64,
    /// The addresses of its instructions; at least one.
    addresses: Vec<u64>,
    /// The address after the last instruction.
    end: u64,
}

impl From<hartrace::Block> for PyBlock {
    fn from(block: hartrace::Block) -> Self {
        let hartrace::Block { source, at, addresses, end, .. } = block;
        Self { source, packet: at.packet, byte: at.byte, addresses, end }
    }
}

#[pymethods]
impl PyBlock {
    fn __getnewargs__(&self) -> (Option<u16>, u64, u64, &[u64], u64) {
        let Self { source, packet, byte, addresses, end } = self;
        (*source, *packet, *byte, addresses, *end)
    }

    fn __repr__(&self) -> String {
        let first = self.addresses.first().copied().unwrap_or(self.end);
        format!(
            "<hartrace.Block {first:#x}..{:#x}: {} instructions>",
            self.end,
            self.addresses.len()
        )
    }
}

/// A stretch that could not be followed, or, without a position, what else is missing.
#[pyclass(
    module = "hartrace",
    name = "Gap",
    frozen,
    get_all,
    eq,
    hash,
    new = "from_fields",
    from_py_object
)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyGap {
    /// The source, where the capture names sources.
    source: Option<u16>,
    /// The number of the packet where it starts.
    packet: Option<u64>,
    /// The byte of the capture where it starts.
    byte: Option<u64>,
    /// Why.
    cause: String,
}

impl PyGap {
    /// What is missing at the end, or anywhere.
    pub(crate) fn anywhere(cause: String) -> Self {
        Self { source: None, packet: None, byte: None, cause }
    }
}

impl From<hartrace::Gap> for PyGap {
    fn from(gap: hartrace::Gap) -> Self {
        let hartrace::Gap { source, at, cause } = gap;
        let (packet, byte) = (Some(at.packet), Some(at.byte));
        Self { source, packet, byte, cause: cause.to_string() }
    }
}

#[pymethods]
impl PyGap {
    fn __getnewargs__(&self) -> (Option<u16>, Option<u64>, Option<u64>, &str) {
        let Self { source, packet, byte, cause } = self;
        (*source, *packet, *byte, cause)
    }

    fn __repr__(&self) -> String {
        match self.packet {
            Some(packet) => format!("<hartrace.Gap at packet {packet}: {}>", self.cause),
            None => format!("<hartrace.Gap: {}>", self.cause),
        }
    }
}

/// Something that happened between instructions.
#[pyclass(module = "hartrace", name = "Event", frozen, get_all, new = "from_fields")]
pub(crate) struct PyEvent {
    /// The source, where the capture names sources.
    source: Option<u16>,
    /// The number of the packet that tells of it.
    packet: u64,
    /// The byte of the capture where that packet starts.
    byte: u64,
    /// What happened: `trap`, `context`, `time`, `cycles`, `on`, `off` or `restart`.
    kind: String,
    /// What belongs to it, by name.
    fields: Py<PyDict>,
}

impl PyEvent {
    pub(crate) fn new(py: Python<'_>, happened: hartrace::Happened) -> PyResult<Self> {
        let hartrace::Happened { source, at, event, .. } = happened;
        let (kind, fields) = fields(py, event)?;
        Ok(Self { source, packet: at.packet, byte: at.byte, kind: kind.into(), fields })
    }

    /// All but the fields.
    fn place(&self) -> (Option<u16>, u64, u64, &str) {
        (self.source, self.packet, self.byte, &self.kind)
    }
}

#[pymethods]
impl PyEvent {
    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        Ok(self.place() == other.place() && self.fields.bind(py).eq(&other.fields)?)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.place().hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Option<u16>, u64, u64, &str, Py<PyDict>) {
        let (source, packet, byte, kind) = self.place();
        (source, packet, byte, kind, self.fields.clone_ref(py))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<hartrace.Event {} {}>", self.kind, self.fields.bind(py))
    }
}

/// The name of an event, and what belongs to it.
fn fields(py: Python<'_>, event: hartrace::Event) -> PyResult<(&'static str, Py<PyDict>)> {
    use hartrace::Event;
    let fields = PyDict::new(py);
    let kind = match event {
        Event::Trap { cause, interrupt, tval, epc } => {
            fields.set_item("cause", cause)?;
            fields.set_item("interrupt", interrupt)?;
            fields.set_item("tval", tval)?;
            fields.set_item("epc", epc)?;
            "trap"
        }
        Event::Context { privilege, context, time } => {
            fields.set_item("privilege", privilege)?;
            fields.set_item("context", context)?;
            fields.set_item("time", time)?;
            "context"
        }
        Event::Time(Time::Stamp { value, bits }) => {
            fields.set_item("value", value)?;
            fields.set_item("bits", bits)?;
            "time"
        }
        Event::Time(Time::Cycles(cycles)) => {
            fields.set_item("cycles", cycles)?;
            "cycles"
        }
        Event::On => "on",
        Event::Off(status) => {
            fields.set_item("qual_status", status.name())?;
            "off"
        }
        Event::Restart => "restart",
        Event::Trigger => "trigger",
        Event::LeftOut { insns, .. } => {
            fields.set_item("instructions", insns)?;
            "left_out"
        }
        Event::Gap(cause) => {
            fields.set_item("cause", cause.to_string())?;
            "gap"
        }
    };
    Ok((kind, fields.unbind()))
}
