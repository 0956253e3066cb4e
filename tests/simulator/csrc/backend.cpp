// What PyTorch asks of an accelerator: devices, streams, events, memory, generators.
#include <ATen/core/GeneratorForPrivateuseone.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/api/include/torch/version.h>

#include "generator.h"
#include "machine.h"
#include "memory.h"

namespace sim {
namespace {

using MarkPtr = std::shared_ptr<Mark>;

c10::Device device(int index) {
  return c10::Device(kSim, static_cast<c10::DeviceIndex>(index));
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kSim; }
  c10::Device exchangeDevice(c10::Device to) const override {
    return device(Machine::exchange_device(to.index()));
  }
  c10::Device getDevice() const override { return device(Machine::current_device()); }
  void setDevice(c10::Device to) const override { Machine::exchange_device(to.index()); }
  void uncheckedSetDevice(c10::Device to) const noexcept override {
    try {
      Machine::exchange_device(to.index());
    } catch (...) {  // it is a destructor that puts the device back
    }
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(Machine::get().devices());
  }

  c10::Stream getStream(c10::Device of) const noexcept override {
    return Machine::get().current_stream(of.index());
  }
  c10::Stream getDefaultStream(c10::Device of) const override {
    return c10::Stream(c10::Stream::DEFAULT,
                       of.has_index() ? of : device(Machine::current_device()));
  }
  c10::Stream getNewStream(c10::Device of, int) const override {
    return Machine::get().new_stream(of.index());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device of, bool) const override {
    return Machine::get().new_stream(of.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return Machine::get().exchange_stream(stream);
  }
  bool queryStream(const c10::Stream& stream) const override {
    return Machine::get().query(stream);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    Machine::get().synchronize(stream, "synchronising with a stream");
  }
  void synchronizeDevice(const c10::DeviceIndex index) const override {
    Machine::get().synchronize_device(index);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    memory::record_stream(data, stream);
  }

  // An event is what its last record marked.
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    if (!*event) *event = new MarkPtr();
    at(*event) = Machine::get().record(stream);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) Machine::get().block(stream, at(event));
  }
  bool queryEvent(void* event) const override { return !event || Machine::get().query(at(event)); }
  void synchronizeEvent(void* event) const override {
    if (event) Machine::get().synchronize(at(event));
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<MarkPtr*>(event);
  }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex) const override {
    TORCH_CHECK(first && second, "sim: both events must have been recorded");
    return Machine::get().elapsed(*at(first), *at(second));
  }

 private:
  static MarkPtr& at(void* event) { return *static_cast<MarkPtr*>(event); }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex index) const override {
    return index >= 0 && index < Machine::get().devices();
  }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(Machine::get().devices());
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(Machine::current_device());
  }
  void setCurrentDevice(c10::DeviceIndex to) const override { Machine::exchange_device(to); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex to) const override {
    return static_cast<c10::DeviceIndex>(Machine::exchange_device(to));
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex to) const override {
    return exchangeDevice(to);
  }
  bool isPinnedPtr(const void* address) const override { return memory::is_pinned(address); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return memory::pinned_allocator(); }
  c10::Device getDeviceFromPtr(void* address) const override {
    return device(memory::device_of(address));
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index);
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    memory::resize(storage.unsafeGetStorageImpl(), bytes);
  }

  // Since PyTorch 2.7
  bool isBuilt() const { return true; }
  bool isAvailable() const { return Machine::get().devices() > 0; }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return new_generator(index);
  }
};

}  // namespace

void register_backend() {
  c10::SetAllocator(kSim, memory::allocator());
  static c10::impl::DeviceGuardImplRegistrar guard(kSim, new Guard());
  at::RegisterPrivateUse1HooksInterface(new Hooks());
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 7  // later ones ask the hooks
  static at::_GeneratorRegister generators(new_generator);
#endif
}

}  // namespace sim
