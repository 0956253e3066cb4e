#include "graphs.h"

#include <map>

#include "memory.h"

#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#define SIM_HAS_ACCELERATOR_GRAPHS
#endif

namespace sim {
namespace {

std::shared_ptr<const size_t> pool_of(size_t number) {
  static std::mutex mutex;
  static auto* pools = new std::map<size_t, std::weak_ptr<const size_t>>;
  std::lock_guard lock(mutex);
  if (number != 0) {
    auto found = pools->find(number);
    auto pool = found == pools->end() ? nullptr : found->second.lock();
    TORCH_CHECK(pool, "sim: there is no graph whose memory has the number ", number);
    return pool;
  }
  std::shared_ptr<const size_t> made(new size_t(Machine::get().new_pool()), [](const size_t* pool) {
    memory::release_pool(*pool);
    delete pool;
  });
  (*pools)[*made] = made;
  return made;
}

}  // namespace

void Recording::begin(c10::Stream stream, size_t pool, Refuses refuses) {
  auto shared = pool_of(pool);
  reset();
  pool_ = std::move(shared);
  graph_ = Machine::get().begin_capture(stream, *pool_, refuses);
}

void Recording::end() {
  TORCH_CHECK(graph_, "sim: no capture has begun");
  Machine::get().end_capture(graph_);
}

void Recording::replay(c10::Stream stream) {
  TORCH_CHECK(graph_, "sim: nothing was captured");
  Machine::get().replay(*graph_, stream);
}

void Recording::reset() {
  graph_.reset();
  pool_.reset();
}

size_t Recording::pool() const {
  TORCH_CHECK(pool_, "sim: nothing was captured");
  return *pool_;
}

#ifdef SIM_HAS_ACCELERATOR_GRAPHS

namespace {

c10::Stream current_stream() {
  return Machine::get().current_stream(Machine::current_device());
}

Refuses refuses(at::GraphCaptureMode mode) {
  if (mode == at::GraphCaptureMode::ThreadLocal) return Refuses::kRecorder;
  return mode == at::GraphCaptureMode::Relaxed ? Refuses::kNobody : Refuses::kAll;
}

// What torch.accelerator.Graph is on these devices.
struct GraphImpl final : at::GraphImplInterface {
  explicit GraphImpl(const at::GraphImplArgs&) {}

  void capture_begin(at::MempoolId_t pool, at::GraphCaptureMode mode) override {
    recording_.begin(current_stream(), pool.second, refuses(mode));
  }
  void capture_end() override { recording_.end(); }
  void instantiate() override {}
  void replay() override { recording_.replay(current_stream()); }
  void reset() override { recording_.reset(); }
  at::MempoolId_t pool() const override { return {0, recording_.pool()}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string&) override {}

 private:
  Recording recording_;
};

}  // namespace

#endif

}  // namespace sim

#ifdef SIM_HAS_ACCELERATOR_GRAPHS
namespace at {
// Under the name that the device type gets, in capitals.
REGISTER_GRAPH_IMPL(SIM, sim::GraphImpl);
}  // namespace at
#endif
