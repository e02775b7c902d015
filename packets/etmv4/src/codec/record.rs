use crate::table::{Field, FieldName, Section, Sections};

const FIELDS: usize = FieldName::ALL.len();

/// A packet in the terms of the table: its sections, and the values of its fields.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    values: [u64; FIELDS],
    /// The fields that are present, one bit each.
    given: u64,
    pub(crate) sections: Sections,
    /// Bytes of the first section, where the packet may choose their number.
    pub(crate) first: Option<u8>,
}

impl Record {
    pub(crate) const NONE: Self =
        Self { values: [0; FIELDS], given: 0, sections: Sections::NONE, first: None };

    /// The value of a field; 0 if it is absent.
    #[inline]
    pub(crate) fn get(&self, name: FieldName) -> u64 {
        self.values.get(name as usize).copied().unwrap_or(0)
    }

    /// Whether a field is not 0.
    #[inline]
    pub(crate) fn is(&self, name: FieldName) -> bool {
        self.get(name) != 0
    }

    /// Whether the packet has a field.
    #[inline]
    pub(crate) fn has(&self, name: FieldName) -> bool {
        self.given.wrapping_shr(name as u32) & 1 != 0
    }

    /// Records a section of this many bytes.
    #[inline]
    pub(crate) fn add(&mut self, section: Section, count: u8) {
        if self.sections.is_empty() {
            self.first = Some(count);
        }
        self.sections = self.sections.with(section);
    }

    /// Number of bytes of the first section that was read.
    #[inline]
    pub(crate) fn first_len(&self) -> u8 {
        self.first.unwrap_or(0)
    }

    /// Records a field.
    #[inline]
    pub(crate) fn extract(&mut self, field: &Field, number: u64) {
        if let Some(value) = self.values.get_mut(field.name as usize) {
            *value |= field.extract(number);
            self.given |= 1u64.wrapping_shl(field.name as u32);
        }
    }

    /// Removes a part of a field, to write it.
    pub(crate) fn remove(&mut self, field: &Field) -> u64 {
        let Some(value) = self.values.get_mut(field.name as usize) else { return 0 };
        let number = field.insert(*value);
        *value &= !field.mask();
        self.given &= !1u64.wrapping_shl(field.name as u32);
        number
    }

    /// Whether all bits of all fields have been removed.
    pub(crate) fn is_done(&self) -> bool {
        self.given == 0 && self.values.iter().all(|value| *value == 0)
    }

    /// Adds a section.
    pub(crate) fn with(self, section: Section) -> Self {
        Self { sections: self.sections.with(section), ..self }
    }

    /// Adds a field.
    pub(crate) fn set(mut self, name: FieldName, value: impl Into<u64>) -> Self {
        if let Some(to) = self.values.get_mut(name as usize) {
            *to = value.into();
            self.given |= 1u64.wrapping_shl(name as u32);
        }
        self
    }

    /// Sets the number of bytes of the first section.
    pub(crate) fn first(self, first: Option<u8>) -> Self {
        Self { first, ..self }
    }

    /// Adds a section and its field, if there is a value.
    pub(crate) fn with_some(
        self,
        section: Section,
        name: FieldName,
        value: Option<impl Into<u64>>,
    ) -> Self {
        match value {
            Some(value) => self.with(section).set(name, value),
            None => self,
        }
    }
}
