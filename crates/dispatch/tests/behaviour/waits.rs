//! Waits that end, or say why they cannot.

use core::time::Duration;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use warmcore_dispatch::{
    Binding, Completion, DispatchError, Dispatcher, Handle, Handler, Job, NotHandled, Request, Turn,
    WaitError,
};

const LONG: Duration = Duration::from_secs(60);

type Jobs = Dispatcher<u64, Job<'static, u64>>;
type Requests = Handle<u64, Request<u64, u64>>;

fn jobs(workers: usize, binding: Binding) -> Jobs {
    Dispatcher::<u64, Job<'static, u64>>::builder().workers(workers).binding(binding).build(Job::run).unwrap()
}

/// What a handler was told that waited.
fn told<T>(answer: &Receiver<T>) -> T {
    answer.recv_timeout(LONG).expect("the wait ends")
}

#[test]
fn a_handler_that_waits_for_an_event_behind_its_own_is_told() {
    for (workers, key) in [(4, 1), (1, 2)] {
        let jobs = jobs(workers, Binding::Dynamic);
        let (tell, answer) = channel();
        let wait = move |turn: &Turn<'_, u64, Job<'static, u64>>| {
            let mut own = turn.submit(key, |_| 7).unwrap();
            tell.send(own.wait_timeout(LONG)).unwrap();
            tell.send(Some(own.wait())).unwrap();
        };
        jobs.execute(1, wait).unwrap();
        assert_eq!(told(&answer), Some(Err(WaitError::WaitsForItself)), "{workers} workers");
        assert_eq!(told(&answer), Some(Err(WaitError::WaitsForItself)), "{workers} workers");
    }
}

#[test]
fn a_handler_may_wait_for_what_another_worker_handles() {
    let jobs = jobs(2, Binding::Dynamic);
    for _ in 0..1_000 {
        let sum = jobs.submit(1, |turn| turn.submit(2, |_| 7).unwrap().wait()).unwrap();
        assert_eq!(sum.wait(), Ok(Ok(7)));
    }
}

/// All workers but one wait, and what they wait for has ended when that one waits too: it is not told of a circle.
#[test]
fn who_waits_last_is_not_told_of_waits_that_are_over() {
    let jobs = jobs(2, Binding::Dynamic);
    for round in 0..2_000 {
        let (give, take) = channel::<Completion<u64>>();
        let first = jobs.submit(1, move |_| take.recv().unwrap().wait()).unwrap();
        let second = jobs.submit(2, |_| 1).unwrap();
        let third = jobs.submit(2, |turn| turn.submit(3, |_| 2).unwrap().wait()).unwrap();
        give.send(second).unwrap();
        assert_eq!(first.wait(), Ok(Ok(1)), "round {round}");
        assert_eq!(third.wait(), Ok(Ok(2)), "round {round}");
    }
}

#[test]
fn the_last_of_workers_that_all_wait_is_told() {
    let jobs = jobs(3, Binding::Dynamic);
    let (tell, answer) = channel();
    let all = Arc::new(Barrier::new(3));
    for key in 0..3 {
        let (tell, all) = (tell.clone(), all.clone());
        let wait = move |turn: &Turn<'_, u64, Job<'static, u64>>| {
            all.wait();
            tell.send(turn.submit(10 + key, |_| 7).unwrap().wait()).unwrap();
        };
        jobs.execute(key, wait).unwrap();
    }
    let answers = [told(&answer), told(&answer), told(&answer)];
    assert!(answers.contains(&Err(WaitError::WaitsForItself)), "{answers:?}");
    assert!(answers.contains(&Ok(7)), "{answers:?}");
}

/// Two handlers wait for an event with the key of the other, while a third worker is free.
#[test]
fn a_circle_of_two_handlers_is_told() {
    let jobs = jobs(3, Binding::Dynamic);
    let (tell, answer) = channel();
    let both = Arc::new(Barrier::new(2));
    for key in 0..2 {
        let (tell, both) = (tell.clone(), both.clone());
        let wait = move |turn: &Turn<'_, u64, Job<'static, u64>>| {
            both.wait();
            tell.send(turn.submit(1 - key, |_| 7).unwrap().wait()).unwrap();
        };
        jobs.execute(key, wait).unwrap();
    }
    assert_eq!(told(&answer), Err(WaitError::WaitsForItself));
    assert_eq!(told(&answer), Ok(7));
}

