#include "generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include "machine.h"

namespace sim {

GeneratorImpl::GeneratorImpl(c10::DeviceIndex device)
    : c10::GeneratorImpl(c10::Device(kSim, device),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK(state.device().is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() &&
                  state.numel() == 2 * sizeof(uint64_t) && state.is_contiguous(),
              "sim: the state of a generator is a ByteTensor of 16 on the CPU");
  const auto* words = static_cast<const uint64_t*>(state.data());
  seed_ = words[0];
  offset_ = words[1];
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  at::Tensor state = at::detail::empty_cpu({2 * sizeof(uint64_t)}, at::kByte);
  auto* words = static_cast<uint64_t*>(state.mutable_data_ptr());
  words[0] = seed_;
  words[1] = offset_;
  return state.getIntrusivePtr();
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto* copy = new GeneratorImpl(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

uint64_t GeneratorImpl::next() {
  std::lock_guard lock(mutex_);
  std::seed_seq mix{seed_, seed_ >> 32, offset_, offset_ >> 32};
  ++offset_;
  uint32_t words[2];
  mix.generate(words, words + 2);
  return uint64_t{words[0]} << 32 | words[1];
}

const at::Generator& default_generator(int device) {
  static auto* generators = [] {
    auto* made = new std::vector<at::Generator>;
    for (int i = 0; i < kMostDevices; ++i) {
      made->push_back(new_generator(static_cast<c10::DeviceIndex>(i)));
    }
    return made;
  }();
  return generators->at(device < 0 ? Machine::current_device() : device);
}

at::Generator new_generator(c10::DeviceIndex device) {
  if (device < 0) device = static_cast<c10::DeviceIndex>(Machine::current_device());
  return at::make_generator<GeneratorImpl>(device);
}

}  // namespace sim
