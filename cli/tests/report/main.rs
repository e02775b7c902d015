//! `hartrace report`, in a browser.
//!
//! What needs Chromium shows as ignored without it. `./test.sh unit` installs it.

mod browser;
#[path = "../support/mod.rs"]
mod support;

use browser::Browser;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::{clean, hartrace};

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = !Browser::exists();
    let all: [(&str, Test); 10] = [
        ("sums", sums),
        ("timeline", timeline),
        ("flame_graph", flame_graph),
        ("long_names", long_names),
        ("code", code),
        ("source", source),
        ("gaps", gaps),
        ("hostile_names", hostile_names),
        ("light_and_dark", light_and_dark),
        ("compare", compare),
    ];
    let trials = all.map(|(name, test)| Trial::test(name, test).with_ignored_flag(missing));
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/programs/elf/{name}.elf"))
}

/// A folder with a capture `t.te` of a program, and its page `t.html`.
fn page(test: &str, program: &Path) -> Result<PathBuf, Failed> {
    let folder = folder(test)?;
    let line = format!("run {} --encode ir+bp -o t.te", program.display());
    let output = hartrace(&folder, &line)?;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let line = clean(&folder, "report t.te -o t.html")?;
    assert!(line.starts_with("t.html: ") && line.contains(" MB, "), "{line}");
    Ok(folder)
}

fn open(folder: &Path) -> Result<Browser, Failed> {
    Browser::open(&folder.join("t.html"), 1200, 900)
}

/// `1,234` as a number.
fn number(text: &str) -> Result<u64, Failed> {
    Ok(text.replace(',', "").parse()?)
}

/// Names and values of the summary.
fn figures(browser: &mut Browser) -> Result<BTreeMap<String, String>, Failed> {
    let pairs = browser.value(
        "[...document.querySelectorAll('#figures div')].map((one) => [...one.children].map((c) => c.textContent))",
    )?;
    Ok(serde_json::from_value::<Vec<(String, String)>>(pairs)?.into_iter().collect())
}

/// The cells of a table.
fn cells(browser: &mut Browser, table: &str) -> Result<Vec<Vec<String>>, Failed> {
    let rows = browser.value(&format!(
        "[...document.querySelectorAll('{table} tbody tr')].map((row) => [...row.children].map((c) => c.textContent))"
    ))?;
    Ok(serde_json::from_value(rows)?)
}

/// The page shows what `stats` counts, and functions with as many instructions as in folded stacks.
fn sums() -> Result<(), Failed> {
    let folder = page("sums", &program("linux"))?;
    let stats: Value = serde_json::from_str(&clean(&folder, "stats t.te --json")?)?;
    let mut browser = open(&folder)?;
    let shown = figures(&mut browser)?;
    let program = &stats["program"];
    for (name, value) in [
        ("instructions", &program["instructions"]),
        ("gaps", &program["gaps"]),
        ("packets", &stats["total"]["packets"]),
        ("bytes of capture", &stats["capture_bytes"]),
    ] {
        assert_eq!(Some(number(&shown[name])?), value.as_u64(), "{name}");
    }
    let bits = program["bits_per_instruction"].as_f64().ok_or("no bits")?;
    assert_eq!(shown["bits per instruction"], format!("{bits:.4}"));
    for row in cells(&mut browser, "#packet-table")? {
        let (code, _) = row[0].split_once(' ').ok_or("no code")?;
        let format = &stats["formats"][code];
        assert_eq!(Some(number(&row[1])?), format["packets"].as_u64(), "{row:?}");
        assert_eq!(Some(number(&row[3])?), format["bytes"].as_u64(), "{row:?}");
    }
    let mut folded = BTreeMap::<String, u64>::new();
    for line in clean(&folder, "export t.te --format folded")?.lines() {
        let (stack, count) = line.rsplit_once(' ').ok_or("no count")?;
        let function = stack.rsplit(';').next().unwrap_or(stack);
        *folded.entry(function.to_owned()).or_default() += count.parse::<u64>()?;
    }
    let functions = cells(&mut browser, "#function-table")?;
    let own: BTreeMap<String, u64> = functions
        .iter()
        .map(|row| Ok((row[0].clone(), number(&row[1])?)))
        .collect::<Result<_, Failed>>()?;
    assert_eq!(own, folded);
    assert_eq!(own.values().sum::<u64>(), number(&shown["instructions"])?);
    println!("{} functions, {} instructions", own.len(), shown["instructions"]);
    let edges = clean(&folder, "decode t.te --emit edges")?;
    let mut counts = edges.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3));
    for row in cells(&mut browser, "#edge-table")? {
        assert_eq!(counts.next().and_then(|count| count.parse().ok()), Some(number(&row[3])?));
    }
    assert_eq!(counts.next(), None);
    browser.end()
}

