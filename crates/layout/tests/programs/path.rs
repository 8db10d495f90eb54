/// A layer with tables of methods above, so that calls go through data.
trait Layer {
    fn input(&self, message: u64) -> u64;
}

struct Adds(u64);
struct Multiplies(u64);

impl Layer for Adds {
    #[inline(never)]
    fn input(&self, message: u64) -> u64 {
        checksum(message.wrapping_add(self.0))
    }
}

impl Layer for Multiplies {
    #[inline(never)]
    fn input(&self, message: u64) -> u64 {
        checksum(message).wrapping_mul(self.0) ^ descend(message & 7)
    }
}

static LAYERS: [&(dyn Layer + Sync); 2] = [&Adds(3), &Multiplies(7)];
static mut COUNT: u64 = 5;

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn checksum(message: u64) -> u64 {
    unsafe {
        COUNT += 1;
        COUNT ^ message.rotate_left(9)
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn descend(depth: u64) -> u64 {
    if depth == 0 { 1 } else { descend(depth - 1) ^ checksum(depth) }
}

#[unsafe(no_mangle)]
extern "C" fn path(rounds: u64, seed: u64) -> u64 {
    let (mut state, mut round) = (seed, 0);
    let chosen: extern "C" fn(u64) -> u64 = if seed & 1 == 0 { checksum } else { descend };
    while round < rounds {
        state = LAYERS[(state & 1) as usize].input(state);
        state ^= core::hint::black_box(chosen)(state & 3);
        round += 1;
    }
    state
}

#[unsafe(no_mangle)]
extern "C" fn table(number: u64) -> u64 {
    match number {
        0 => checksum(2),
        1 => checksum(3) ^ 3,
        2 => checksum(17) + 1,
        3 => checksum(9) * 3,
        4 => checksum(8) - 5,
        5 => descend(1),
        6 => 77,
        _ => 3,
    }
}

core::arch::global_asm!(
    ".pushsection .text.by_hand, \"ax\"",
    ".globl falls, blind, odd",
    ".type falls, @function",
    "falls: addi a0, a0, 1",
    ".size falls, 4",
    ".type blind, @function",
    "blind: auipc a0, 0",
    "ret",
    ".size blind, 8",
    ".type odd, @function",
    "odd: .word 0x0000707b",
    "ret",
    ".size odd, 8",
    ".option push",
    ".option pic",
    ".globl through",
    ".type through, @function",
    "through: la a1, checksum",
    "jr a1",
    ".size through, . - through",
    ".option pop",
    ".popsection",
);
