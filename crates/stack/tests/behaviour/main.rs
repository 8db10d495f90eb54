//! What must hold for the stack as a whole, in all its forms.

mod any_input;
mod drops;
mod forms;
mod independent_encoder;
mod locks;
mod streams;
mod threads;
