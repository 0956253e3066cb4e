#include "memory.h"

#include <c10/util/Exception.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace sim::memory {
namespace {

constexpr size_t kDeviceBytes = size_t{1} << 32;
constexpr size_t kAllBytes = kDeviceBytes * kMostDevices;
constexpr size_t kGrain = 512;  // allocations are multiples, as CUDA's
constexpr size_t kNobody = SIZE_MAX;
constexpr int kPoison = 0xff;  // NaN in every floating type, -1 in signed integers
constexpr size_t kPageBytes = 4096;

char* addresses = nullptr;  // the devices' memory as programs see it: no page of it can be touched
char* aliases = nullptr;    // the bytes themselves, which computations alone know of
struct sigaction earlier_action;

struct Block {
  uintptr_t begin;
  size_t size;
  size_t owner;  // the stream (its lane) or graph (its pool) that may use it again, or kNobody
  bool free = true;
  std::vector<c10::Stream> users;                   // told by record_stream
  std::vector<std::pair<c10::Stream, Clock>> left;  // what they had come to when it was freed
};

struct Device {
  std::map<uintptr_t, Block> blocks;
  std::map<size_t, std::vector<uintptr_t>> free;  // by owner, the last freed one last
  std::vector<uintptr_t> limbo;                   // freed, but recorded users may not be through
  Usage usage;
  size_t limit = kDeviceBytes;
};

// Never destroyed: tensors may be freed after everything that is static here.
std::vector<Device>& devices = *new std::vector<Device>(kMostDevices);
History& history = *new History;  // of all devices: their addresses differ
bool frees_are_checked = false;

// A message for whoever dereferences a device's address, then what Python or the system does.
void on_fault(int signal, siginfo_t* info, void* context) {
  auto* touched = static_cast<char*>(info->si_addr);
  if (touched >= addresses && touched < addresses + kAllBytes) {
    char text[] = "sim: the CPU touched memory of device sim:?\n";
    text[sizeof(text) - 3] = static_cast<char>('0' + (touched - addresses) / kDeviceBytes);
    [[maybe_unused]] auto written = write(STDERR_FILENO, text, sizeof(text) - 1);
  }
  sigaction(signal, &earlier_action, nullptr);  // the access is tried again, and that acts
}

void map_memory() {
  auto map = [](int protection) {
    void* found = mmap(nullptr, kAllBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
    TORCH_CHECK(found != MAP_FAILED, "sim: no address space for the devices' memory");
    return static_cast<char*>(found);
  };
  addresses = map(PROT_NONE);
  aliases = map(PROT_READ | PROT_WRITE);
  for (int i = 0; i < kMostDevices; ++i) {
    auto begin = reinterpret_cast<uintptr_t>(addresses) + kDeviceBytes * i;
    devices[i].blocks[begin] = Block{begin, kDeviceBytes, kNobody};
    devices[i].free[kNobody] = {begin};
  }
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &earlier_action);
}

void take_from_list(std::vector<uintptr_t>& list, uintptr_t begin) {
  list.erase(std::find(list.begin(), list.end(), begin));
}

// Back to its owner, in one with free neighbours that are its owner's too.
void put_back(Device& device, Block& block) {
  auto place = device.blocks.find(block.begin);
  auto joins = [&](const Block& other) { return other.free && other.owner == place->second.owner; };
  auto& list = device.free[block.owner];
  auto next = std::next(place);
  place->second.free = true;
  if (next != device.blocks.end() && joins(next->second)) {
    take_from_list(list, next->first);
    place->second.size += next->second.size;
    device.blocks.erase(next);
  }
  if (place != device.blocks.begin() && joins(std::prev(place)->second)) {
    auto before = std::prev(place);
    take_from_list(list, before->first);
    before->second.size += place->second.size;
    device.blocks.erase(place);
    place = before;
  }
  list.push_back(place->first);
}

// The cells of a range, cut at its ends.
std::pair<History::iterator, History::iterator> cells(History& history, uintptr_t begin,
                                                      uintptr_t end) {
  auto cut = [&](uintptr_t at) {
    auto after = history.upper_bound(at);
    if (after == history.begin()) return;
    auto& [start, cell] = *std::prev(after);
    if (start == at || cell.end <= at) return;
    Cell rest = cell;
    cell.end = at;
    history.emplace(at, std::move(rest));
  };
  cut(begin);
  cut(end);
  return {history.lower_bound(begin), history.lower_bound(end)};
}

bool ordered(const std::shared_ptr<const Operation>& operation, const Clock& clock) {
  return !operation || operation->count <= clock.of(operation->lane);
}

bool all_ordered(const Block& block, const Clock& clock) {
  auto [first, last] = cells(history, block.begin, block.begin + block.size);
  return std::all_of(first, last, [&](const auto& entry) {
    const auto& [write, reads] = std::tie(entry.second.write, entry.second.reads);
    return ordered(write, clock) && std::all_of(reads.begin(), reads.end(), [&](const auto& read) {
             return ordered(read, clock);
           });
  });
}

// What was done to a block before its recorded users were through: by them, or by streams for which
// they had waited.
void forget(const Block& block) {
  auto through = [&](const std::shared_ptr<const Operation>& operation) {
    return operation && std::any_of(block.left.begin(), block.left.end(), [&](const auto& left) {
             return ordered(operation, left.second);
           });
  };
  auto [first, last] = cells(history, block.begin, block.begin + block.size);
  for (; first != last; ++first) {
    Cell& cell = first->second;
    if (through(cell.write)) cell.write.reset();
    cell.reads.erase(std::remove_if(cell.reads.begin(), cell.reads.end(), through),
                     cell.reads.end());
  }
}

// Gives blocks whose recorded users are through back to their owners.
void leave_limbo(Device& device) {
  Machine& machine = Machine::get();
  auto through = [&](uintptr_t begin) {
    Block& block = device.blocks.at(begin);
    for (const auto& [id, clock] : block.left) {
      const Stream& user = machine.stream(id);
      if (user.done < clock.of(user.lane)) return false;
    }
    forget(block);
    block.left.clear();
    put_back(device, block);
    return true;
  };
  device.limbo.erase(std::remove_if(device.limbo.begin(), device.limbo.end(), through),
                     device.limbo.end());
}

// The block of an owner that was freed last and is large enough, or null.
Block* find(Device& device, size_t owner, size_t size) {
  auto& list = device.free[owner];
  for (size_t i = list.size(); i-- > 0;) {
    Block& block = device.blocks.at(list[i]);
    if (block.size < size) continue;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (block.size > size) {
      Block rest{block.begin + size, block.size - size, owner};
      block.size = size;
      device.blocks[rest.begin] = rest;
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), rest.begin);
    }
    block.free = false;
    return &block;
  }
  return nullptr;
}

