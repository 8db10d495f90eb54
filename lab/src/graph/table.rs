//! Layers that find the one above in a map.

use crate::layer::{Above, Demux};
use crate::map::Map;
use alloc::vec::Vec;

/// Who is above, by what a header says.
pub struct Table {
    map: Map,
    above: Vec<&'static dyn Above>,
    inline_test: bool,
}

impl Table {
    /// Everybody in `above`. The cached entry of the map is tested inline if `inline_test` says so.
    #[must_use]
    pub fn new(above: &[(u32, &'static dyn Above)], inline_test: bool) -> Self {
        let map = Map::default();
        for (index, (key, _)) in above.iter().enumerate() {
            map.bind(&key.to_be_bytes(), index as u32);
        }
        Self { map, above: above.iter().map(|&(_, above)| above).collect(), inline_test }
    }
}

impl Demux for Table {
    type Above = dyn Above;

    #[inline(always)]
    fn find(&self, key: u32) -> Option<&'static dyn Above> {
        let index = self.map.resolve(&key.to_be_bytes(), self.inline_test)?;
        self.above.get(index as usize).copied()
    }
}
