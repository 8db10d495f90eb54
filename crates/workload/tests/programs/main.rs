//! The parallel programs on plain memory: they compute right answers on any number of processors, notice wrong ones, and
//! refuse impossible sizes.

mod counted;
mod right;
mod sizes;
mod small;
mod threads;
mod uniprocessor;
