//! VNET: a virtual network that routes messages to the right adaptor (O'Malley & Peterson 1992).

use crate::layer::{Above, Below, Lost};
use crate::message::Message;
use crate::on_path;
use core::hint::cold_path;

/// The way down: chooses the adaptor.
pub struct VnetOut<B: Below + ?Sized + 'static> {
    /// The network of each adaptor: its address and mask.
    pub routes: [Option<Route<B>>; 2],
    /// Where messages go.
    pub destination: u32,
}

/// A network that an adaptor is on.
pub struct Route<B: Below + ?Sized + 'static> {
    /// The network.
    pub network: u32,
    /// The bits of addresses that are the network's.
    pub mask: u32,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for VnetOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            for route in self.routes.iter().flatten() {
                if self.destination & route.mask == route.network {
                    return route.below.push(message);
                }
            }
            cold_path();
            Err(Lost::Unclaimed)
        }
    }
}

/// The way up: all networks are one.
pub struct VnetIn<A: Above + ?Sized + 'static> {
    /// Who is above.
    pub above: &'static A,
}

impl<A: Above + ?Sized> Above for VnetIn<A> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            self.above.pop(message)
        }
    }
}
