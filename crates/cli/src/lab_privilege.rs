//! Commands that measure the kernel's path do it in a network of their own. Without privilege they get one in a user
//! namespace, which a process has to enter before it starts a thread.

use crate::args::{Arguments, CalibratedPath, Command};
use crate::server;
use warmcore_linux::net::obtain_lab_privilege;

/// Obtains what a network for the command needs. What is refused is said by who measures over loopback then.
pub(crate) fn obtain(arguments: &Arguments) {
    if arguments.command.as_ref().is_some_and(measures_sockets) {
        obtain_lab_privilege();
    }
}

fn measures_sockets(command: &Command) -> bool {
    match command {
        Command::Study(_) => true,
        Command::Calibrate(arguments) => {
            let of_kernel = [CalibratedPath::UdpSocket, CalibratedPath::TcpSocket];
            arguments.server.is_some() || arguments.path.is_some_and(|path| of_kernel.contains(&path))
        }
        Command::Run(arguments) => server::asked(&arguments.runnable).is_some(),
        Command::Compare(arguments) => server::asked(&arguments.runnable).is_some(),
        _ => false,
    }
}
