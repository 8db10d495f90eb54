//! Metrics in the Prometheus text format, version 0.0.4, and the page that serves them.

mod endpoint;
mod family;
#[cfg(feature = "scenario")]
mod run;

pub use endpoint::{CONTENT_TYPE, Endpoint, EndpointError, address};
pub(crate) use family::{counter, family, gauge, label};
#[cfg(feature = "scenario")]
pub use run::text;
