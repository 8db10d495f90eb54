//! Mosberger, Peterson, Bridges & O'Malley 1996: "Analysis of Techniques to Improve Protocol Processing Latency". Tables 1
//! to 9, and what the text says of them.

pub mod points;

pub use points::{
    Build, CacheCounts, Classified, Improvement, Measurements, Point, Run, Saving, Stack, Stages,
};