/// Under static binding, only one worker may handle what is waited for, whichever are free.
#[test]
fn a_handler_that_waits_for_an_event_of_its_own_worker_is_told() {
    let jobs = jobs(2, Binding::Static);
    let workers = (0..40).map(|key| jobs.submit(key, |turn| turn.worker() as u64).unwrap().wait().unwrap());
    let workers: Vec<u64> = workers.collect();
    let with = |worker: u64| workers.iter().rposition(|&other| other == worker).unwrap() as u64;
    for (other, expected) in
        [(with(workers[0]), Err(WaitError::WaitsForItself)), (with(1 - workers[0]), Ok(7))]
    {
        let answer = jobs.submit(0, move |turn| turn.submit(other, |_| 7).unwrap().wait());
        assert_eq!(answer.unwrap().wait(), Ok(expected));
    }
}

/// What a handler has dispatched may wait for it, and so does what it dispatches behind that, but nothing before it.
#[test]
fn a_handler_that_waits_behind_what_waits_for_it_is_told() {
    type Work = fn(&Turn<'_, u64, Job<'static, u64>>) -> Result<u64, WaitError>;
    let cases: [(Work, Result<u64, WaitError>); 6] = [
        (
            |turn| {
                turn.dispatch_keys([1, 2], Job::new(|_| {})).unwrap();
                turn.submit(2, |_| 7).unwrap().wait()
            },
            Err(WaitError::WaitsForItself),
        ),
        (
            |turn| {
                turn.dispatch_keys([1, 2], Job::new(|_| {})).unwrap();
                turn.dispatch_keys([2, 3], Job::new(|_| {})).unwrap();
                turn.submit(3, |_| 7).unwrap().wait()
            },
            Err(WaitError::WaitsForItself),
        ),
        (
            |turn| {
                turn.dispatch_sequential(Job::new(|_| {})).unwrap();
                turn.submit(2, |_| 7).unwrap().wait()
            },
            Err(WaitError::WaitsForItself),
        ),
        (
            |turn| {
                let before = turn.submit(2, |_| 7).unwrap();
                turn.dispatch_keys([1, 2], Job::new(|_| {})).unwrap();
                turn.dispatch_sequential(Job::new(|_| {})).unwrap();
                before.wait()
            },
            Ok(7),
        ),
        (
            |turn| {
                turn.dispatch_keys([2, 3], Job::new(|_| {})).unwrap();
                turn.submit(2, |_| 7).unwrap().wait()
            },
            Ok(7),
        ),
        // Of the handlers before, nothing is left.
        (|turn| turn.submit(2, |_| 7).unwrap().wait(), Ok(7)),
    ];
    let jobs = jobs(2, Binding::Dynamic);
    for (number, (work, expected)) in cases.into_iter().enumerate() {
        assert_eq!(jobs.submit(1, work).unwrap().wait(), Ok(expected), "case {number}");
        jobs.wait_idle().unwrap();
    }
}

/// Another thread has dispatched a sequential event, which waits for the handler.
#[test]
fn a_handler_that_waits_behind_a_sequential_event_is_told() {
    let jobs = jobs(2, Binding::Dynamic);
    let (began, begins) = channel();
    let (go_on, wait) = channel::<()>();
    let ask = move |turn: &Turn<'_, u64, Job<'static, u64>>| {
        let before = turn.submit(2, |_| 7).unwrap();
        began.send(()).unwrap();
        wait.recv().unwrap();
        (before.wait(), turn.submit(2, |_| 7).unwrap().wait())
    };
    let answer = jobs.submit(1, ask).unwrap();
    begins.recv().unwrap();
    jobs.dispatch_sequential(Job::new(|_| {})).unwrap();
    go_on.send(()).unwrap();
    assert_eq!(answer.wait(), Ok((Ok(7), Err(WaitError::WaitsForItself))));
}

fn requests<H>(workers: usize, handler: H) -> Dispatcher<u64, Request<u64, u64>>
where
    H: Handler<u64, Request<u64, u64>> + Send + 'static,
{
    Dispatcher::<u64, Request<u64, u64>>::builder().workers(workers).build(handler).unwrap()
}

#[test]
fn a_handler_that_waits_for_a_request_behind_its_own_is_told() {
    type Ask = fn(&Requests, Request<u64, u64>);
    let asks: [Ask; 4] = [
        |turn, request| turn.dispatch(1, request).unwrap(),
        |turn, request| turn.dispatch_keys([5, 1], request).unwrap(),
        |turn, request| turn.dispatch_sequential(request).unwrap(),
        |turn, request| turn.dispatch_freshest(1, request).unwrap(),
    ];
    for ask in asks {
        let (tell, answer) = channel();
        let wait = move |turn: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
            if number == 0 {
                let (request, answer) = Request::new(7);
                ask(turn, request);
                tell.send(answer.wait()).unwrap();
            }
            number
        };
        let requests = requests(2, Request::answered_by(wait));
        requests.dispatch(1, Request::new(0).0).unwrap();
        assert_eq!(told(&answer), Err(WaitError::WaitsForItself));
        // One with several keys holds all of them.
        requests.dispatch_keys([4, 1], Request::new(0).0).unwrap();
        assert_eq!(told(&answer), Err(WaitError::WaitsForItself));
    }
}

