// Streams whose work is computed later, and who has waited for whom.
#pragma once

#include <c10/core/Stream.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <thread>
#include <vector>

namespace sim {

constexpr auto kSim = c10::DeviceType::PrivateUse1;
constexpr int kMostDevices = 8;
constexpr int kStreamsPerDevice = 33;  // the default one and CUDA's pool of 32

// A vector clock: how much of each stream's work is ordered before something.
class Clock {
 public:
  uint64_t of(size_t lane) const { return lane < counts_.size() ? counts_[lane] : 0; }
  void set(size_t lane, uint64_t count);
  void join(const Clock& other);

 private:
  std::vector<uint64_t> counts_;  // by lane, the number of a stream in clocks
};

// Who queued something: the Python stack, or in PyTorch's engine the node that it computes.
class Trace {
 public:
  // Takes the lock of Python, so nobody who holds a lock of ours may call it; `held_only` gives an
  // empty trace rather than wait for it.
  static Trace here(bool held_only = false);
  std::string text() const;

 private:
  std::shared_ptr<void> python_;
  std::string node_;
  int thread_ = 0;
};

// The count-th piece of work of a stream.
struct Operation {
  std::string name;
  c10::Stream stream;
  size_t lane;
  uint64_t count;
  Trace trace;
};

struct Access {
  uintptr_t begin, end;
  bool write;
};

struct Graph;

// A point in a stream that an event marks.
struct Mark {
  c10::Stream stream;
  uint64_t count;
  Clock clock;
  std::shared_ptr<Graph> graph;  // that records the stream
  bool reached = false;
  double time = 0;  // of the device, in milliseconds
};

// What was last done to a range of memory, by where it begins.
struct Cell {
  uintptr_t end;
  std::shared_ptr<const Operation> write;
  std::vector<std::shared_ptr<const Operation>> reads;
};
using History = std::map<uintptr_t, Cell>;

// Two accesses to the same memory, one of them a write, of which neither waits for the other.
struct Race {
  int device;
  bool first_writes, then_writes;
  std::shared_ptr<const Operation> first, then;
  std::string text() const;
};

// What a stream has to do: compute, reach a mark, or wait for one.
struct Work {
  std::string name;
  std::function<void()> compute;
  // Has what is computed draw other random numbers, of those that come next.
  std::function<std::function<void()>()> draw_anew;
  std::vector<Access> accesses;
  std::shared_ptr<Mark> reach;
  std::shared_ptr<Mark> wait;
  std::shared_ptr<const Operation> operation;
  double queued_at = 0;
};

// Who is refused what cannot be recorded while a graph is: every thread, the one that records, or
// none.
enum class Refuses { kAll, kRecorder, kNobody };

// Work that was recorded instead of computed, and is queued again by each replay.
struct Graph {
  c10::Stream origin;
  std::vector<Work> works;
  History history;
  size_t pool;  // where its allocations live, in the place of a stream's lane
  Refuses refuses;
  std::thread::id recorder;
  bool recording = true;
};

struct Stream {
  c10::Stream id;
  size_t lane;
  std::deque<Work> queue;
  uint64_t queued = 0, done = 0;
  Clock clock;  // of what is queued next
  double time = 0;
  std::shared_ptr<Graph> graph;  // that records it
};

struct Counters {
  uint64_t operations = 0, host_waits = 0, implicit_waits = 0;
  uint64_t allocations = 0, frees = 0;
};

struct HostWait {
  int device;
  std::string reason;
  Trace trace;
};

enum class Order { kEager, kRandom, kLate };

class Machine {
 public:
  static Machine& get();

  // Settings
  void configure(int devices, Order order, uint64_t seed);
  void enable(bool on) { enabled_ = on; }
  int devices() const { return enabled_ ? devices_ : 0; }
  void check_device(int device) const;

  // The calling thread's
  static int current_device();
  static int exchange_device(int device);
  c10::Stream current_stream(int device);
  c10::Stream exchange_stream(c10::Stream stream);
  c10::Stream new_stream(int device);

  // Queueing
  void queue(c10::Stream stream, Work work);
  void queue(c10::Stream stream, Work work, Trace trace);
  std::shared_ptr<Mark> record(c10::Stream stream);
  void block(c10::Stream stream, const std::shared_ptr<Mark>& mark);
  void order(c10::Stream first, c10::Stream then);  // the second waits for the first

  // Waiting. `reason` says who waits; an implicit wait is the simulator's own, which other
  // accelerators would not need.
  void synchronize(c10::Stream stream, const std::string& reason, bool implicit = false);
  void synchronize(const std::shared_ptr<Mark>& mark);
  void synchronize_device(int device);
  bool query(c10::Stream stream);
  bool query(const std::shared_ptr<Mark>& mark);
  double elapsed(const Mark& first, const Mark& second);

  // Graphs
  size_t new_pool();
  std::shared_ptr<Graph> begin_capture(c10::Stream stream, size_t pool, Refuses refuses);
  void end_capture(const std::shared_ptr<Graph>& graph);
  void replay(const Graph& graph, c10::Stream stream);
  bool capturing(c10::Stream stream);
  void refuse_while_capturing(const std::string& what);

  // What happened
  void reset();
  Counters counters(int device);
  std::vector<std::string> waits();
  std::vector<std::string> races();
  void report(Race race);  // with the lock of the state

  // For the memory's bookkeeping, which shares the lock: never wait for Python's while holding it.
  std::mutex state;
  Stream& stream(c10::Stream id);
  bool is_lane(size_t number) const { return number < streams_.size(); }
  c10::Stream stream_of_lane(size_t lane) const { return streams_[lane].id; }
  Clock now(Stream& stream);  // what is ordered before work that is queued now
  Counters& counter(int device) { return counters_.at(device); }

 private:
  Machine();
  bool step(Stream* stream);
  void run_until(c10::Stream towards, uint64_t count);
  void host_waits(const std::vector<std::pair<c10::Stream, uint64_t>>& targets, const Clock& clock,
                  std::string reason, bool implicit);
  void progress();
  bool done(c10::Stream towards, uint64_t count);
  Stream* random_stream();

  size_t lane_of(c10::Stream id) const;

  std::mutex running_;  // held by the thread that computes; taken before `state`, without Python's
  int devices_ = 0;
  bool enabled_ = true;
  Order order_ = Order::kRandom;
  std::mt19937_64 random_;
  std::deque<Stream> streams_;  // by lane
  std::vector<int> next_stream_;
  std::vector<Counters> counters_;
  std::vector<HostWait> waits_;
  Clock known_;  // what host threads have waited for
  std::atomic<uint64_t> pending_{0};
  std::vector<Race> races_;
  std::vector<std::string> failures_;
  std::vector<std::shared_ptr<Graph>> captures_;
  size_t pools_ = 0;
};

double wall_time();  // in milliseconds

void register_backend();  // with PyTorch, once

// A block without Python's lock, where the thread has it.
class WithoutPython {
 public:
  WithoutPython();
  ~WithoutPython();

 private:
  void* saved_ = nullptr;
};

}  // namespace sim