Block* allocate_block(int index, size_t size, size_t owner) {
  Device& device = devices[index];
  leave_limbo(device);
  if (device.usage.allocated + size > device.limit) return nullptr;
  Block* block = find(device, owner, size);
  if (!block) {
    block = find(device, kNobody, size);
    if (!block) return nullptr;
    block->owner = owner;
    device.usage.reserved += size;
  }
  device.usage.allocated += size;
  device.usage.peak = std::max(device.usage.peak, device.usage.allocated);
  ++Machine::get().counter(index).allocations;
  return block;
}

// Freed while others may still use it, though nobody has told the allocator so: it holds the memory
// until the recorded users are through, and with them all for which they have waited.
void check_free(int index, const Block& block, const Trace& trace) {
  Machine& machine = Machine::get();
  c10::Stream owner = machine.stream_of_lane(block.owner);
  Clock clock = machine.now(machine.stream(owner));
  for (const auto& left : block.left) clock.join(left.second);
  auto freed = std::make_shared<Operation>(
      Operation{"the allocator, to which the memory was returned without record_stream,", owner,
                block.owner, 0, trace});
  auto check = [&](const std::shared_ptr<const Operation>& operation, bool write) {
    if (!ordered(operation, clock)) machine.report({index, write, true, operation, freed});
  };
  auto [first, last] = cells(history, block.begin, block.begin + block.size);
  for (; first != last; ++first) {
    check(first->second.write, true);
    for (const auto& read : first->second.reads) check(read, false);
  }
}

