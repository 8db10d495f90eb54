//! Which row lies in which file: a function of the number of rows, and of what they are divided by.

use std::collections::HashMap;

/// A file holds at least this many rows, if there are as many.
const FEWEST: u64 = 64;
/// A file holds at most this many rows: some megabytes, and what is kept in memory until it is written.
const MOST: u64 = 8_192;
/// About how many files a data set of a size between has.
const FILES: u64 = 64;

/// A file and its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its path in the data set's folder.
    pub file: String,
    /// The numbers of its rows, ascending.
    pub rows: Vec<u32>,
}

/// The files of a data set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    parts: Vec<Part>,
    part_of: Vec<u32>,
}

impl Layout {
    /// Files of consecutive rows.
    #[must_use]
    pub fn new(rows: u32) -> Self {
        Self::divided(rows, vec![(String::new(), (0..rows).collect())])
    }

    /// A folder `field=value` for each value that `value` gives for a row, as data tools read them (hive).
    pub fn partitioned(rows: u32, field: &str, value: impl Fn(u32) -> String) -> Self {
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        let mut places = HashMap::new();
        for row in 0..rows {
            let value = value(row);
            let place = *places.entry(value.clone()).or_insert_with(|| {
                groups.push((format!("{}={}/", escaped(field), escaped(&value)), Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(row);
        }
        Self::divided(rows, groups)
    }

    fn divided(rows: u32, groups: Vec<(String, Vec<u32>)>) -> Self {
        let each = u64::from(rows).div_ceil(FILES).next_power_of_two().clamp(FEWEST, MOST) as usize;
        let mut parts: Vec<Part> = Vec::new();
        for (folder, group) in groups {
            for chunk in group.chunks(each) {
                parts.push(Part {
                    file: format!("{folder}part-{:05}.parquet", parts.len()),
                    rows: chunk.to_vec(),
                });
            }
        }
        let mut part_of = vec![0; rows as usize];
        for (number, part) in parts.iter().enumerate() {
            part.rows.iter().for_each(|&row| part_of[row as usize] = number as u32);
        }
        Self { parts, part_of }
    }

    /// The files, in the order of their numbers.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.part_of.len() as u64
    }

    /// The number of the file with this `row`.
    #[must_use]
    pub fn part_of(&self, row: u64) -> Option<usize> {
        Some(*self.part_of.get(usize::try_from(row).ok()?)? as usize)
    }
}

/// `text` as a part of a path that every tool reads back: other characters as `%XX`.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    let shown = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_fixed_number_of_rows() {
        let layout = Layout::new(150);
        let sizes: Vec<usize> = layout.parts().iter().map(|part| part.rows.len()).collect();
        assert_eq!(sizes, [64, 64, 22]);
        assert_eq!((layout.part_of(63), layout.part_of(64), layout.part_of(150)), (Some(0), Some(1), None));
        assert_eq!(Layout::new(1_000_000).parts().len(), 123);
    }

    #[test]
    fn a_partition_has_a_folder_for_each_value() {
        let layout =
            Layout::partitioned(4, "traffic.process", |row| ["a", "b/c"][row as usize % 2].to_owned());
        let files: Vec<&str> = layout.parts().iter().map(|part| part.file.as_str()).collect();
        assert_eq!(
            files,
            ["traffic.process=a/part-00000.parquet", "traffic.process=b%2Fc/part-00001.parquet"]
        );
        assert_eq!(layout.parts()[1].rows, [1, 3]);
    }
}
