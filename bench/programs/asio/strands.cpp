// Asio's strands as a peer of the dispatch queue: a strand for each key, on a pool of threads.
//
// Started with the number of workers and of events that may wait. First says its version, then
// answers each line:
//
//   time TURNS                   NANOSECONDS that so many turns of the handler's work take
//   run KEYS EVENTS TURNS FILE   SECONDS VIOLATIONS
//
// FILE has the events' keys, 32 bits each, least significant byte first. The handler, its work and the
// check of the order are those of case.rs and work.rs; Asio has no bound, and gets that of room.rs.

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

// How long so many turns of work take, one event's after the other's: the least of some trials.
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

// Bounds what waits.
class Room {
public:
    explicit Room(std::size_t capacity) : capacity(capacity) {}

    // Events that are counted at once.
    static constexpr std::size_t step = 64;

    // Called before a step's events are sent; waits if there is no room.
    void enter() {
        std::unique_lock<std::mutex> lock(mutex);
        if (inside + step > capacity) half_left.wait(lock, [this] { return inside <= capacity / 2; });
        inside += step;
    }

    // Called for each event that has been handled.
    void leave() {
        thread_local std::size_t untold = 0;
        if (++untold < step) return;
        bool half;
        {
            const std::lock_guard<std::mutex> lock(mutex);
            half = inside > capacity / 2 && inside - untold <= capacity / 2;
            inside -= untold;
        }
        untold = 0;
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

// Each key's count has a cache line of its own if there are no more keys than so many: as in the other programs.
constexpr std::size_t line = 64 / sizeof(std::atomic<std::uint32_t>);
constexpr std::size_t keys_with_lines = 1024;

// Events, and what their handler needs.
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

    // How often an event was not the next of its key, or was left out.
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

// Seconds until all events have been handled.
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
        std::cerr << "usage: strands WORKERS ROOM\n";
        return 2;
    }
    const std::size_t workers = std::stoul(arguments[1]), capacity = std::stoul(arguments[2]);
    std::cout << ASIO_VERSION / 100000 << '.' << ASIO_VERSION / 100 % 1000 << '.' << ASIO_VERSION % 100
              << " (g++ " << __VERSION__ << ')' << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream question(line);
        std::string what, file;
        std::uint64_t turns;
        std::size_t keys, events;
        if (question >> what && what == "time" && question >> turns) {
            std::cout << nanos_of(turns) << std::endl;
        } else if (what == "run" && question >> keys >> events >> turns && std::getline(question >> std::ws, file)) {
            Case of(file, keys, events, turns);
            const double seconds = run(of, workers, capacity);
            std::cout << seconds << ' ' << of.violations() << std::endl;
        } else {
            std::cerr << "strands: not understood: " << line << '\n';
            return 2;
        }
    }
}
