//! A host on a bare RISC-V machine, whose harness calls these functions by name.
//!
//! The harness gives frames and takes them through one buffer, tells the time, and follows `lab_tcp_send` and
//! `lab_tcp_interrupt`, the two halves of the path, or those of RPC.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this program is for a bare machine: build it with scripts/build-lab");
    std::process::exit(2);
}

#[cfg(target_os = "none")]
mod bare {
    mod heap;
    mod memory;

    use alloc::boxed::Box;
    use core::cell::{Cell, UnsafeCell};
    use core::panic::PanicInfo;
    use core::time::Duration;
    use warmcore_lab::graph::rpc::RpcHost;
    use warmcore_lab::graph::tcp::TcpHost;
    use warmcore_lab::host;
    use warmcore_lab::layer::Lost;
    use warmcore_lab::layers::lance::{Adaptor, MAX_FRAME};
    use warmcore_lab::layers::tcptest::Counts;
    use warmcore_lab::switches::Switches;

    /// Something of a program with one thread.
    struct Single<T>(T);

    // SAFETY: the machine has one processor, and calls one function after the other.
    unsafe impl<T> Sync for Single<T> {}

    static TCP: Single<Cell<Option<&'static TcpHost>>> = Single(Cell::new(None));
    static RPC: Single<Cell<Option<&'static RpcHost>>> = Single(Cell::new(None));
    static FRAME: Single<UnsafeCell<[u8; MAX_FRAME]>> = Single(UnsafeCell::new([0; MAX_FRAME]));

    fn tcp() -> &'static TcpHost {
        TCP.0.get().expect("lab_setup_tcp comes first")
    }

    fn rpc() -> &'static RpcHost {
        RPC.0.get().expect("lab_setup_rpc comes first")
    }

    /// What both stacks have, of the one that was set up.
    struct Common {
        adaptor: &'static Adaptor,
        host: &'static host::Host,
        counts: &'static Counts,
    }

    fn common() -> Common {
        match TCP.0.get() {
            Some(tcp) => Common { adaptor: tcp.adaptor(), host: tcp.host(), counts: tcp.counts() },
            None => Common { adaptor: rpc().adaptor(), host: rpc().host(), counts: rpc().counts() },
        }
    }

    fn frame() -> &'static mut [u8; MAX_FRAME] {
        // SAFETY: only one function runs at a time, and none keeps the reference.
        unsafe { &mut *FRAME.0.get() }
    }

    const fn status(result: Result<(), Lost>) -> u64 {
        match result {
            Ok(()) => 0,
            Err(Lost::Malformed) => 1,
            Err(Lost::Unclaimed) => 2,
            Err(Lost::NoSpace) => 3,
        }
    }

    /// Makes a host with the TCP/IP stack: a server or not, with the switches of `bits`.
    #[unsafe(no_mangle)]
    extern "C" fn lab_setup_tcp(is_server: u64, bits: u64) {
        let host = TcpHost::new(is_server != 0, Switches::from_bits(bits));
        TCP.0.set(Some(Box::leak(Box::new(host))));
    }

    /// Makes a host with the RPC stack.
    #[unsafe(no_mangle)]
    extern "C" fn lab_setup_rpc(is_server: u64, bits: u64) {
        let host = RpcHost::new(is_server != 0, Switches::from_bits(bits));
        RPC.0.set(Some(Box::leak(Box::new(host))));
    }

    /// Where frames are exchanged.
    #[unsafe(no_mangle)]
    extern "C" fn lab_frame() -> *mut u8 {
        FRAME.0.get().cast()
    }

    /// The adaptor's next frame, if there is one: its length.
    #[unsafe(no_mangle)]
    extern "C" fn lab_take() -> u64 {
        common().adaptor.take(frame()).unwrap_or(0) as u64
    }

    /// Gives the adaptor a frame of `length` bytes. Returns whether there was space.
    #[unsafe(no_mangle)]
    extern "C" fn lab_put(length: u64) -> u64 {
        u64::from(common().adaptor.put(&frame()[..(length as usize).min(MAX_FRAME)]))
    }

    /// Sets the clock, in microseconds, and does what is due.
    #[unsafe(no_mangle)]
    extern "C" fn lab_time(micros: u64) {
        common().host.now.set(Duration::from_micros(micros));
        match TCP.0.get() {
            Some(tcp) => tcp.expire(),
            None => rpc().expire(),
        }
    }

    /// Sends what a TCP connection has to send of itself: the first segment of a client.
    #[unsafe(no_mangle)]
    extern "C" fn lab_tcp_begin() -> u64 {
        status(tcp().begin())
    }

    /// Whether the TCP connection is established.
    #[unsafe(no_mangle)]
    extern "C" fn lab_tcp_is_open() -> u64 {
        u64::from(tcp().is_open())
    }

    /// The path down of TCP/IP.
    #[unsafe(no_mangle)]
    extern "C" fn lab_tcp_send() -> u64 {
        status(tcp().send())
    }

    /// The path up of TCP/IP.
    #[unsafe(no_mangle)]
    extern "C" fn lab_tcp_interrupt() -> u64 {
        status(tcp().interrupt())
    }

    /// The path down of RPC.
    #[unsafe(no_mangle)]
    extern "C" fn lab_rpc_send() -> u64 {
        status(rpc().send())
    }

    /// The path up of RPC.
    #[unsafe(no_mangle)]
    extern "C" fn lab_rpc_interrupt() -> u64 {
        status(rpc().interrupt())
    }

    /// How many messages the test has received.
    #[unsafe(no_mangle)]
    extern "C" fn lab_received() -> u64 {
        common().counts.received.get()
    }

    /// How many of these were not what it expected.
    #[unsafe(no_mangle)]
    extern "C" fn lab_unexpected() -> u64 {
        common().counts.unexpected.get()
    }

    extern crate alloc;

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        // SAFETY: the instruction stops the machine, and changes nothing.
        unsafe { core::arch::asm!("ebreak", options(noreturn)) }
    }
}