/// First and last instruction in view.
fn range(browser: &mut Browser) -> Result<(u64, u64), Failed> {
    let text = browser.text("#range")?;
    let words: Vec<&str> = text.split(' ').collect();
    let ["instructions", from, "to", to, ..] = words[..] else { return Err(text.into()) };
    Ok((number(from)?, number(to)?))
}

/// The timeline zooms and moves by wheel, drag and keys, and finds calls.
fn timeline() -> Result<(), Failed> {
    let folder = page("timeline", &program("linux"))?;
    let mut browser = open(&folder)?;
    browser.drawn()?;
    let (start, end) = range(&mut browser)?;
    assert_eq!((start, end), (0, 506_679));
    assert!(browser.text("#axis-note")?.contains("counts instructions"));
    browser.wheel("#canvas", -300)?;
    let wheel = range(&mut browser)?;
    assert!(wheel.0 > 0 && wheel.1 < end && wheel.1 - wheel.0 < end / 2, "{wheel:?}");
    browser.drag("#canvas")?;
    let dragged = range(&mut browser)?;
    assert!(dragged.0 > wheel.0 && dragged.1 - dragged.0 <= wheel.1 - wheel.0 + 1, "{dragged:?}");
    browser.key("0")?;
    assert!(browser.text("#range")?.ends_with("(all)"));
    browser.value("document.getElementById('canvas').focus()")?;
    browser.key("+")?;
    browser.key("+")?;
    let near = range(&mut browser)?;
    assert!((near.1 - near.0).abs_diff(end / 4) <= 1, "{near:?}");
    browser.key("ArrowRight")?;
    let right = range(&mut browser)?;
    assert!(right.0 > near.0, "{right:?}");
    browser.key("ArrowLeft")?;
    assert_eq!(range(&mut browser)?, near);
    browser.key("-")?;
    let far = range(&mut browser)?;
    assert!((far.1 - far.0).abs_diff(end / 2) <= 1, "{far:?}");

    browser.key("/")?;
    assert_eq!(browser.value("document.activeElement.id")?, "search");
    browser.write("ALLOC")?;
    let functions = cells(&mut browser, "#function-table")?;
    let allocate = functions.iter().find(|row| row[0] == "allocate").ok_or("no function")?;
    assert_eq!(allocate[4], "600");
    let found = format!("1 function, 600 calls, {} of the instructions", allocate[2]);
    assert_eq!(browser.text("#matches")?, found);
    browser.key("Enter")?;
    let first = browser.text("#selection")?;
    assert!(first.starts_with("Selected: allocate: "), "{first}");
    browser.key("Enter")?;
    assert_ne!(browser.text("#selection")?, first);
    browser.key("Escape")?;
    assert_eq!(browser.text("#matches")?, "");
    // From a call to its code, without a mouse.
    browser.key("Enter")?;
    assert_eq!(browser.text("#code-title")?, "Code of allocate");

    // The outermost function is as wide as the timeline.
    browser.key("0")?;
    browser.value("document.getElementById('canvas').style.height = '300px'")?;
    browser.drawn()?;
    browser.click("#canvas", 0.5, 53.0 / 300.0)?;
    assert!(browser.text("#selection")?.starts_with("Selected: _start: 506,679 instructions"));
    browser.end()
}

