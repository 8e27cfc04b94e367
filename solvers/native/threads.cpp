#include "threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace native {
namespace {

using Work = std::function<void(std::int64_t, std::int64_t)>;

/// Pieces for each thread: enough to even out, few enough to cost nothing.
constexpr std::int64_t PIECES_PER_THREAD = 4;

/// Looks at the next loop's number before a helper sleeps: some 20 microseconds, in which a driver
/// of many short loops comes with the next one.
constexpr int SPINS = 4000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// One loop under way.
struct Loop {
    const Work *work;
    std::int64_t count;
    std::int64_t piece;
    const volatile std::uint8_t *stop_flag;
    std::atomic<std::int64_t> next{0};
    std::mutex lock;
    std::exception_ptr failure;

    void run() {
        try {
            for (;;) {
                const std::int64_t first = next.fetch_add(piece, std::memory_order_relaxed);
                if (first >= count)
                    return;
                (*work)(first, std::min(count, first + piece));
            }
        } catch (...) {
            next.store(count, std::memory_order_relaxed);
            std::lock_guard<std::mutex> held(lock);
            if (!failure)
                failure = std::current_exception();
        }
    }
};

/// Threads that wait for loops. Never destroyed: they end with the process.
class Helpers {
  public:
    /// Run a loop on this thread and on up to ``wanted`` helpers.
    void run(Loop &loop, int wanted) {
        while (static_cast<int>(threads_) < wanted)
            if (!add())
                break;
        const int taking = std::min<int>(wanted, threads_);
        {
            std::lock_guard<std::mutex> held(lock_);
            loop_ = &loop;
            seats_ = taking;
            busy_ = taking;
            number_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        loop.run();
        wait(taking);
    }

  private:
    bool add() {
        try {
            std::thread([this] { serve(); }).detach();
        } catch (const std::system_error &) { // no thread left: those that are there do it
            return false;
        }
        ++threads_;
        return true;
    }

    /// Take back the seats that nobody took, and wait for those who did.
    void wait(int) {
        {
            std::lock_guard<std::mutex> held(lock_);
            busy_ -= seats_;
            seats_ = 0;
        }
        for (int spin = 0; busy_.load(std::memory_order_acquire) > 0 && spin < SPINS; ++spin)
            pause();
        std::unique_lock<std::mutex> held(lock_);
        done_.wait(held, [this] { return busy_.load(std::memory_order_acquire) == 0; });
    }

    void serve() {
        std::uint64_t seen = 0;
        for (;;) {
            for (int spin = 0; number_.load(std::memory_order_acquire) == seen && spin < SPINS;
                 ++spin)
                pause();
            Loop *loop = nullptr;
            {
                std::unique_lock<std::mutex> held(lock_);
                wake_.wait(held, [&] { return number_.load(std::memory_order_relaxed) != seen; });
                seen = number_.load(std::memory_order_relaxed);
                if (seats_ == 0)
                    continue;
                --seats_;
                loop = loop_;
            }
            stop_flag = loop->stop_flag;
            loop->run();
            std::lock_guard<std::mutex> held(lock_);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1)
                done_.notify_one();
        }
    }

    std::mutex lock_;
    std::condition_variable wake_, done_;
    std::atomic<std::uint64_t> number_{0};
    Loop *loop_ = nullptr;
    int seats_ = 0;
    std::atomic<int> busy_{0};
    int threads_ = 0;
};

std::mutex *one_at_a_time = new std::mutex;
Helpers *helpers = nullptr;

/// A child of fork() has none of its parent's threads: it begins with new ones.
void forget_helpers() {
    helpers = nullptr;
    one_at_a_time = new std::mutex;
}

} // namespace

thread_local const volatile std::uint8_t *stop_flag = nullptr;

void share_out(int threads, std::int64_t count, const Work &work) {
    std::unique_lock<std::mutex> ours(*one_at_a_time, std::try_to_lock);
    if (!ours.owns_lock()) {
        work(0, count);
        return;
    }
    if (helpers == nullptr) {
        static const int registered = pthread_atfork(nullptr, nullptr, forget_helpers);
        static_cast<void>(registered);
        helpers = new Helpers;
    }
    Loop loop;
    loop.work = &work;
    loop.count = count;
    loop.piece = std::max<std::int64_t>(1, count / (threads * PIECES_PER_THREAD));
    loop.stop_flag = stop_flag;
    helpers->run(loop, threads - 1);
    if (loop.failure)
        std::rethrow_exception(loop.failure);
}

} // namespace native
