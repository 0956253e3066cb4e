// The devices' memory: at addresses that the CPU cannot touch.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

#include "machine.h"

namespace sim::memory {

// The devices' allocator: on the current device, for its current stream.
c10::Allocator* allocator();
c10::Allocator* pinned_allocator();
bool is_pinned(const void* address);

// Where computations find what is at a device's address.
void* alias(const void* address);
int device_of(const void* address);

// Another stream uses the memory: it is not given away before that stream has come so far.
void record_stream(const c10::DataPtr& data, c10::Stream stream);
void resize(c10::StorageImpl* storage, size_t bytes);

struct Usage {
  size_t allocated = 0, peak = 0, reserved = 0;
};
Usage usage(int device);
void reset_peak(int device);
void set_limit(int device, size_t bytes);
void empty_cache();
void release_pool(size_t pool);
void check_frees(bool on);
void reset();

// Compares accesses with earlier ones, or with those that the same graph records. The lock of the
// machine's state is held.
void access(Graph* graph, const std::vector<Access>& accesses,
            const std::shared_ptr<const Operation>& operation, const Clock& clock);

}  // namespace sim::memory