void release(void* address) {
  if (!address) return;
  Machine& machine = Machine::get();
  Trace trace = frees_are_checked ? Trace::here(true) : Trace();
  int index = device_of(address);
  std::lock_guard lock(machine.state);
  Device& device = devices[index];
  Block& block = device.blocks.at(reinterpret_cast<uintptr_t>(address));
  device.usage.allocated -= block.size;
  ++machine.counter(index).frees;
  for (c10::Stream user : block.users) {
    block.left.emplace_back(user, machine.now(machine.stream(user)));
  }
  block.users.clear();
  if (frees_are_checked && machine.is_lane(block.owner)) check_free(index, block, trace);
  if (block.left.empty()) {
    put_back(device, block);
  } else {
    device.limbo.push_back(block.begin);
  }
}

void give_to_nobody(Device& device, size_t owner) {
  auto found = device.free.find(owner);
  if (found == device.free.end()) return;
  std::vector<uintptr_t> list;
  list.swap(found->second);
  for (uintptr_t begin : list) {
    Block& block = device.blocks.at(begin);
    device.usage.reserved -= block.size;
    block.owner = kNobody;
    block.free = false;
    put_back(device, block);
  }
}

class DeviceMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    Machine& machine = Machine::get();
    int index = Machine::current_device();
    machine.check_device(index);
    c10::Device device(kSim, static_cast<c10::DeviceIndex>(index));
    if (bytes == 0) return {nullptr, device};
    size_t size = (bytes + kGrain - 1) / kGrain * kGrain;
    c10::Stream current = machine.current_stream(index);
    bool captured = machine.capturing(current);
    if (!captured) machine.refuse_while_capturing("allocating outside the graph's memory");
    auto [begin, clean] = block(index, size, current);
    if (!begin) {
      machine.synchronize_device(index);
      empty_cache();
      std::tie(begin, clean) = block(index, size, current);
    }
    TORCH_CHECK_WITH(OutOfMemoryError, begin, "sim: out of memory on sim:", index, ": asked for ",
                     size, " bytes; ", usage(index).allocated, " of ", devices[index].limit,
                     " are in use");
    auto* address = reinterpret_cast<void*>(begin);
    if (clean && !captured) {
      Work work{"allocation"};
      work.compute = [address, size] { std::memset(alias(address), kPoison, size); };
      machine.queue(current, std::move(work), Trace());
    }
    return {address, address, &release, device};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    Machine& machine = Machine::get();
    auto begin = reinterpret_cast<uintptr_t>(to), source = reinterpret_cast<uintptr_t>(from);
    Work work{"copy of a storage"};
    work.accesses = {{source, source + bytes, false}, {begin, begin + bytes, true}};
    work.compute = [=] { std::memcpy(alias(to), alias(from), bytes); };
    machine.queue(machine.current_stream(device_of(to)), std::move(work));
  }

 private:
  // Where, and whether all that was done there comes before what the stream does next, so that
  // poison harms nobody.
  static std::pair<uintptr_t, bool> block(int index, size_t size, c10::Stream current) {
    Machine& machine = Machine::get();
    std::lock_guard lock(machine.state);
    Stream& stream = machine.stream(current);
    Block* found = allocate_block(index, size, stream.graph ? stream.graph->pool : stream.lane);
    if (!found) return {0, false};
    return {found->begin, all_ordered(*found, machine.now(stream))};
  }
};

std::mutex pinned_lock;
std::map<uintptr_t, size_t>& pinned_ranges = *new std::map<uintptr_t, size_t>;

class PinnedMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::kCPU};
    void* address = nullptr;
    TORCH_CHECK(posix_memalign(&address, kPageBytes, bytes) == 0, "sim: out of pinned memory");
    std::lock_guard lock(pinned_lock);
    pinned_ranges[reinterpret_cast<uintptr_t>(address)] = bytes;
    return {address, address, &unpin, c10::kCPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static void unpin(void* address) {
    {
      std::lock_guard lock(pinned_lock);
      pinned_ranges.erase(reinterpret_cast<uintptr_t>(address));
    }
    free(address);
  }
};

}  // namespace

c10::Allocator* allocator() {
  static auto* memory = (map_memory(), new DeviceMemory());
  return memory;
}

c10::Allocator* pinned_allocator() {
  static auto* memory = new PinnedMemory();
  return memory;
}

bool is_pinned(const void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(pinned_lock);
  auto after = pinned_ranges.upper_bound(at);
  if (after == pinned_ranges.begin()) return false;
  auto [begin, size] = *std::prev(after);
  return at < begin + size;
}

