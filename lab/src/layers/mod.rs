//! The layers, from the adaptor to the tests. Each has one file, with its way down and its way up.

pub mod bid;
pub mod blast;
pub mod chan;
pub mod eth;
pub mod ip;
pub mod lance;
pub mod mselect;
pub mod tcp;
pub mod tcptest;
pub mod vchan;
pub mod vnet;
pub mod xrpctest;

/// Attributes of a layer's `push` and `pop`: inlined into the path, or a function of its own.
#[macro_export]
macro_rules! on_path {
    ($($item:tt)*) => {
        #[cfg_attr(feature = "path-inlining", inline(always))]
        #[cfg_attr(not(feature = "path-inlining"), inline(never))]
        $($item)*
    };
}
