#include "machine.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "memory.h"

namespace sim {
namespace {

constexpr uint64_t kMostPending = 1000;  // about what CUDA queues before a launch waits
constexpr size_t kMostReports = 1000;

thread_local int this_device = 0;
thread_local std::vector<c10::StreamId> this_streams(kMostDevices, 0);

c10::Stream stream_of(int device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kSim, static_cast<c10::DeviceIndex>(device)),
                     id);
}

std::string name_of(c10::Stream stream) {
  return "stream " + std::to_string(stream.id()) + " of sim:" +
         std::to_string(static_cast<int>(stream.device_index()));
}

}  // namespace

double wall_time() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

void Clock::set(size_t lane, uint64_t count) {
  if (lane >= counts_.size()) counts_.resize(lane + 1);
  counts_[lane] = count;
}

void Clock::join(const Clock& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (size_t lane = 0; lane < other.counts_.size(); ++lane) {
    counts_[lane] = std::max(counts_[lane], other.counts_[lane]);
  }
}

std::string Race::text() const {
  auto access = [](bool writes, const Operation& operation) {
    return std::string(writes ? "write" : "read") + " by " + operation.name + " on " +
           name_of(operation.stream) + "\n" + operation.trace.text();
  };
  return "race on memory of sim:" + std::to_string(device) +
         ": neither of these waits for the other\n" + access(first_writes, *first) +
         access(then_writes, *then);
}

// Never destroyed: threads of PyTorch's outlive what is static here.
Machine& Machine::get() {
  static auto* machine = new Machine();
  return *machine;
}

Machine::Machine() : next_stream_(kMostDevices, 0), counters_(kMostDevices) {
  for (int device = 0; device < kMostDevices; ++device) {
    for (int id = 0; id < kStreamsPerDevice; ++id) {
      streams_.push_back(Stream{stream_of(device, id), streams_.size()});
    }
  }
}

void Machine::configure(int devices, Order order, uint64_t seed) {
  TORCH_CHECK(devices >= 1 && devices <= kMostDevices, "devices is ", devices, "; 1 to ",
              kMostDevices, " are accepted");
  std::lock_guard lock(state);
  devices_ = devices;
  order_ = order;
  random_.seed(seed);
}

void Machine::check_device(int device) const {
  TORCH_CHECK(device >= 0 && device < devices(), "sim: device index is ", device, "; there are ",
              devices(), " simulated devices");
}

// The calling thread's device and streams

int Machine::current_device() { return this_device; }

int Machine::exchange_device(int device) {
  if (device < 0) return this_device;
  get().check_device(device);
  return std::exchange(this_device, device);
}

c10::Stream Machine::current_stream(int device) {
  if (device < 0) device = this_device;
  return stream_of(device, this_streams[device]);
}

c10::Stream Machine::exchange_stream(c10::Stream stream) {
  int device = stream.device_index();
  return stream_of(device, std::exchange(this_streams[device], stream.id()));
}

c10::Stream Machine::new_stream(int device) {
  if (device < 0) device = this_device;
  check_device(device);
  std::lock_guard lock(state);
  int id = 1 + next_stream_[device]++ % (kStreamsPerDevice - 1);
  return stream_of(device, id);
}

size_t Machine::lane_of(c10::Stream id) const {
  TORCH_CHECK(id.device_type() == kSim && id.device_index() >= 0 &&
                  id.device_index() < kMostDevices && id.id() >= 0 && id.id() < kStreamsPerDevice,
              "sim: ", id, " is no stream of a simulated device");
  return static_cast<size_t>(id.device_index()) * kStreamsPerDevice + id.id();
}

Stream& Machine::stream(c10::Stream id) { return streams_[lane_of(id)]; }

Clock Machine::now(Stream& stream) {
  stream.clock.join(known_);
  return stream.clock;
}

// Queueing

void Machine::queue(c10::Stream id, Work work) { queue(id, std::move(work), Trace::here()); }