void* alias(const void* address) {
  if (!address) return nullptr;
  return aliases + (static_cast<const char*>(address) - addresses);
}

int device_of(const void* address) {
  auto distance = static_cast<const char*>(address) - addresses;
  TORCH_CHECK(distance >= 0 && static_cast<size_t>(distance) < kAllBytes, "sim: ", address,
              " is no address of a simulated device");
  return static_cast<int>(distance / kDeviceBytes);
}

void record_stream(const c10::DataPtr& data, c10::Stream stream) {
  if (!data.get()) return;
  Machine& machine = Machine::get();
  std::lock_guard lock(machine.state);
  Device& device = devices[device_of(data.get())];
  auto found = device.blocks.upper_bound(reinterpret_cast<uintptr_t>(data.get()));
  Block& block = std::prev(found)->second;
  if (machine.stream(stream).lane != block.owner &&
      std::find(block.users.begin(), block.users.end(), stream) == block.users.end()) {
    block.users.push_back(stream);
  }
}

void resize(c10::StorageImpl* storage, size_t bytes) {
  int before = Machine::exchange_device(storage->device().index());
  c10::DataPtr data = allocator()->allocate(bytes);
  Machine::exchange_device(before);
  size_t kept = std::min(bytes, storage->nbytes());
  if (kept) allocator()->copy_data(data.get(), storage->data(), kept);
  storage->set_data_ptr(std::move(data));
  storage->set_nbytes(bytes);
}

Usage usage(int device) {
  std::lock_guard lock(Machine::get().state);
  return devices.at(device).usage;
}

void reset_peak(int device) {
  std::lock_guard lock(Machine::get().state);
  devices.at(device).usage.peak = devices.at(device).usage.allocated;
}

void set_limit(int device, size_t bytes) {
  std::lock_guard lock(Machine::get().state);
  devices.at(device).limit = std::min(bytes, kDeviceBytes);
}

void empty_cache() {
  Machine& machine = Machine::get();
  for (int index = 0; index < machine.devices(); ++index) {
    machine.synchronize_device(index);
    std::lock_guard lock(machine.state);
    leave_limbo(devices[index]);
    for (size_t lane = 0; machine.is_lane(lane); ++lane) give_to_nobody(devices[index], lane);
  }
}

void release_pool(size_t pool) {
  std::lock_guard lock(Machine::get().state);
  for (Device& device : devices) give_to_nobody(device, pool);
}

void check_frees(bool on) { frees_are_checked = on; }

void reset() {
  std::lock_guard lock(Machine::get().state);
  history.clear();
  for (Device& device : devices) {
    device.limit = kDeviceBytes;
    device.usage.peak = device.usage.allocated;
  }
}

void access(Graph* graph, const std::vector<Access>& accesses,
            const std::shared_ptr<const Operation>& operation, const Clock& clock) {
  History& history = graph ? graph->history : memory::history;
  for (const Access& access : accesses) {
    int index = device_of(reinterpret_cast<const void*>(access.begin));
    auto [first, last] = cells(history, access.begin, access.end);
    auto compare = [&](const std::shared_ptr<const Operation>& earlier, bool write) {
      if (earlier == operation || ordered(earlier, clock)) return;
      Machine::get().report({index, write, access.write, earlier, operation});
    };
    for (auto cell = first; cell != last; ++cell) {
      compare(cell->second.write, true);
      if (access.write) {
        for (const auto& read : cell->second.reads) compare(read, false);
      }
    }
    if (access.write) {
      history.erase(first, last);
      history[access.begin] = Cell{access.end, operation, {}};
      continue;
    }
    uintptr_t at = access.begin;
    for (auto cell = first; cell != last; ++cell) {
      if (at < cell->first) history[at] = Cell{cell->first, nullptr, {operation}};
      auto& reads = cell->second.reads;
      reads.erase(std::remove_if(reads.begin(), reads.end(),
                                 [&](const auto& read) { return ordered(read, clock); }),
                  reads.end());
      reads.push_back(operation);
      at = cell->second.end;
    }
    if (at < access.end) history[at] = Cell{access.end, nullptr, {operation}};
  }
}

}  // namespace sim::memory
