//! Transfers between accounts: each touches two of them, and an audit touches all.
//!
//! Transfers of different accounts run in parallel, and no account has a lock: a handler is given the accounts that its
//! order touches. An audit is given all of them, and so sees all money. The program fails if any is missing.

use std::process::ExitCode;
use warmcore_dispatch::{Dispatcher, Several, Turn};

const ACCOUNTS: usize = 64;
const TRANSFERS: u64 = 20_000;
const OPENING: u64 = 100;
const AUDIT_EVERY: u64 = 1_000;

enum Order {
    /// From the first account, to the second.
    Transfer {
        amount: u64,
    },
    Audit,
}

/// An account, and what it has seen.
#[derive(Default)]
struct Account {
    balance: u64,
    refused: u64,
    audits: u64,
    wrong: u64,
}

fn transfer(accounts: &mut [&mut Account], amount: u64) {
    // To itself, an order touches one account.
    let [payer, payee] = accounts else { return };
    match payer.balance.checked_sub(amount) {
        Some(rest) => {
            payer.balance = rest;
            // The money is nowhere in between: an audit that ran now would miss it.
            payee.balance += amount;
        }
        None => payer.refused += 1,
    }
}

fn audit(accounts: &mut [&mut Account]) {
    let total: u64 = accounts.iter().map(|account| account.balance).sum();
    // The first account keeps the books.
    accounts[0].audits += 1;
    accounts[0].wrong += u64::from(total != ACCOUNTS as u64 * OPENING);
}

fn main() -> ExitCode {
    let handle = |_: &Turn<'_, usize, Order>, accounts: &mut [&mut Account], order: Order| match order {
        Order::Transfer { amount } => transfer(accounts, amount),
        Order::Audit => audit(accounts),
    };
    let open = |_: &usize| Account { balance: OPENING, ..Account::default() };
    let done = Dispatcher::<usize, Order>::builder().state(open).scope(Several(handle), |orders| {
        let mut random = 1;
        for number in 1..=TRANSFERS {
            let (from, to) = (draw(&mut random) as usize % ACCOUNTS, draw(&mut random) as usize % ACCOUNTS);
            let amount = draw(&mut random) % (OPENING / 2);
            orders
                .dispatch_keys([from, to], Order::Transfer { amount })
                .map_err(|error| error.to_string())?;
            if number % AUDIT_EVERY == 0 {
                orders.dispatch_keys(0..ACCOUNTS, Order::Audit).map_err(|error| error.to_string())?;
            }
        }
        Ok::<_, String>(())
    });
    let accounts = match done.map_err(|error| error.to_string()) {
        Ok((Ok(()), accounts)) => accounts,
        Ok((Err(error), _)) | Err(error) => {
            eprintln!("bank: {error}");
            return ExitCode::FAILURE;
        }
    };
    let sum = |of: fn(&Account) -> u64| accounts.values().map(of).sum::<u64>();
    let (total, expected) = (sum(|account| account.balance), ACCOUNTS as u64 * OPENING);
    let (audits, wrong) = (sum(|account| account.audits), sum(|account| account.wrong));
    println!("transfers: {TRANSFERS}, of which refused: {}", sum(|account| account.refused));
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
