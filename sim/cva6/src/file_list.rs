//! Lists of files, as simulators take them with `-f`.

use crate::Cva6Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The depth to which lists may name other lists.
const DEPTH: usize = 16;

/// What a list of files names, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Everything else: folders with headers, definitions and other options.
    pub arguments: Vec<String>,
}

impl FileList {
    /// Reads a list, and those that it names with `-f` or `-F`. Variables of the environment are replaced. Names are
    /// relative to the folder of the list, in lists that are named with `-f` to that of the list that names them.
    ///
    /// # Errors
    ///
    /// If a list or a file is missing, or a variable is not set; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Cva6Error> {
        let mut list = Self::default();
        list.add(path, folder(path), DEPTH)?;
        Ok(list)
    }

    fn add(&mut self, path: &Path, base: &Path, depth: usize) -> Result<(), Cva6Error> {
        let text = fs::read_to_string(path)
            .map_err(|error| Cva6Error::Io { path: path.to_owned(), error })?;
        for (number, line) in text.lines().enumerate() {
            let wrong =
                |what: String| Cva6Error::List { path: path.to_owned(), line: number + 1, what };
            let line = expand(uncommented(line)).map_err(wrong)?;
            let mut words = line.split_whitespace();
            while let Some(word) = words.next() {
                let mut value =
                    || words.next().ok_or_else(|| wrong(format!("{word} without a value")));
                match word {
                    "-f" | "-F" => {
                        let other = base.join(value()?);
                        if depth == 0 {
                            return Err(wrong("lists name each other".to_owned()));
                        }
                        let base = if word == "-F" { folder(&other) } else { base };
                        self.add(&other, base, depth - 1)?;
                    }
                    "-v" | "-y" => {
                        let other = base.join(value()?);
                        self.arguments.extend([word.to_owned(), other.display().to_string()]);
                    }
                    _ if word.starts_with("+incdir+") => {
                        for folder in word.split('+').skip(2).filter(|folder| !folder.is_empty()) {
                            let folder = base.join(folder);
                            self.arguments.push(format!("+incdir+{}", folder.display()));
                        }
                    }
                    _ if word.starts_with(['+', '-']) => self.arguments.push(word.to_owned()),
                    _ => {
                        let file = base.join(word);
                        if !file.is_file() {
                            return Err(wrong(format!("there is no file {}", file.display())));
                        }
                        self.files.push(file);
                    }
                }
            }
        }
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn uncommented(line: &str) -> &str {
    let line = line.split_once("//").map_or(line, |(before, _)| before);
    if line.trim_start().starts_with('#') { "" } else { line }
}

/// Replaces `$NAME`, `${NAME}` and `$(NAME)`.
fn expand(line: &str) -> Result<String, String> {
    let mut parts = line.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let closing = match part.chars().next() {
            Some('{') => Some('}'),
            Some('(') => Some(')'),
            _ => None,
        };
        let (name, rest) = match closing {
            Some(closing) => part[1..]
                .split_once(closing)
                .ok_or_else(|| format!("`${part}` has no `{closing}`"))?,
            None => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()))
            }
        };
        let value =
            env::var(name).map_err(|_| format!("the variable {name} is not set; export it"))?;
        expanded += &value;
        expanded += rest;
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, lists: &[(&str, &str)]) -> PathBuf {
        let folder = env::temp_dir().join(format!("hartrace-list-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("core")).unwrap();
        for (name, text) in lists {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn everything_that_lists_have() {
        let folder = written(
            "all",
            &[
                (
                    "top.f",
                    "// a comment\n# another\n+define+A=1 -Wno-X // of a line\n\n+incdir+core+.\n\
                     -F core/core.f\n-f core/other.f\n-y core\na.sv\n",
                ),
                ("core/core.f", "b.sv c.sv\n"),
                ("core/other.f", "core/b.sv\n"),
                ("a.sv", ""),
                ("core/b.sv", ""),
                ("core/c.sv", ""),
            ],
        );
        let list = FileList::read(&folder.join("top.f")).unwrap();
        let names = ["core/b.sv", "core/c.sv", "core/b.sv", "a.sv"];
        assert_eq!(list.files, names.map(|name| folder.join(name)));
        let place = folder.display();
        let expected = ["+define+A=1", "-Wno-X"].map(str::to_owned).into_iter().chain([
            format!("+incdir+{place}/core"),
            format!("+incdir+{place}/."),
            "-y".to_owned(),
            format!("{place}/core"),
        ]);
        assert_eq!(list.arguments, expected.collect::<Vec<_>>());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let lists = [
            ("missing.f", "\nnothing.sv\n"),
            ("variable.f", "\n\n${NO_SUCH_VARIABLE_OF_HARTRACE}/a.sv\n"),
            ("open.f", "${PATH\n"),
            ("value.f", "-F\n"),
            ("itself.f", "-F itself.f\n"),
        ];
        let folder = written("wrong", &lists);
        for (name, said) in [
            ("missing.f", "missing.f, line 2: there is no file"),
            (
                "variable.f",
                "variable.f, line 3: the variable NO_SUCH_VARIABLE_OF_HARTRACE is not set",
            ),
            ("open.f", "line 1: `${PATH` has no `}`"),
            ("value.f", "line 1: -F without a value"),
            ("itself.f", "lists name each other"),
            ("absent.f", "cannot read"),
        ] {
            let error = FileList::read(&folder.join(name)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn variables_are_replaced() {
        let home = env::var("PATH").unwrap();
        for line in ["a $PATH/b", "a ${PATH}/b", "a $(PATH)/b"] {
            assert_eq!(expand(line), Ok(format!("a {home}/b")));
        }
    }
}
