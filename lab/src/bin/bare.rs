//! A host on a bare RISC-V machine, whose harness calls these functions by name.
//!
//! The harness gives frames and takes them through one buffer, tells the time, and follows `lab_send` and
//! `lab_interrupt`, the two halves of the path.

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

    use core::cell::{Cell, UnsafeCell};
    use core::panic::PanicInfo;
    use core::time::Duration;
    use warmcore_lab::graph::tcp::TcpHost;
    use warmcore_lab::layer::Lost;
    use warmcore_lab::layers::lance::MAX_FRAME;
    use warmcore_lab::switches::Switches;

    /// Something of a program with one thread.
    struct Single<T>(T);

    // SAFETY: the machine has one processor, and calls one function after the other.
    unsafe impl<T> Sync for Single<T> {}

    static HOST: Single<Cell<Option<&'static TcpHost>>> = Single(Cell::new(None));
    static FRAME: Single<UnsafeCell<[u8; MAX_FRAME]>> = Single(UnsafeCell::new([0; MAX_FRAME]));

    fn host() -> &'static TcpHost {
        HOST.0.get().expect("lab_setup comes first")
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

    /// Makes the host: a server or not, with the switches of `bits`.
    #[unsafe(no_mangle)]
    extern "C" fn lab_setup(is_server: u64, bits: u64) {
        let host = TcpHost::new(is_server != 0, Switches::from_bits(bits));
        HOST.0.set(Some(alloc::boxed::Box::leak(alloc::boxed::Box::new(host))));
    }

    /// Where frames are exchanged.
    #[unsafe(no_mangle)]
    extern "C" fn lab_frame() -> *mut u8 {
        FRAME.0.get().cast()
    }

    /// The adaptor's next frame, if there is one: its length.
    #[unsafe(no_mangle)]
    extern "C" fn lab_take() -> u64 {
        host().adaptor().take(frame()).unwrap_or(0) as u64
    }

    /// Gives the adaptor a frame of `length` bytes. Returns whether there was space.
    #[unsafe(no_mangle)]
    extern "C" fn lab_put(length: u64) -> u64 {
        u64::from(host().adaptor().put(&frame()[..(length as usize).min(MAX_FRAME)]))
    }

    /// Sets the clock, in microseconds, and does what is due.
    #[unsafe(no_mangle)]
    extern "C" fn lab_time(micros: u64) {
        host().host().now.set(Duration::from_micros(micros));
        host().expire();
    }

    /// Sends what the connection has to send of itself.
    #[unsafe(no_mangle)]
    extern "C" fn lab_begin() -> u64 {
        status(host().begin())
    }

    /// The path down.
    #[unsafe(no_mangle)]
    extern "C" fn lab_send() -> u64 {
        status(host().send())
    }

    /// The path up.
    #[unsafe(no_mangle)]
    extern "C" fn lab_interrupt() -> u64 {
        status(host().interrupt())
    }

    /// Whether the connection is established.
    #[unsafe(no_mangle)]
    extern "C" fn lab_is_open() -> u64 {
        u64::from(host().is_open())
    }

    /// How many messages the test has received.
    #[unsafe(no_mangle)]
    extern "C" fn lab_received() -> u64 {
        host().counts().received.get()
    }

    /// How many of these were not what it expected.
    #[unsafe(no_mangle)]
    extern "C" fn lab_unexpected() -> u64 {
        host().counts().unexpected.get()
    }

    extern crate alloc;

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        // SAFETY: the instruction stops the machine, and changes nothing.
        unsafe { core::arch::asm!("ebreak", options(noreturn)) }
    }
}
