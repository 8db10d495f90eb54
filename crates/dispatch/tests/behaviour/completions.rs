//! Closures as events, and results.

use crate::BINDINGS;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_dispatch::{Completion, Dispatcher, Job, NotHandled, Overload, Request, Turn, WaitError};

#[test]
fn closures_run_in_the_order_of_their_keys_and_may_borrow() {
    for rule in BINDINGS {
        let last: Vec<AtomicU64> = (0..5).map(|_| AtomicU64::new(0)).collect();
        let sums = Dispatcher::<u64, Job<'_, u64>>::builder().workers(2).binding(rule);
        let more = sums.scope(Job::run, |dispatcher| {
            for number in 1..=1_000 {
                for (key, last) in last.iter().enumerate() {
                    let done = dispatcher.execute(key as u64, move |turn| {
                        assert_eq!(turn.key(), Some(&(key as u64)));
                        assert_eq!(last.swap(number, Ordering::Relaxed), number - 1, "out of order");
                    });
                    done.unwrap();
                }
            }
            // One that dispatches another, which comes after all of these.
            let last = &last;
            let sum = move || last.iter().map(|last| last.load(Ordering::Relaxed)).sum::<u64>();
            dispatcher.wait_idle().unwrap();
            let sum = dispatcher.submit(2, move |turn| turn.submit(3, move |_| sum()).unwrap());
            let sum = sum.unwrap().wait().unwrap().wait();
            assert_eq!(dispatcher.panics(), []);
            sum
        });
        assert_eq!(more.unwrap(), Ok(5_000), "{rule:?}");
    }
}

#[test]
fn tasks_await_a_place_and_then_the_result() {
    let double = |_: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
        assert_ne!(number, 13, "unlucky");
        2 * number
    };
    let doubles = Dispatcher::<u64, Request<u64, u64>>::builder().workers(2).capacity(4);
    let doubles = doubles.build(Request::answered_by(double)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut answers = Vec::new();
        for number in 0..100 {
            let (request, answer) = Request::new(number);
            doubles.dispatch_async(number % 7, request).await.unwrap();
            answers.push(answer);
        }
        for (number, answer) in (0..).zip(answers) {
            let expected = if number == 13 { Err(NotHandled) } else { Ok(2 * number) };
            assert_eq!(answer.await, expected);
        }
    });
    assert_eq!(doubles.panics().len(), 1);
}

#[test]
fn who_waits_for_an_event_that_is_not_handled_is_told() {
    let answer = |_: &Turn<'_, u64, Request<u64, u64>>, number: u64| number;
    let builder = || Dispatcher::<u64, Request<u64, u64>>::builder().workers(1);
    let closed = builder().build(Request::answered_by(answer)).unwrap();
    closed.close();
    let (request, refused) = Request::new(1);
    drop(closed.dispatch(1, request));
    assert_eq!(refused.wait(), Err(WaitError::NotHandled));

    // One worker that waits for the second of two events before it comes to it.
    let (told, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let stuck = move |_: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
        wait.lock().unwrap().recv().unwrap();
        number
    };
    let shedding = builder().capacity(2).overload(Overload::Shed).build(Request::answered_by(stuck)).unwrap();
    let answers: Vec<_> = (0..10)
        .map(|number| {
            let (request, answer) = Request::new(number);
            shedding.dispatch(1, request).unwrap();
            answer
        })
        .collect();
    (0..10).for_each(|_| told.send(()).unwrap());
    let shed = answers.into_iter().map(Completion::wait).filter(Result::is_err).count();
    assert_eq!(shed as u64, shedding.stats().shed);
    assert!(shed >= 7, "{shed}");
}
