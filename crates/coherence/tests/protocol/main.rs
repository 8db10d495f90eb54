//! The protocol on clusters: as a table, under a model checker, with defects, and on random schedules.

mod checked;
mod cluster;
mod defect;
mod model;
mod network;
mod random;
mod rules;
mod table;
