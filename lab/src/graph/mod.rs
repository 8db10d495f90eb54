//! Layers put together to hosts.

pub mod table;
pub mod tcp;

use alloc::boxed::Box;
use core::hint::black_box;

/// Something that lives as long as the program.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The same, without the compiler's knowing what it is: who is next is found out when a message comes by.
fn opaque<T: ?Sized>(value: &'static T) -> &'static T {
    black_box(value)
}
