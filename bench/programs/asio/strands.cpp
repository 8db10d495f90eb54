// Asio's strands as a peer of the dispatch queue: one strand per key, on a pool of threads.
//
// The arguments are the number of workers and the greatest number of waiting events. Prints its version first,
// then answers each request line:
//
//   request                      answer
//   time TURNS                   nanoseconds that TURNS turns of the handler's work take
//   run KEYS EVENTS TURNS FILE   seconds, and violations of the order
//
// FILE contains the events' keys, 32 bits each, least significant byte first. The handler, its work and the
// check of the order are those of case.rs and work.rs. Asio's queue is unbounded, so it is given the bound of
// room.rs.

#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/version.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

__attribute__((noinline)) void work(std::uint64_t turns) {
    std::uint64_t state = 1;
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
        state = state * 6364136223846793005u + 1;
        state ^= state >> 31;
    }
    asm volatile("" : : "r"(state));
}

// Nanoseconds that `turns` turns of work take, calls back to back: the least of several trials.
double nanos_of(std::uint64_t turns) {
    constexpr int trials = 9, calls = 10'000;
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < trials; ++trial) {
        const auto begun = Clock::now();
        for (int call = 0; call < calls; ++call) work(turns);
        least = std::min(least, seconds_since(begun) * 1e9 / calls);
    }
    return least;
}

// Bounds the number of waiting events.
class Room {
public:
    explicit Room(std::size_t capacity) : capacity(capacity) {}

    // Events are counted in steps of this size.
    static constexpr std::size_t step = 64;

    // Called before each step of events is sent; waits if the bound is reached.
    void enter() {
        std::unique_lock<std::mutex> lock(mutex);
        if (inside + step > capacity) half_left.wait(lock, [this] { return inside <= capacity / 2; });
        inside += step;
    }

    // Called for each event that has been handled.
    void leave() {
        thread_local std::size_t uncounted = 0;
        if (++uncounted < step) return;
        bool half;
        {
            const std::lock_guard<std::mutex> lock(mutex);
            half = inside > capacity / 2 && inside - uncounted <= capacity / 2;
            inside -= uncounted;
        }
        uncounted = 0;
        if (half) half_left.notify_one();
    }

private:
    const std::size_t capacity;
    std::size_t inside = 0;
    std::mutex mutex;
    std::condition_variable half_left;
};

// The number-th event of its key.
struct Event {
    std::uint32_t key;
    std::uint32_t number;
};

// With at most this many keys, each key's count has its own cache line, as in the other programs.
constexpr std::size_t line = 64 / sizeof(std::atomic<std::uint32_t>);
constexpr std::size_t keys_with_lines = 1024;

// The events of a run and the state of their handler.
class Case {
public:
    Case(const std::string& file, std::size_t keys, std::size_t count, std::uint64_t turns)
        : keys(keys),
          turns(turns),
          step(keys <= keys_with_lines ? line : 1),
          handled(new std::atomic<std::uint32_t>[keys * step]) {
        std::ifstream input(file, std::ios::binary);
        std::vector<std::uint32_t> numbers(keys, 0);
        events.reserve(count);
        unsigned char bytes[4];
        while (events.size() < count && input.read(reinterpret_cast<char*>(bytes), sizeof bytes)) {
            const std::uint32_t key =
                bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
            events.push_back(Event{key, numbers.at(key)++});
        }
        if (events.size() < count) throw std::runtime_error(file + " has too few events");
        for (std::size_t key = 0; key < keys; ++key) handled[key * step].store(0, std::memory_order_relaxed);
    }

    __attribute__((noinline)) void handle(Event event) {
        auto& own = handled[event.key * step];
        if (own.load(std::memory_order_relaxed) != event.number) {
            wrong.fetch_add(1, std::memory_order_relaxed);
        }
        work(turns);
        own.store(event.number + 1, std::memory_order_relaxed);
    }

    // The number of events handled out of order or not handled.
    std::uint64_t violations() const {
        std::uint64_t sum = 0;
        for (std::size_t key = 0; key < keys; ++key) sum += handled[key * step].load(std::memory_order_relaxed);
        const std::uint64_t all = events.size();
        return wrong.load(std::memory_order_relaxed) + (sum > all ? sum - all : all - sum);
    }

    const std::size_t keys;
    std::vector<Event> events;

private:
    const std::uint64_t turns;
    const std::size_t step;
    const std::unique_ptr<std::atomic<std::uint32_t>[]> handled;
    std::atomic<std::uint64_t> wrong{0};
};

// Returns the seconds until all events have been handled.
double run(Case& of, std::size_t workers, std::size_t capacity) {
    Room room(capacity);
    const auto begun = Clock::now();
    asio::thread_pool pool(workers);
    std::vector<asio::strand<asio::thread_pool::executor_type>> strands;
    strands.reserve(of.keys);
    for (std::size_t key = 0; key < of.keys; ++key) strands.push_back(asio::make_strand(pool));
    for (std::size_t index = 0; index < of.events.size(); ++index) {
        if (index % Room::step == 0) room.enter();
        const Event event = of.events[index];
        asio::post(strands[event.key], [&of, &room, event] {
            of.handle(event);
            room.leave();
        });
    }
    pool.join();
    return seconds_since(begun);
}

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: strands WORKERS CAPACITY\n";
        return 2;
    }
    const std::size_t workers = std::stoul(arguments[1]), capacity = std::stoul(arguments[2]);
    std::cout << ASIO_VERSION / 100000 << '.' << ASIO_VERSION / 100 % 1000 << '.' << ASIO_VERSION % 100
              << " (g++ " << __VERSION__ << ')' << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream request(line);
        std::string what, file;
        std::uint64_t turns;
        std::size_t keys, events;
        if (request >> what && what == "time" && request >> turns) {
            std::cout << nanos_of(turns) << std::endl;
        } else if (what == "run" && request >> keys >> events >> turns && std::getline(request >> std::ws, file)) {
            Case of(file, keys, events, turns);
            const double seconds = run(of, workers, capacity);
            std::cout << seconds << ' ' << of.violations() << std::endl;
        } else {
            std::cerr << "strands: unknown request: " << line << '\n';
            return 2;
        }
    }
}