/// The flame graph has the stacks of `export --format folded`, each with all that it called, and can be used with keys.
fn flame_graph() -> Result<(), Failed> {
    let folder = page("flame_graph", &program("calls"))?;
    let mut expected = BTreeMap::<String, u64>::new();
    for line in clean(&folder, "export t.te --format folded")?.lines() {
        let (stack, count) = line.rsplit_once(' ').ok_or("no count")?;
        let ends = stack.match_indices(';').map(|(at, _)| at).chain([stack.len()]);
        for end in ends {
            *expected.entry(stack[..end].to_owned()).or_default() += count.parse::<u64>()?;
        }
    }
    let all = expected.len();
    let mut browser = open(&folder)?;
    browser.drawn()?;
    let finest = browser.value("data.finest")?.as_u64().ok_or("no number")?;
    expected.retain(|stack, count| *count >= finest && stack.matches(';').count() < 200);
    assert!(finest > 1 && expected.len() > 20 && expected.len() < all, "{finest}: {all} stacks");
    let drawn = browser.value(
        "flames.nodes.slice(1).map((node) => { const names = [];\
         for (let one = node; one.depth > 0; one = one.caller) names.unshift(one.name);\
         return [names.join(';'), node.insns]; })",
    )?;
    let drawn: BTreeMap<String, u64> =
        serde_json::from_value::<Vec<(String, u64)>>(drawn)?.into_iter().collect();
    assert_eq!(drawn, expected);

    assert!(browser.text("#flame-selection")?.starts_with("all: 211,317 instructions, 100.00 %"));
    browser.value("document.getElementById('flame-canvas').focus()")?;
    browser.key("ArrowDown")?;
    browser.drawn()?;
    let outermost = browser.text("#flame-selection")?;
    assert!(outermost.starts_with("_start: 211,313 instructions"), "{outermost}");
    browser.key("ArrowDown")?;
    browser.key("Enter")?;
    browser.drawn()?;
    let inner = browser.text("#flame-selection")?;
    assert!(!inner.starts_with("_start") && inner.ends_with("Show its code"), "{inner}");
    browser.value("document.querySelector('#flame-selection a').click()")?;
    let name = inner.split(':').next().unwrap_or_default();
    browser.until(&format!(
        "document.getElementById('code-title').textContent === 'Code of {name}'"
    ))?;
    browser.key("Escape")?;
    browser.end()
}

/// A long name neither stretches the page nor is lost.
fn long_names() -> Result<(), Failed> {
    let name = "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_S5_ESt10_Select1stIS8_ESt4lessIS5_ESaIS8_EE14_M_lower_boundEPSt18_Rb_tree_node_baseRKS5_";
    let folder = folder("long_names")?;
    let elf = renamed(&std::fs::read(program("calls"))?, "fibonacci", name);
    std::fs::write(folder.join("calls.elf"), elf)?;
    clean(&folder, "run calls.elf --encode ir+bp -o t.te")?;
    clean(&folder, "report t.te -o t.html")?;
    let mut browser = open(&folder)?;
    let functions = cells(&mut browser, "#function-table")?;
    assert!(
        functions.iter().any(|row| row[0] == "std::_Rb_tree<…>::_M_lower_bound(…)"),
        "{functions:?}"
    );
    let link = "[...document.querySelectorAll('#function-table a')].find((a) => a.title.includes('_M_lower_bound'))";
    let title = browser.value(&format!("{link}.title"))?;
    let whole = "std::_Rb_tree<std::__cxx11::basic_string<char, ";
    assert!(title.as_str().is_some_and(|title| title.starts_with(whole)), "{title}");
    browser.value(&format!("{link}.click()"))?;
    browser
        .until("document.getElementById('code-title').textContent.includes('_M_lower_bound')")?;
    assert_eq!(
        browser.value(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )?,
        true
    );
    let wide = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).length";
    assert_eq!(browser.value(wide)?, 0, "tables that are wider than their place");
    // Names as the linker has them, where somebody asks for these.
    browser.end()?;
    clean(&folder, "report t.te --raw-names -o t.html")?;
    let mut browser = open(&folder)?;
    let title = browser.value(&format!("{link}.title"))?;
    assert_eq!(title.as_str(), Some(name));
    browser.end()
}

