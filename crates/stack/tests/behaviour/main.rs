//! Tests of the stack as a whole, in all its forms.

mod any_input;
mod arp;
mod conversations;
mod drops;
mod forms;
mod independent_encoder;
mod locks;
mod multiple_open;
mod rpc;
mod streams;
mod tcp;
mod threads;