/// A request that came back may go elsewhere, where another thread answers it.
#[test]
fn nothing_is_known_of_a_request_that_was_refused() {
    let elsewhere = requests(1, Request::answered_by(|_: &Turn<'_, u64, _>, number: u64| number));
    let elsewhere = elsewhere.handle();
    let other = Mutex::new(elsewhere);
    let ask = move |turn: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
        if number > 0 {
            return number;
        }
        let (request, answer) = Request::new(7);
        turn.close();
        let refused = turn.dispatch(1, request).unwrap_err().into_event();
        let other = other.lock().unwrap().clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            // It is closed by now, or open: both end the wait.
            drop(other.dispatch(1, refused));
        });
        match answer.wait() {
            Ok(number) => number,
            Err(WaitError::NotHandled) => 7,
            Err(error) => panic!("{error}"),
        }
    };
    let asking = requests(1, Request::answered_by(ask));
    let (request, answer) = Request::new(0);
    asking.dispatch(1, request).unwrap();
    assert_eq!(answer.wait(), Ok(7));
}

#[test]
fn a_wait_with_a_limit_ends_and_can_be_repeated() {
    let jobs = jobs(1, Binding::Dynamic);
    let (go_on, wait) = channel::<()>();
    let mut answer = jobs.submit(1, move |_| wait.recv().map(|()| 7)).unwrap();
    assert_eq!(answer.wait_timeout(Duration::ZERO), None);
    assert_eq!(answer.wait_timeout(Duration::from_millis(20)), None);
    go_on.send(()).unwrap();
    assert_eq!(answer.wait_timeout(LONG), Some(Ok(Ok(7))));
    assert_eq!(answer.wait_timeout(LONG), Some(Err(WaitError::NotHandled)));
    assert_eq!(WaitError::from(NotHandled), WaitError::NotHandled);
}

#[test]
fn waits_for_room_and_for_the_end_may_have_limits() {
    let (go_on, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let handle = move |_: &Turn<'_, u64, u64>, _: u64| wait.lock().unwrap().recv().unwrap();
    let dispatcher: Dispatcher<u64, u64> =
        Dispatcher::<u64, u64>::builder().workers(1).capacity(2).build(handle).unwrap();
    let short = Duration::from_millis(20);
    assert_eq!(dispatcher.dispatch_timeout(1, 1, short), Ok(()));
    assert_eq!(dispatcher.dispatch_timeout(1, 2, short), Ok(()));
    assert_eq!(dispatcher.dispatch_timeout(1, 3, short), Err(DispatchError::Full(3)));
    assert_eq!(dispatcher.wait_idle_timeout(short).unwrap().left, 2);
    (0..3).for_each(|_| go_on.send(()).unwrap());
    assert_eq!(dispatcher.dispatch_timeout(1, 3, LONG), Ok(()));
    assert_eq!(dispatcher.wait_idle_timeout(LONG).unwrap().left, 0);
}

/// What the handler waits for is never handled: the abort leaves it to the last worker to drop it.
#[test]
fn a_handler_that_waits_is_told_when_its_dispatcher_is_aborted() {
    for tracked in [true, false] {
        let (tell, answer) = channel();
        let (began, begins) = channel();
        let slow = move |turn: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
            if number == 0 {
                let (request, answer) = Request::new(7);
                turn.dispatch(2, request).unwrap();
                began.send(()).unwrap();
                // Known or not: another worker holds the key for long.
                tell.send(answer.wait()).unwrap();
            } else if number == 1 {
                began.send(()).unwrap();
                while turn.dispatch_unordered(Request::new(9).0).is_ok() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            number
        };
        let requests = if tracked {
            requests(2, Request::answered_by(slow))
        } else {
            let inner = Request::answered_by(slow);
            let outer = move |turn: &Turn<'_, u64, Request<u64, u64>>, request| inner.handle(turn, request);
            requests(2, outer)
        };
        requests.dispatch(2, Request::new(1).0).unwrap();
        begins.recv_timeout(LONG).unwrap();
        requests.dispatch(1, Request::new(0).0).unwrap();
        begins.recv_timeout(LONG).unwrap();
        requests.abort();
        assert_eq!(told(&answer), Err(WaitError::Aborted), "tracked: {tracked}");
    }
}