/// A program with another name for a function: a table of names of its own at the end of the file.
fn renamed(elf: &[u8], name: &str, other: &str) -> Vec<u8> {
    let (mut elf, bytes) = (elf.to_vec(), elf.to_vec());
    let number = |at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (sections, size, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
    let of_type = |wanted: usize| {
        (0..count).map(|index| sections + index * size).find(|at| number(at + 4, 4) == wanted)
    };
    let symbols = of_type(2).expect("symbols");
    let strings = sections + number(symbols + 0x28, 4) * size;
    let (start, length) = (number(strings + 0x18, 8), number(strings + 0x20, 8));
    let old = bytes[start..start + length]
        .windows(name.len() + 2)
        .position(|window| {
            window[0] == 0
                && &window[1..=name.len()] == name.as_bytes()
                && window[name.len() + 1] == 0
        })
        .expect("the name")
        + 1;
    let table = [&bytes[start..start + length], other.as_bytes(), &[0]].concat();
    elf[strings + 0x18..strings + 0x20].copy_from_slice(&bytes.len().to_le_bytes());
    elf[strings + 0x20..strings + 0x28].copy_from_slice(&table.len().to_le_bytes());
    let (first, all) = (number(symbols + 0x18, 8), number(symbols + 0x20, 8));
    for at in (first..first + all).step_by(24).filter(|at| number(*at, 4) == old) {
        elf[at..at + 4].copy_from_slice(&(length as u32).to_le_bytes());
    }
    elf.extend(table);
    elf
}

/// From a function to its callers and its code, with a count at every instruction and both ways of branches.
fn code() -> Result<(), Failed> {
    let folder = page("code", &program("calls"))?;
    let mut browser = open(&folder)?;
    browser.value("[...document.querySelectorAll('#function-table a')].find((a) => a.textContent === 'fibonacci').id = 'wanted'")?;
    browser.click("#wanted", 0.5, 0.5)?;
    browser.until("document.getElementById('code-title').textContent === 'Code of fibonacci'")?;
    let rows = cells(&mut browser, "#code-body .listing")?;
    // Every instruction was executed; together as many as the function has of its own.
    let executed = rows.iter().map(|row| number(&row[1])).collect::<Result<Vec<_>, _>>()?;
    let functions = cells(&mut browser, "#function-table")?;
    let own = functions.iter().find(|row| row[0] == "fibonacci").ok_or("no function")?;
    assert_eq!(executed.iter().sum::<u64>(), number(&own[1])?);
    assert_eq!(executed[0], number(&own[4])?);
    // The edges of its branches.
    let edges = clean(&folder, "decode t.te --emit edges --json")?;
    let mut branches = 0;
    for row in rows.iter().filter(|row| !row[3].is_empty()) {
        let from = u64::from_str_radix(row[0].trim_start_matches("0x"), 16)?;
        let leaving = edges.lines().map(serde_json::from_str::<Value>);
        let mut counts = Vec::new();
        for edge in leaving.collect::<Result<Vec<_>, _>>()? {
            if edge["from"] == format!("{from:#018x}") {
                counts.push(edge["count"].as_u64().ok_or("no count")?);
            }
        }
        counts.sort_unstable();
        let words = row[3].split(' ').filter_map(|word| number(word.trim_end_matches(',')).ok());
        let mut shown: Vec<u64> = words.collect();
        shown.sort_unstable();
        if row[3].starts_with("taken") {
            branches += 1;
            assert_eq!(shown, counts, "{row:?}");
        }
    }
    assert!(branches > 0, "{rows:?}");
    // Back to the caller through its link.
    browser.click("#code-body table[aria-label='Callers'] tbody tr:nth-child(1) a", 0.5, 0.5)?;
    browser.until("document.getElementById('code-title').textContent === 'Code of calls'")?;
    browser.end()
}

/// The source has as many executions at each line as in an export to lcov, and marks lines that were never executed.
fn source() -> Result<(), Failed> {
    let folder = page("source", &program("debug/sort"))?;
    // Debug information names files below this folder, where the program is not.
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let [capture, page] = ["t.te", "t.html"].map(|name| folder.join(name).display().to_string());
    let root = programs.display();
    clean(&programs, &format!("report {capture} --source-root {root} -o {page}"))?;
    let lcov = clean(&programs, &format!("export {capture} --format lcov"))?;
    let own =
        lcov.split("end_of_record").find(|part| part.contains("src/sort.c\n")).ok_or("no file")?;
    let lines = own.lines().filter_map(|line| line.strip_prefix("DA:")?.split_once(','));
    let lines: BTreeMap<&str, &str> = lines.collect();
    let mut browser = open(&folder)?;
    browser.value("[...document.querySelectorAll('#function-table a')].find((a) => a.textContent === 'quick').click()")?;
    browser.until("document.getElementById('code-title').textContent === 'Code of quick'")?;
    browser.value("document.querySelector('#code-body .more').click()")?;
    let rows = cells(&mut browser, "table[aria-label^=Source]")?;
    let text = std::fs::read_to_string(programs.join("src/sort.c"))?;
    for (row, line) in rows.iter().zip(text.lines()) {
        assert_eq!(row[2], line);
        let count = lines.get(row[0].as_str()).map(|count| count.parse::<u64>()).transpose()?;
        assert_eq!(count, number(&row[1]).ok(), "{row:?}");
    }
    let never =
        browser.value("document.querySelectorAll('table[aria-label^=Source] tr.never').length")?;
    let expected = lines.values().filter(|count| **count == "0").count();
    assert_eq!(never, expected);
    println!("{} lines with code, {expected} of them never executed", lines.len());
    // From an inlined function to the code that it is part of.
    browser.value("[...document.querySelectorAll('#function-table tbody tr')].find((row) => row.cells[0].textContent.endsWith(' inlined')).querySelector('a').click()")?;
    browser.until(
        "document.getElementById('code-body').textContent.includes('Its code is part of')",
    )?;
    assert!(!cells(&mut browser, "table[aria-label=Instructions]")?.is_empty());
    browser.end()
}

/// Gaps are counted, marked and explained.
fn gaps() -> Result<(), Failed> {
    let folder = page("gaps", &program("calls"))?;
    let mut bytes = std::fs::read(folder.join("t.te"))?;
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    std::fs::write(folder.join("t.te"), bytes)?;
    let output = hartrace(&folder, "report t.te --params t.te.toml -o t.html")?;
    assert_eq!(output.status.code(), Some(1));
    let stats = hartrace(&folder, "stats t.te --params t.te.toml --json")?;
    let stats: Value = serde_json::from_slice(&stats.stdout)?;
    let mut browser = open(&folder)?;
    let shown = figures(&mut browser)?;
    let gaps = number(&shown["gaps"])?;
    assert!(gaps > 0 && Some(gaps) == stats["program"]["gaps"].as_u64());
    assert_eq!(Some(number(&shown["instructions"])?), stats["program"]["instructions"].as_u64());
    assert_eq!(cells(&mut browser, "#gaps")?.len() as u64, gaps);
    assert!(browser.text("#gaps")?.contains("header 0xff"), "{}", browser.text("#gaps")?);
    browser.end()
}

/// Names of functions are text, whatever they are.
fn hostile_names() -> Result<(), Failed> {
    let mut elf = std::fs::read(program("calls"))?;
    for (name, other) in
        [("fibonacci", "</script>"), ("ackermann", "<img src="), ("coroutines", "\"><svg/a=a")]
    {
        assert_eq!(name.len(), other.len());
        let found = elf.windows(name.len()).position(|bytes| bytes == name.as_bytes());
        let at = found.ok_or("no such name")?;
        elf[at..at + name.len()].copy_from_slice(other.as_bytes());
    }
    let place = folder("hostile")?.join("calls.elf");
    std::fs::write(&place, elf)?;
    let folder = page("hostile_names", &place)?;
    let mut browser = open(&folder)?;
    let functions = cells(&mut browser, "#function-table")?;
    for name in ["</script>", "<img src=", "\"><svg/a=a"] {
        assert!(functions.iter().any(|row| row[0] == name), "{name}: {functions:?}");
    }
    assert_eq!(browser.value("document.querySelectorAll('img, svg').length")?, 0);
    browser.value("[...document.querySelectorAll('#function-table a')].find((a) => a.textContent === '</script>').click()")?;
    browser.until("document.getElementById('code-title').textContent === 'Code of </script>'")?;
    browser.end()
}

/// Brightness of a colour, from 0 to 1, and how well text in front of another one can be read.
fn contrast(browser: &mut Browser, selector: &str) -> Result<(f64, f64), Failed> {
    let both = browser.value(&format!(
        "(() => {{ const one = document.querySelector('{selector}');\
         const own = (node, key) => getComputedStyle(node)[key].match(/[\\d.]+/g).map(Number);\
         let behind = one; while (own(behind, 'backgroundColor')[3] === 0) behind = behind.parentElement;\
         return [own(one, 'color'), own(behind, 'backgroundColor')]; }})()"
    ))?;
    let colours: [Vec<f64>; 2] = serde_json::from_value(both)?;
    let luminance = |colour: &Vec<f64>| {
        let linear = |value: f64| {
            let value = value / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
    };
    let [text, behind] = [luminance(&colours[0]), luminance(&colours[1])];
    Ok((behind, (text.max(behind) + 0.05) / (text.min(behind) + 0.05)))
}

/// The browser's setting counts until a user chooses; text can be read in both.
fn light_and_dark() -> Result<(), Failed> {
    let folder = page("light_and_dark", &program("calls"))?;
    let mut browser = open(&folder)?;
    for (scheme, dark) in [("light", false), ("dark", true)] {
        browser.prefer(scheme)?;
        let (behind, _) = contrast(&mut browser, "section")?;
        assert_eq!(behind < 0.2, dark, "{scheme}");
        for part in [
            "h1",
            "nav a",
            "dt",
            "dd",
            "th button",
            "#function-table td",
            "#function-table a",
            ".soft",
            "kbd",
            "button",
        ] {
            let (_, ratio) = contrast(&mut browser, part)?;
            assert!(ratio >= 4.5, "{part} in {scheme}: {ratio:.2}");
        }
    }
    browser.key("t")?;
    assert!(contrast(&mut browser, "section")?.0 > 0.8, "a key switches to light");
    browser.click("#theme", 0.5, 0.5)?;
    assert!(contrast(&mut browser, "section")?.0 < 0.2, "the button switches back");
    browser.end()
}

/// Nothing is wider than a narrow window, and the page of `compare` is dark as well.
fn compare() -> Result<(), Failed> {
    let folder = page("compare", &program("calls"))?;
    let narrow = "document.documentElement.scrollWidth <= innerWidth";
    let mut browser = Browser::open(&folder.join("t.html"), 400, 800)?;
    assert_eq!(browser.value(narrow)?, true);
    browser.end()?;
    let line = format!("compare {} --limit 1000 --html t.html", program("calls").display());
    clean(&folder, &line)?;
    let mut browser = Browser::open(&folder.join("t.html"), 400, 800)?;
    assert_eq!(browser.value(narrow)?, true);
    browser.prefer("dark")?;
    assert!(contrast(&mut browser, "section")?.0 < 0.2);
    let fill = "getComputedStyle(document.querySelector('.plot rect')).fill";
    assert_eq!(
        browser.value(fill)?,
        browser.value("getComputedStyle(document.querySelector('section')).backgroundColor")?
    );
    for part in ["th", "td", "li"] {
        assert!(contrast(&mut browser, part)?.1 >= 4.5, "{part}");
    }
    browser.end()
}
