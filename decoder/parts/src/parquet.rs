//! Tables in Parquet files.

use super::error::PartsError;
use super::prepared::digest;
use super::row_sum::RowSum;
use super::rows::{Batch, Emit, Field, Input, Kind, Output};
use super::summary::Summary;
use hartrace_capture::output;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The key of the [`Summary`] in the metadata of a file.
const KEY: &str = "hartrace";
/// The key of the sum of the rows.
const ROWS: &str = "hartrace.rows";
/// The key of the digest of both.
const DIGEST: &str = "hartrace.sha256";

/// The digest of a summary and of the sum of the rows.
fn sealed(summary: &str, rows: &str) -> String {
    digest(format!("{rows}\n{summary}").as_bytes())
}

/// The type of a column.
fn column(field: &Field) -> Result<TypePtr, ParquetError> {
    let unsigned = |bits| Some(LogicalType::integer(bits, false));
    let (physical, logical, repetition) = match field.kind {
        Kind::U64 => (Physical::INT64, unsigned(64), Repetition::REQUIRED),
        Kind::U32 => (Physical::INT32, unsigned(32), Repetition::REQUIRED),
        Kind::Source => (Physical::INT32, unsigned(16), Repetition::OPTIONAL),
        Kind::Word(_) | Kind::Text => {
            (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
        }
    };
    let builder = Type::primitive_type_builder(field.name, physical);
    Ok(Arc::new(builder.with_logical_type(logical).with_repetition(repetition).build()?))
}

/// Writes a table to a file. The file is there, under its name, once it is complete.
#[derive(Debug)]
pub struct ParquetOutput {
    path: PathBuf,
    fields: Vec<Field>,
    rows: RowSum,
    writer: Option<SerializedFileWriter<output::Output>>,
}

impl ParquetOutput {
    /// A table in this file, which is replaced if it is there.
    pub fn new(path: &Path) -> Self {
        Self { path: path.into(), fields: Vec::new(), rows: RowSum::default(), writer: None }
    }
}

/// Adds the name of a file to an error.
fn failed(path: &Path) -> impl Fn(ParquetError) -> PartsError + use<> {
    let name = path.display().to_string();
    move |error| PartsError::Table { name: name.clone(), what: error.to_string() }
}

impl Output for ParquetOutput {
    fn start(&mut self, emit: Emit, complete: bool) -> Result<(), PartsError> {
        self.fields = emit.fields(complete);
        let columns: Result<Vec<_>, _> = self.fields.iter().map(column).collect();
        let schema = columns
            .and_then(|columns| Type::group_type_builder("table").with_fields(columns).build());
        let mut properties = WriterProperties::builder()
            .set_created_by("hartrace".into())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        // Numbers that grow from row to row are stored as differences.
        for field in self.fields.iter().filter(|field| field.kind == Kind::U64) {
            let path = ColumnPath::from(field.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        let file = output::Output::create(&self.path)?;
        let schema = Arc::new(schema.map_err(failed(&self.path))?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()));
        self.writer = Some(writer.map_err(failed(&self.path))?);
        Ok(())
    }

    fn write(&mut self, batch: Batch) -> Result<(), PartsError> {
        let failed = failed(&self.path);
        let Some(writer) = &mut self.writer else { return Ok(()) };
        self.rows.add(&self.fields, &batch);
        write(writer, &self.fields, &batch).map_err(failed)
    }

    fn finish(&mut self, summary: Summary) -> Result<(), PartsError> {
        let failed = failed(&self.path);
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let text = serde_json::to_string(&summary).unwrap_or_default();
        let rows = self.rows.text();
        let digest = sealed(&text, &rows);
        for (key, value) in [(KEY, text), (ROWS, rows), (DIGEST, digest)] {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        writer.into_inner().map_err(failed)?.finish()?;
        Ok(())
    }
}

/// Writes rows.
fn write(
    writer: &mut SerializedFileWriter<output::Output>,
    fields: &[Field],
    batch: &Batch,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (field, values) in fields.iter().zip(&batch.columns) {
        let Some(mut column) = group.next_column()? else { break };
        match (column.untyped(), field.kind) {
            (ColumnWriter::Int64ColumnWriter(column), _) => {
                let values: Vec<i64> = values.iter().map(|value| *value as i64).collect();
                column.write_batch(&values, None, None)?;
            }
            (ColumnWriter::Int32ColumnWriter(column), Kind::Source) => {
                let there = |value: &u64| *value != Field::NO_SOURCE;
                let levels: Vec<i16> = values.iter().map(|value| there(value).into()).collect();
                let values = values.iter().filter(|value| there(value));
                let values: Vec<i32> = values.map(|value| *value as i32).collect();
                column.write_batch(&values, Some(&levels), None)?;
            }
            (ColumnWriter::Int32ColumnWriter(column), _) => {
                let values: Vec<i32> = values.iter().map(|value| *value as i32).collect();
                column.write_batch(&values, None, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(column), Kind::Word(words)) => {
                let words: Vec<ByteArray> = words.iter().map(|word| (*word).into()).collect();
                let word = |value: &u64| words.get(*value as usize).cloned().unwrap_or_default();
                let values: Vec<ByteArray> = values.iter().map(word).collect();
                column.write_batch(&values, None, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(column), _) => {
                let text = |value: &u64| {
                    batch.texts.get(*value as usize).map_or("", String::as_str).into()
                };
                let values: Vec<ByteArray> = values.iter().map(text).collect();
                column.write_batch(&values, None, None)?;
            }
            _ => return Err(ParquetError::General("a column of another type".into())),
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// Reads a table from a file.
pub struct ParquetInput {
    path: PathBuf,
    summary: Summary,
    /// The sum of its rows.
    rows: String,
    reader: SerializedFileReader<File>,
}

impl ParquetInput {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not the table of a part.
    pub fn open(path: &Path) -> Result<Self, PartsError> {
        let file = hartrace_capture::input::open(path).map_err(PartsError::file(path))?;
        let no_table =
            |what: String| PartsError::NoTable { name: path.display().to_string(), what };
        let reader = guarded(|| SerializedFileReader::new(file));
        let reader = reader.map_err(|error| no_table(error.to_string()))?;
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let value = |key: &str| {
            let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
            let value = pair.and_then(|pair| pair.value.as_deref());
            value.ok_or_else(|| no_table("this version of hartrace has not written it".into()))
        };
        let (text, rows) = (value(KEY)?, value(ROWS)?.to_owned());
        if value(DIGEST)? != sealed(text, &rows) {
            return Err(PartsError::Damaged { name: path.display().to_string() });
        }
        let summary = serde_json::from_str(text).map_err(|error| no_table(error.to_string()))?;
        Ok(Self { path: path.into(), summary, rows, reader })
    }

    /// Reads a row group.
    fn group(&self, number: usize, fields: &[Field]) -> Result<Batch, ParquetError> {
        let group = self.reader.get_row_group(number)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut batch = Batch::new(fields.len());
        if group.num_columns() != fields.len() {
            return Err(ParquetError::General("other columns than such a table has".into()));
        }
        for (number, field) in fields.iter().enumerate() {
            let (values, texts) = read(group.get_column_reader(number)?, field, rows)?;
            if values.len() != rows {
                return Err(ParquetError::General(format!("column {} is short", field.name)));
            }
            if let Some(column) = batch.columns.get_mut(number) {
                *column = values;
            }
            if field.kind == Kind::Text {
                batch.texts = texts;
            }
        }
        Ok(batch)
    }
}

/// Reads something. Whatever is in a damaged file must not end the process, even if the reader panics.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let damaged = |_| Err(ParquetError::General("the file is damaged".into()));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(damaged)
}

/// Reads a column: its values, and the texts that they refer to.
fn read(
    reader: ColumnReader,
    field: &Field,
    rows: usize,
) -> Result<(Vec<u64>, Vec<String>), ParquetError> {
    let wrong = || ParquetError::General(format!("column {} is of another type", field.name));
    match (reader, field.kind) {
        (ColumnReader::Int64ColumnReader(mut reader), Kind::U64) => {
            let mut values = Vec::new();
            reader.read_records(rows, None, None, &mut values)?;
            Ok((values.into_iter().map(|value| value as u64).collect(), Vec::new()))
        }
        (ColumnReader::Int32ColumnReader(mut reader), Kind::U32) => {
            let mut values = Vec::new();
            reader.read_records(rows, None, None, &mut values)?;
            Ok((values.into_iter().map(|value| u64::from(value as u32)).collect(), Vec::new()))
        }
        (ColumnReader::Int32ColumnReader(mut reader), Kind::Source) => {
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            let mut values = values.into_iter().map(|value| u64::from(value as u32));
            let value = |level| match level {
                0 => Field::NO_SOURCE,
                _ => values.next().unwrap_or(Field::NO_SOURCE),
            };
            Ok((levels.into_iter().map(value).collect(), Vec::new()))
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), kind) => {
            let mut values: Vec<ByteArray> = Vec::new();
            reader.read_records(rows, None, None, &mut values)?;
            let texts: Result<Vec<&str>, _> = values.iter().map(ByteArray::as_utf8).collect();
            let texts = texts?;
            let Kind::Word(words) = kind else {
                let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
                return Ok(((0..texts.len() as u64).collect(), texts));
            };
            let number = |text: &&str| words.iter().zip(0..).find(|(word, _)| *word == text);
            let numbers: Option<Vec<u64>> =
                texts.iter().map(|text| number(text).map(|(_, number)| number)).collect();
            Ok((numbers.ok_or_else(wrong)?, Vec::new()))
        }
        _ => Err(wrong()),
    }
}

impl Input for ParquetInput {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }

    fn read(
        &mut self,
        each: &mut dyn FnMut(Batch) -> Result<(), PartsError>,
    ) -> Result<(), PartsError> {
        let fields = self.summary.emit.fields(self.summary.complete);
        let mut rows = RowSum::default();
        for number in 0..self.reader.num_row_groups() {
            let group = guarded(|| self.group(number, &fields));
            let group = group.map_err(failed(&self.path))?;
            rows.add(&fields, &group);
            each(group)?;
        }
        match rows.text() == self.rows {
            true => Ok(()),
            false => Err(PartsError::Damaged { name: self.name() }),
        }
    }
}

impl std::fmt::Debug for ParquetInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetInput").field("path", &self.path).finish_non_exhaustive()
    }
}
