//! What holds for the workspace as a whole, and no compiler checks.

mod licences;
mod rooms;