void Machine::queue(c10::Stream id, Work work, Trace trace) {
  // What work reads and writes, it is said to write.
  std::stable_partition(work.accesses.begin(), work.accesses.end(),
                        [](const Access& access) { return access.write; });
  {
    std::lock_guard lock(state);
    Stream& to = stream(id);
    Clock clock = now(to);
    ++to.queued;
    to.clock.set(to.lane, to.queued);
    work.queued_at = wall_time();
    work.operation = std::make_shared<Operation>(
        Operation{work.name, id, to.lane, to.queued, std::move(trace)});
    memory::access(to.graph.get(), work.accesses, work.operation, clock);
    if (!work.accesses.empty()) ++counters_[id.device_index()].operations;
    ++pending_;
    if (to.graph) {
      to.graph->works.push_back(std::move(work));
      work = Work{};
    }
    to.queue.push_back(std::move(work));
  }
  progress();
}

std::shared_ptr<Mark> Machine::record(c10::Stream id) {
  std::lock_guard lock(state);
  Stream& on = stream(id);
  now(on);
  ++on.queued;
  on.clock.set(on.lane, on.queued);
  auto mark = std::make_shared<Mark>(Mark{id, on.queued, on.clock, on.graph});
  Work work{"event"};
  work.reach = mark;
  work.queued_at = wall_time();
  ++pending_;
  on.queue.push_back(std::move(work));
  return mark;
}

void Machine::block(c10::Stream id, const std::shared_ptr<Mark>& mark) {
  std::lock_guard lock(state);
  Stream& waiting = stream(id);
  if (mark->graph && mark->graph->recording) {
    waiting.graph = mark->graph;
  } else {
    TORCH_CHECK(!waiting.graph, "sim: ", name_of(id),
                " is being captured and cannot wait for work outside the capture");
  }
  now(waiting).join(mark->clock);
  waiting.clock.join(mark->clock);
  ++waiting.queued;
  waiting.clock.set(waiting.lane, waiting.queued);
  Work work{"wait"};
  work.wait = mark;
  work.queued_at = wall_time();
  ++pending_;
  waiting.queue.push_back(std::move(work));
}

void Machine::order(c10::Stream first, c10::Stream then) {
  if (first != then) block(then, record(first));
}

// Computing

Stream* Machine::random_stream() {
  std::vector<Stream*> busy;
  for (Stream& candidate : streams_) {
    if (!candidate.queue.empty()) busy.push_back(&candidate);
  }
  return busy.empty() ? nullptr : busy[random_() % busy.size()];
}

