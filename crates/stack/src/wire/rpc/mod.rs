//! Headers of the RPC layers: what [`rpc`](crate::rpc) prepends to messages and strips from them.
//!
//! ```text
//!  BLAST 16 │ BID 12 │ CHAN 8 │ MSELECT 4 │ arguments or results      (bytes)
//! ```
//!
//! VCHAN has no header. All numbers are big-endian. A message of several fragments has the BLAST header
//! in each of them, and the others only in the first. The layers of the x-kernel have these headers in
//! substance (O'Malley & Peterson 1992), but not in this layout.

pub mod bid;
pub mod blast;
pub mod chan;
pub mod mselect;
