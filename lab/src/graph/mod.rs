//! Layers put together to hosts.

pub mod rpc;
pub mod table;
pub mod tcp;

use crate::layer::Above;
use crate::switches::Switches;
use alloc::boxed::Box;
use core::hint::black_box;
use table::Table;

/// Something that lives as long as the program.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The same, without the compiler's knowing what it is: who is next is found out when a message comes by.
fn opaque<T: ?Sized>(value: &'static T) -> &'static T {
    black_box(value)
}

/// Who is above, found in a map.
fn in_table<A: Above>(key: u32, above: &'static A, switches: Switches) -> Table {
    Table::new(&[(key, opaque(above as &dyn Above))], switches.inline_cache_test)
}

/// The same, and the compiler knows what it is.
#[cfg(feature = "path-inlining")]
fn known<T>(value: &'static T) -> &'static T {
    value
}

/// Who is above, assumed.
#[cfg(feature = "path-inlining")]
fn assumed<A>(key: u32, above: &'static A, _: Switches) -> crate::layer::Assumed<A> {
    crate::layer::Assumed { key, above }
}