// Does the next work of a stream, or if that waits, of the stream that it waits for. The lock of
// `running_` is held.
bool Machine::step(Stream* on) {
  Work work;
  {
    std::lock_guard lock(state);
    if (!on) on = random_stream();
    if (!on) return false;
    while (!on->queue.empty() && on->queue.front().wait && !on->queue.front().wait->reached) {
      on = &stream(on->queue.front().wait->stream);
    }
    if (on->queue.empty()) return false;
    work = std::move(on->queue.front());
    on->queue.pop_front();
  }
  std::string failure;
  double start = wall_time();
  if (work.compute) {
    try {
      work.compute();
    } catch (const c10::Error& error) {
      failure = error.what_without_backtrace();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  double duration = work.compute ? wall_time() - start : 0;
  if (!failure.empty()) {
    failure = "sim: " + work.name + " failed on " + name_of(on->id) + ": " + failure +
              "\nIt was queued here:\n" + work.operation->trace.text();
  }
  std::lock_guard lock(state);
  on->time = std::max(on->time, work.queued_at);
  if (work.wait) on->time = std::max(on->time, work.wait->time);
  on->time += duration;
  if (work.reach) {
    work.reach->reached = true;
    work.reach->time = on->time;
  }
  ++on->done;
  --pending_;
  if (!failure.empty()) failures_.push_back(std::move(failure));
  return true;
}

bool Machine::done(c10::Stream towards, uint64_t count) {
  std::lock_guard lock(state);
  return stream(towards).done >= count;
}

void Machine::run_until(c10::Stream towards, uint64_t count) {
  WithoutPython unlocked;
  std::lock_guard lock(running_);
  while (!done(towards, count)) {
    bool detour = order_ == Order::kRandom && random_() % 2;
    step(detour ? nullptr : &stream(towards));
  }
}

// After each piece of work: nothing for a while, then some at once.
void Machine::progress() {
  if (order_ == Order::kEager || pending_ > kMostPending) {
    WithoutPython unlocked;
    std::lock_guard lock(running_);
    uint64_t most = order_ == Order::kEager ? 0 : kMostPending / 2;
    while (pending_ > most && step(nullptr)) {
    }
    return;
  }
  if (order_ == Order::kLate) return;
  std::unique_lock lock(running_, std::try_to_lock);
  if (!lock || random_() % 8) return;
  for (auto steps = random_() % 16; steps > 0 && step(nullptr); --steps) {
  }
}

// Waiting

void Machine::host_waits(const std::vector<std::pair<c10::Stream, uint64_t>>& targets,
                         const Clock& clock, std::string reason, bool implicit) {
  refuse_while_capturing(reason);
  Trace trace = Trace::here();
  int device = targets.front().first.device_index();
  {
    std::lock_guard lock(state);
    ++(implicit ? counters_[device].implicit_waits : counters_[device].host_waits);
    if (waits_.size() < kMostReports) {
      waits_.push_back({device, std::move(reason), std::move(trace)});
    }
  }
  for (const auto& [stream, count] : targets) run_until(stream, count);
  std::string failure;
  {
    std::lock_guard lock(state);
    known_.join(clock);
    if (!failures_.empty()) {
      failure = std::move(failures_.front());
      failures_.clear();
    }
  }
  TORCH_CHECK(failure.empty(), failure);
}

void Machine::synchronize(c10::Stream id, const std::string& reason, bool implicit) {
  uint64_t count;
  Clock clock;
  {
    std::lock_guard lock(state);
    count = stream(id).queued;
    clock = now(stream(id));
  }
  host_waits({{id, count}}, clock, reason, implicit);
}

void Machine::synchronize(const std::shared_ptr<Mark>& mark) {
  host_waits({{mark->stream, mark->count}}, mark->clock, "synchronising with an event", false);
}

void Machine::synchronize_device(int device) {
  check_device(device);
  std::vector<std::pair<c10::Stream, uint64_t>> targets;
  Clock clock;
  {
    std::lock_guard lock(state);
    for (int id = 0; id < kStreamsPerDevice; ++id) {
      Stream& each = stream(stream_of(device, id));
      if (id > 0 && each.queued == 0) continue;
      targets.emplace_back(each.id, each.queued);
      clock.join(now(each));
    }
  }
  host_waits(targets, clock, "synchronising with a device", false);
}

bool Machine::query(c10::Stream id) {
  refuse_while_capturing("asking whether a stream is done");
  WithoutPython unlocked;
  std::lock_guard running(running_);
  step(&stream(id));
  std::lock_guard lock(state);
  Stream& asked = stream(id);
  bool done = asked.done == asked.queued;
  if (done) known_.join(now(asked));
  return done;
}

bool Machine::query(const std::shared_ptr<Mark>& mark) {
  refuse_while_capturing("asking whether an event is done");
  WithoutPython unlocked;
  std::lock_guard running(running_);
  if (!mark->reached) step(&stream(mark->stream));
  std::lock_guard lock(state);
  if (mark->reached) known_.join(mark->clock);
  return mark->reached;
}

double Machine::elapsed(const Mark& first, const Mark& second) {
  std::lock_guard lock(state);
  TORCH_CHECK(first.reached && second.reached, "sim: both events must have been reached");
  return second.time - first.time;
}

// Graphs

size_t Machine::new_pool() {
  std::lock_guard lock(state);
  return streams_.size() + pools_++;
}

std::shared_ptr<Graph> Machine::begin_capture(c10::Stream id, size_t pool, Refuses refuses) {
  std::lock_guard lock(state);
  TORCH_CHECK(id.id() != 0, "sim: the default stream cannot be captured");
  Stream& origin = stream(id);
  TORCH_CHECK(!origin.graph, "sim: ", name_of(id), " is being captured already");
  now(origin);
  auto graph = std::make_shared<Graph>(Graph{id, {}, {}, pool, refuses, std::this_thread::get_id()});
  origin.graph = graph;
  captures_.push_back(graph);
  return graph;
}

void Machine::end_capture(const std::shared_ptr<Graph>& graph) {
  std::lock_guard lock(state);
  graph->recording = false;
  graph->history.clear();
  captures_.erase(std::remove(captures_.begin(), captures_.end(), graph), captures_.end());
  Clock& joined = stream(graph->origin).clock;
  std::string left;
  for (Stream& member : streams_) {
    if (member.graph != graph) continue;
    member.graph.reset();
    if (joined.of(member.lane) < member.queued) left = name_of(member.id);
  }
  TORCH_CHECK(left.empty(), "sim: the capture ends before its origin has waited for ", left);
}

// In the order of the capture: a legal one, though not the only one.
void Machine::replay(const Graph& graph, c10::Stream id) {
  TORCH_CHECK(!graph.recording, "sim: the graph is still being captured");
  Trace trace = Trace::here();
  for (Work work : graph.works) {
    if (work.draw_anew) {
      work.compute = [draw = work.draw_anew(), compute = std::move(work.compute)] {
        draw();
        compute();
      };
    }
    queue(id, std::move(work), trace);
  }
}

bool Machine::capturing(c10::Stream id) {
  std::lock_guard lock(state);
  return static_cast<bool>(stream(id).graph);
}

void Machine::refuse_while_capturing(const std::string& what) {
  std::lock_guard lock(state);
  for (const auto& graph : captures_) {
    bool refused = graph->refuses == Refuses::kAll ||
                   (graph->refuses == Refuses::kRecorder &&
                    graph->recorder == std::this_thread::get_id());
    TORCH_CHECK(!refused, "sim: ", what, " is not possible while a graph is captured");
  }
}

// What happened

void Machine::reset() {
  {
    WithoutPython unlocked;
    std::lock_guard running(running_);
    while (step(nullptr)) {
    }
  }
  std::lock_guard lock(state);
  for (Stream& each : streams_) {
    if (each.queued) known_.join(each.clock);
    if (each.graph) each.graph->recording = false;
    each.graph.reset();
  }
  captures_.clear();
  counters_.assign(kMostDevices, Counters{});
  next_stream_.assign(kMostDevices, 0);
  waits_.clear();
  races_.clear();
  failures_.clear();
}

Counters Machine::counters(int device) {
  check_device(device);
  std::lock_guard lock(state);
  return counters_[device];
}

std::vector<std::string> Machine::waits() {
  std::vector<HostWait> waits;
  {
    std::lock_guard lock(state);
    waits = waits_;
  }
  std::vector<std::string> texts;
  for (const HostWait& wait : waits) {
    texts.push_back(wait.reason + " waits for sim:" + std::to_string(wait.device) + "\n" +
                    wait.trace.text());
  }
  return texts;
}

std::vector<std::string> Machine::races() {
  std::vector<Race> races;
  {
    std::lock_guard lock(state);
    races = races_;
  }
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const Race& race : races) {
    std::string text = race.text();
    if (seen.insert(text).second) texts.push_back(std::move(text));
  }
  return texts;
}

void Machine::report(Race race) {
  if (races_.size() < kMostReports) races_.push_back(std::move(race));
}

}  // namespace sim
