//! Transfers between accounts: each touches two of them, and an audit touches all.
//!
//! Transfers of different accounts run in parallel, and no account has a lock. An audit runs alone, and
//! so sees all money. The program fails if any is missing.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_dispatch::{Dispatcher, Turn};

const ACCOUNTS: usize = 64;
const TRANSFERS: u64 = 20_000;
const OPENING: u64 = 100;
const AUDIT_EVERY: u64 = 1_000;

enum Order {
    /// From an account, to another.
    Transfer {
        from: usize,
        to: usize,
        amount: u64,
    },
    Audit,
}

/// Atomics only because they are shared. Loads and stores do, as a key is never handled twice at once.
struct Bank {
    balances: Vec<AtomicU64>,
    audits: AtomicU64,
    refused: AtomicU64,
    wrong: AtomicU64,
}

impl Bank {
    fn handle(&self, order: Order) {
        match order {
            Order::Transfer { from, to, amount } => self.transfer(from, to, amount),
            Order::Audit => {
                self.audits.fetch_add(1, Ordering::Relaxed);
                if self.total() != ACCOUNTS as u64 * OPENING {
                    self.wrong.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    fn transfer(&self, from: usize, to: usize, amount: u64) {
        let (payer, payee) = (&self.balances[from], &self.balances[to]);
        let Some(rest) = payer.load(Ordering::Relaxed).checked_sub(amount) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        // The money is nowhere in between: an audit that ran now would miss it.
        payer.store(rest, Ordering::Relaxed);
        payee.store(payee.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
    }

    fn total(&self) -> u64 {
        self.balances.iter().map(|balance| balance.load(Ordering::Relaxed)).sum()
    }
}

fn main() -> ExitCode {
    let bank = Bank {
        balances: (0..ACCOUNTS).map(|_| AtomicU64::new(OPENING)).collect(),
        audits: AtomicU64::new(0),
        refused: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
    };
    let handler = |_: &Turn<'_, usize, Order>, order| bank.handle(order);
    let done = Dispatcher::<usize, Order>::builder().scope(handler, |orders| {
        let mut random = 1;
        for number in 1..=TRANSFERS {
            let (from, to) = (draw(&mut random) as usize % ACCOUNTS, draw(&mut random) as usize % ACCOUNTS);
            let amount = draw(&mut random) % (OPENING / 2);
            orders
                .dispatch_keys([from, to], Order::Transfer { from, to, amount })
                .map_err(|error| error.to_string())?;
            if number % AUDIT_EVERY == 0 {
                orders.dispatch_sequential(Order::Audit).map_err(|error| error.to_string())?;
            }
        }
        Ok::<_, String>(())
    });
    if let Err(error) = done.map_err(|error| error.to_string()).and_then(|sent| sent) {
        eprintln!("bank: {error}");
        return ExitCode::FAILURE;
    }
    let (audits, wrong) = (bank.audits.into_inner(), bank.wrong.into_inner());
    let total: u64 = bank.balances.iter().map(|balance| balance.load(Ordering::Relaxed)).sum();
    let expected = ACCOUNTS as u64 * OPENING;
    println!("transfers: {TRANSFERS}, of which refused: {}", bank.refused.into_inner());
    println!("audits: {audits}, of which wrong: {wrong}");
    println!("total: {total}, expected: {expected}");
    if total == expected && wrong == 0 && audits == TRANSFERS / AUDIT_EVERY {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The next of a row of numbers that look random, the same in every run (Knuth, The Art of Computer
/// Programming, vol. 2, §3.3.4, table 1, line 26).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *state >> 33
}
