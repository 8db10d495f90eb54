/// Divides, remembers and shifts, signed and not.
#[inline(never)]
fn signed_part(a: i64, b: i64) -> i64 {
    a.wrapping_div(b | 1).wrapping_mul(31)
        ^ i64::from((a as i32).wrapping_rem(b as i32 | 1))
        ^ (a >> (b & 63))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn mix(seed: u64, rounds: u64) -> u64 {
    let mut table = [0_u16; 4];
    let (mut state, mut sum) = (seed | 1, 0_u64);
    let mut round = 0;
    while round < rounds {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let slot = &mut table[(state & 3) as usize];
        *slot = slot.wrapping_add(state as u16);
        sum = sum.rotate_left(5) ^ u64::from(*slot) ^ signed_part(state as i64, sum as i64) as u64;
        sum = sum.wrapping_add(((u128::from(state) * u128::from(sum)) >> 64) as u64 % 1_000_003);
        round += 1;
    }
    sum
}

#[cfg(target_arch = "riscv64")]
#[unsafe(no_mangle)]
extern "C" fn ask(number: u64) -> u64 {
    let answer: u64;
    unsafe { core::arch::asm!("ecall", inlateout("a0") number + 1 => answer) };
    answer + 100
}
