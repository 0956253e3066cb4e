// Every operator: its result's shape now, by the meta kernel; its numbers later, by the CPU kernel
// on CPU tensors that alias the device's memory.
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sub.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "generator.h"
#include "machine.h"
#include "memory.h"

namespace sim {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;

bool on_device(const Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kSim;
}

constexpr size_t kMostShapes = 20000;

// PyTorch lets `tensor.data = other` go from the CPU to the devices of backends that it knows, and
// never to PrivateUse1's. HPU's bit makes the tensors known to that check; wherever kernels are looked
// up, PrivateUse1's goes before it.
const DispatchKeySet kKeys = DispatchKeySet(DispatchKey::PrivateUse1) |
                             DispatchKeySet(c10::BackendComponent::HPUBit);

// Kernels run outside of the modes (autograd, autocast, Python's dispatch modes) of their caller, and
// on as many cores in every thread.
class Clean {
 public:
  Clean() : guard_(state()) { at::internal::lazy_init_num_threads(); }

 private:
  static const at::ThreadLocalState& state() {
    static const auto* clean = [] {
      at::ThreadLocalState untouched;
      c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset |
                                               DispatchKeySet(DispatchKey::ADInplaceOrView));
      at::NoGradGuard no_grad;
      return new at::ThreadLocalState();
    }();
    return *clean;
  }
  at::ThreadLocalStateGuard guard_;
};

// The bytes that a tensor occupies, as few ranges as there can be.
void add_ranges(std::vector<Access>& accesses, const Tensor& tensor, bool write) {
  if (!on_device(tensor) || tensor.numel() == 0) return;
  std::vector<std::pair<size_t, size_t>> dims;  // stride in bytes, size; the innermost first
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) > 1 && tensor.stride(dim) > 0) {
      dims.emplace_back(tensor.stride(dim) * tensor.itemsize(), tensor.size(dim));
    }
  }
  std::sort(dims.begin(), dims.end());
  size_t run = tensor.itemsize(), inner = 0;
  for (; inner < dims.size() && dims[inner].first <= run; ++inner) {
    run = (dims[inner].second - 1) * dims[inner].first + std::max(run, dims[inner].first);
  }
  auto begin = reinterpret_cast<uintptr_t>(tensor.storage().data()) +
               tensor.storage_offset() * tensor.itemsize();
  std::vector<uintptr_t> begins{begin};
  for (; inner < dims.size(); ++inner) {
    size_t known = begins.size();
    for (size_t i = 1; i < dims[inner].second; ++i) {
      for (size_t k = 0; k < known; ++k) begins.push_back(begins[k] + i * dims[inner].first);
    }
  }
  for (uintptr_t at : begins) accesses.push_back({at, at + run, write});
}

// CPU tensors over devices' memory, for computations that come later. They own nothing: whoever
// frees the memory meanwhile is seen.
class Aliases {
 public:
  Tensor of(const Tensor& tensor) {
    if (!on_device(tensor)) return tensor;
    TORCH_CHECK(tensor.layout() == c10::kStrided, "sim: ", tensor.layout(),
                " tensors are not simulated");
    auto* storage = tensor.storage().unsafeGetStorageImpl();
    c10::Storage& known = storages_[storage];
    if (!known) {
      known = c10::Storage(c10::Storage::use_byte_size_t(), storage->nbytes(),
                           c10::DataPtr(memory::alias(storage->data()), c10::kCPU), nullptr, false);
    }
    Tensor made = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(known), DispatchKeySet(DispatchKey::CPU), tensor.dtype());
    auto* impl = made.unsafeGetTensorImpl();
    impl->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
    impl->_set_conj(tensor.is_conj());
    impl->_set_neg(tensor.is_neg());
    return made;
  }

 private:
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages_;
};

Tensor new_tensor(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType type,
                  c10::Device device) {
  c10::DeviceGuard guard(device);
  return Tensor(at::detail::empty_strided_generic(sizes, strides, memory::allocator(), kKeys, type));
}

Tensor new_like(const Tensor& shape, c10::Device device) {
  if (!shape.defined()) return shape;
  return new_tensor(shape.sizes(), shape.strides(), shape.scalar_type(), device);
}

// Gives a tensor another geometry, and a larger storage if it needs one.
void reshape_in_place(const Tensor& tensor, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  size_t bytes = at::detail::computeStorageNbytes(sizes, strides, tensor.itemsize(),
                                                  tensor.storage_offset());
  if (bytes > storage->nbytes()) memory::resize(storage, bytes);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
}

// Arguments

bool holds_tensors(const IValue& value) {
  return value.isList() && value.toListRef().size() > 0 &&
         std::any_of(value.toListRef().begin(), value.toListRef().end(),
                     [](const IValue& each) { return each.isTensor(); });
}

template <typename Function>
void for_each_tensor(const IValue& value, const Function& function) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) function(value.toTensor());
  } else if (holds_tensors(value)) {
    for (const IValue& each : value.toListRef()) for_each_tensor(each, function);
  }
}

// The same arguments with other tensors, for another device.
template <typename Function>
IValue mapped(const IValue& value, c10::Device device, const Function& function) {
  if (value.isTensor()) return value.toTensor().defined() ? function(value.toTensor()) : value;
  if (value.isDevice() && value.toDevice().type() == kSim) return device;
  if (!holds_tensors(value)) return value;
  c10::impl::GenericList list(value.toList().elementType());
  for (const IValue& each : value.toListRef()) list.push_back(mapped(each, device, function));
  return list;
}

struct Call {
  const OperatorHandle& op;
  const c10::FunctionSchema& schema;
  std::vector<IValue> arguments;
  c10::Device device;

  std::string name() const { return schema.name(); }
  bool writes(size_t argument) const {
    const auto* alias = schema.arguments()[argument].alias_info();
    return alias && alias->isWrite();
  }
  bool is_out(size_t argument) const {
    return writes(argument) && schema.arguments()[argument].kwarg_only();
  }
  // The argument that a result is, if it is no new tensor.
  std::optional<size_t> returned(size_t result) const {
    const auto* alias = schema.returns()[result].alias_info();
    for (size_t i = 0; alias && i < arguments.size(); ++i) {
      const auto* other = schema.arguments()[i].alias_info();
      if (other && other->beforeSets() == alias->beforeSets()) return i;
    }
    return std::nullopt;
  }
  std::vector<Access> accesses() const {
    std::vector<Access> all;
    for (size_t i = 0; i < arguments.size(); ++i) {
      for_each_tensor(arguments[i], [&](const Tensor& each) { add_ranges(all, each, writes(i)); });
    }
    return all;
  }
};

// As CUDA's indexing, which takes indices from the CPU.
bool takes_cpu_tensors(const std::string& name) { return name.find("index") != std::string::npos; }

c10::Device device_of(const c10::FunctionSchema& schema, const std::vector<IValue>& arguments) {
  std::optional<c10::Device> device;
  for (const IValue& argument : arguments) {
    for_each_tensor(argument, [&](const Tensor& each) {
      if (!device && on_device(each)) device = each.device();
    });
  }
  TORCH_CHECK_NOT_IMPLEMENTED(device, "sim: ", schema.name(), " has no tensor on a device");
  for (const IValue& argument : arguments) {
    for_each_tensor(argument, [&](const Tensor& each) {
      bool number = each.device().is_cpu() && (each.dim() == 0 || takes_cpu_tensors(schema.name()));
      TORCH_CHECK(each.device() == *device || number,
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  *device, " and ", each.device(), "! (when computing ", schema.name(), ")");
    });
  }
  return *device;
}

at::Generator generator_of(const IValue& given, c10::Device device) {
  at::Generator generator =
      given.isNone() ? default_generator(device.index()) : given.toGenerator();
  TORCH_CHECK(generator.device() == device, "Expected a generator of ", device, ", but found one of ",
              generator.device());
  return generator;
}

// Each piece of work draws from a generator of its own, seeded from the device's.
IValue generator_for(const IValue& given, c10::Device device) {
  return at::detail::createCPUGenerator(generator_of(given, device).get<GeneratorImpl>()->next());
}

// Has the generators among what CPU kernels are called with seeded again, for a replay.
std::function<std::function<void()>()> draw_anew(const Call& call,
                                                 const std::vector<IValue>& arguments) {
  std::vector<std::pair<at::Generator, at::Generator>> generators;  // the device's, and the call's
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isGenerator()) continue;
    generators.emplace_back(generator_of(call.arguments[i], call.device),
                            arguments[i].toGenerator());
  }
  if (generators.empty()) return nullptr;
  return [generators] {
    std::vector<std::pair<at::Generator, uint64_t>> seeded;
    for (const auto& [from, own] : generators) {
      seeded.emplace_back(own, from.get<GeneratorImpl>()->next());
    }
    return [seeded] {
      for (auto [own, seed] : seeded) own.set_current_seed(seed);
    };
  };
}

// What CPU kernels are called with.
std::vector<IValue> cpu_arguments(const Call& call, Aliases& aliases) {
  Clean clean;
  std::vector<IValue> made;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.schema.arguments()[i].type()->str().find("Generator") != std::string::npos) {
      made.push_back(generator_for(call.arguments[i], call.device));
      continue;
    }
    made.push_back(mapped(call.arguments[i], c10::kCPU, [&](const Tensor& each) {
      return on_device(each) ? aliases.of(each) : each.detach().clone();
    }));
  }
  return made;
}

void copy_results(const IValue& result, const IValue& place) {
  if (place.isTensor()) {
    if (!place.toTensor().defined()) return;
    // Kernels for the CPU leave out some of what others save for backward.
    if (result.toTensor().numel() == 0) return;
    TORCH_CHECK(result.toTensor().sizes() == place.toTensor().sizes(), "the result has sizes ",
                result.toTensor().sizes(), ", its meta kernel says ", place.toTensor().sizes());
    place.toTensor().copy_(result.toTensor());
  } else if (holds_tensors(place)) {
    for (size_t i = 0; i < place.toListRef().size(); ++i) {
      copy_results(result.toListRef()[i], place.toListRef()[i]);
    }
  }
}

// New tensors on the device for the results of a call, whose shapes `shapes` have.
std::vector<IValue> results_like(const Call& call, const Stack& shapes) {
  std::vector<IValue> results;
  for (size_t i = 0; i < call.schema.returns().size(); ++i) {
    if (auto argument = call.returned(i)) {
      results.push_back(call.arguments[*argument]);
    } else {
      results.push_back(mapped(shapes.at(i), call.device, [&](const Tensor& shape) {
        return new_like(shape, call.device);
      }));
    }
  }
  return results;
}

void fit_outputs(const Call& call, const std::vector<IValue>& shaped) {
  for (size_t i = 0; i < shaped.size(); ++i) {
    if (!call.writes(i) || !call.arguments[i].isTensor()) continue;
    const Tensor& tensor = call.arguments[i].toTensor();
    if (!on_device(tensor)) continue;
    const Tensor& shape = shaped[i].toTensor();
    if (tensor.sizes() != shape.sizes()) reshape_in_place(tensor, shape.sizes(), shape.strides());
  }
}

// CUDA fills what a mask selects without looking which it is.
bool fills_mask(const Call& call) {
  return call.name() == "aten::_index_put_impl_" && call.arguments[2].toTensor().numel() == 1 &&
         !call.arguments[3].toBool();
}

bool has_mask(const Call& call) {
  if (!takes_cpu_tensors(call.name())) return false;
  bool found = false;
  for (const IValue& argument : call.arguments) {
    if (!argument.isList()) continue;
    for_each_tensor(argument, [&](const Tensor& each) {
      found |= each.scalar_type() == at::kBool || each.scalar_type() == at::kByte;
    });
  }
  return found;
}

// Of what changes a single tensor in place, nothing need be known before.
bool keeps_shape(const Call& call) {
  size_t tensors = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.is_out(i)) return false;
    for_each_tensor(call.arguments[i], [&](const Tensor&) { ++tensors; });
  }
  for (size_t i = 0; i < call.schema.returns().size(); ++i) {
    if (!call.returned(i)) return false;
  }
  return tensors == 1 || (has_mask(call) && fills_mask(call));
}

bool needs_values(const Call& call) {
  if (has_mask(call) && !fills_mask(call)) return true;
  if (call.op.hasTag(at::Tag::dynamic_output_shape) ||
      call.op.hasTag(at::Tag::data_dependent_output)) {
    return true;
  }
  const auto& returns = call.schema.returns();
  return std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
    return result.type()->str().find("Tensor") == std::string::npos;
  });
}

struct Shapes {
  std::vector<IValue> arguments;
  Stack results;
};

// From the meta kernel, which also raises what is wrong with the arguments; none where there is no
// such kernel.
std::optional<Shapes> meta_shapes(const Call& call) {
  if (!call.op.hasComputedKernelForDispatchKey(DispatchKey::Meta)) return std::nullopt;
  Clean clean;
  std::unordered_map<c10::TensorImpl*, Tensor> made;
  auto meta = [&](const Tensor& each) {
    if (!on_device(each) && each.dim() == 0) return each;
    Tensor& known = made[each.unsafeGetTensorImpl()];
    if (!known.defined()) {
      known = Tensor(
          at::detail::empty_strided_meta(each.sizes(), each.strides(), each.scalar_type()));
    }
    return known;
  };
  Shapes shapes;
  for (const IValue& argument : call.arguments) {
    shapes.arguments.push_back(
        argument.isGenerator() ? IValue() : mapped(argument, c10::Device(c10::kMeta), meta));
  }
  shapes.results = shapes.arguments;
  try {
    call.op.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), &shapes.results);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  }
  return shapes;
}

template <typename Number>
void add_bytes(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Adds to a key what of an argument shapes may depend on; false if that cannot be told.
bool describe(std::string& key, const IValue& value) {
  key.push_back(value.tagKind()[0]);
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    add_bytes(key, tensor.defined());
    if (!tensor.defined()) return true;
    add_bytes(key, tensor.scalar_type());
    add_bytes(key, tensor.device().type());
    add_bytes(key, tensor.dim());
    for (int64_t size : tensor.sizes()) add_bytes(key, size);
    for (int64_t stride : tensor.strides()) add_bytes(key, stride);
    return true;
  }
  if (value.isList()) {
    add_bytes(key, value.toListRef().size());
    const auto& all = value.toListRef();
    return std::all_of(all.begin(), all.end(),
                       [&](const IValue& each) { return describe(key, each); });
  }
  if (value.isInt()) add_bytes(key, value.toInt());
  if (value.isDouble()) add_bytes(key, value.toDouble());
  if (value.isBool()) add_bytes(key, value.toBool());
  if (value.isString()) key += value.toStringRef() + '\0';
  return value.isInt() || value.isDouble() || value.isBool() || value.isString() ||
         value.isNone() || value.isGenerator() || value.isDevice();
}

// Many meta kernels are written in Python and slow, so what they say is kept.
std::optional<Shapes> shapes_of(const Call& call) {
  if (keeps_shape(call)) return Shapes{};
  static std::mutex lock;
  static auto& known = *new std::unordered_map<std::string, std::optional<Shapes>>;
  std::string key = call.name() + "." + call.schema.overload_name() + '\0';
  add_bytes(key, c10::get_default_dtype().id());
  bool told = std::all_of(call.arguments.begin(), call.arguments.end(),
                          [&](const IValue& argument) { return describe(key, argument); });
  if (!told) return meta_shapes(call);
  {
    std::lock_guard guard(lock);
    auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  std::optional<Shapes> shapes = meta_shapes(call);
  std::lock_guard guard(lock);
  if (known.size() > kMostShapes) known.clear();
  known[key] = shapes;
  return shapes;
}

std::vector<IValue> compute_later(const Call& call, const Shapes& shapes) {
  fit_outputs(call, shapes.arguments);
  std::vector<IValue> results = results_like(call, shapes.results);
  Aliases aliases;
  Work work{call.name()};
  work.accesses = call.accesses();
  std::vector<IValue> places(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (call.returned(i)) continue;
    places[i] = mapped(results[i], c10::kCPU, [&](const Tensor& each) { return aliases.of(each); });
    for_each_tensor(results[i],
                    [&](const Tensor& each) { add_ranges(work.accesses, each, true); });
  }
  std::vector<IValue> arguments = cpu_arguments(call, aliases);
  work.draw_anew = draw_anew(call, arguments);
  work.compute = [op = call.op, arguments = std::move(arguments), places] {
    Clean clean;
    Stack stack = arguments;
    op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), &stack);
    for (size_t i = 0; i < places.size(); ++i) copy_results(stack[i], places[i]);
  };
  Machine& machine = Machine::get();
  machine.queue(machine.current_stream(call.device.index()), std::move(work));
  return results;
}

void queue_copy(const Tensor& from, const Tensor& to, c10::Stream stream, const std::string& name) {
  Aliases aliases;
  Work work{name};
  add_ranges(work.accesses, from, false);
  add_ranges(work.accesses, to, true);
  work.compute = [from = aliases.of(from), to = aliases.of(to)] {
    Clean clean;
    to.copy_(from);
  };
  Machine::get().queue(stream, std::move(work));
}

// Where the shape of the result depends on numbers, or nothing tells it: the CPU waits for them.
std::vector<IValue> compute_now(const Call& call, bool implicit) {
  Machine& machine = Machine::get();
  c10::Stream stream = machine.current_stream(call.device.index());
  Aliases aliases;
  Stack stack = cpu_arguments(call, aliases);
  for (size_t i = 0; i < stack.size(); ++i) {
    if (call.is_out(i) && stack[i].isTensor()) stack[i] = at::empty_like(stack[i].toTensor());
  }
  std::vector<IValue> arguments = stack;
  Work check{call.name()};
  check.accesses = call.accesses();
  machine.queue(stream, std::move(check));
  machine.synchronize(stream, call.name(), implicit);
  {
    Clean clean;
    WithoutPython unlocked;
    call.op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), &stack);
  }
  fit_outputs(call, arguments);
  std::vector<IValue> results = results_like(call, stack);
  auto copy = [&](const Tensor& from, const Tensor& to) {
    if (from.numel()) queue_copy(from, to, stream, call.name());
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (call.is_out(i) && arguments[i].isTensor()) {
      copy(arguments[i].toTensor(), call.arguments[i].toTensor());
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (call.returned(i)) continue;
    if (stack[i].isTensor() && stack[i].toTensor().defined()) {
      copy(stack[i].toTensor(), results[i].toTensor());
    } else if (holds_tensors(stack[i])) {
      for (size_t k = 0; k < stack[i].toListRef().size(); ++k) {
        copy(stack[i].toListRef()[k].toTensor(), results[i].toListRef()[k].toTensor());
      }
    }
  }
  return results;
}

// What only concerns the geometry of a tensor: PyTorch's own for the CPU does it.
void geometry(const OperatorHandle& op, Stack* stack) {
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
}

void compute(const OperatorHandle& op, Stack* stack) {
  const auto& schema = op.schema();
  const auto& returns = schema.returns();
  bool view = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
    return result.alias_info() && !result.alias_info()->isWrite();
  });
  if (view) return geometry(op, stack);
  auto arguments = torch::jit::pop(*stack, schema.arguments().size());
  c10::Device device = device_of(schema, arguments);
  Call call{op, schema, std::move(arguments), device};
  c10::DeviceGuard guard(device);
  std::vector<IValue> results;
  if (needs_values(call)) {
    results = compute_now(call, false);
  } else if (auto shapes = shapes_of(call)) {
    results = compute_later(call, *shapes);
  } else {
    results = compute_now(call, true);
  }
  for (IValue& result : results) stack->push_back(std::move(result));
}

// Operators with a kernel of their own

c10::Device chosen(std::optional<c10::Device> device) {
  c10::Device found = device.value_or(c10::Device(kSim));
  if (found.has_index()) return found;
  return c10::Device(kSim, static_cast<c10::DeviceIndex>(Machine::current_device()));
}

Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> type,
             std::optional<c10::Layout> layout, std::optional<c10::Device> device,
             std::optional<bool> pinned, std::optional<c10::MemoryFormat> format) {
  TORCH_CHECK(layout.value_or(c10::kStrided) == c10::kStrided, "sim: ", *layout,
              " tensors are not simulated");
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
  c10::DeviceGuard guard(chosen(device));
  return Tensor(at::detail::empty_generic(size, memory::allocator(), kKeys,
                                          c10::dtype_or_default(type), format));
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                     std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                     std::optional<c10::Device> device, std::optional<bool>) {
  return new_tensor(size, stride, c10::dtype_or_default(type), chosen(device));
}

const Tensor& resize(const Tensor& self, c10::IntArrayRef size,
                     std::optional<c10::MemoryFormat> format) {
  Tensor shape(at::detail::empty_meta(size, self.scalar_type(), format));
  if (self.sizes() != size || format) reshape_in_place(self, size, shape.strides());
  return self;
}

Tensor& set_storage(Tensor& self, c10::Storage source, int64_t offset, c10::IntArrayRef size,
                    c10::IntArrayRef stride) {
  TORCH_CHECK(source.device() == self.device(), "sim: the storage is on ", source.device(),
              ", the tensor on ", self.device());
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  std::vector<int64_t> strides(stride.begin(), stride.end());
  if (strides.size() != size.size()) {
    strides.assign(size.size(), 1);
    for (size_t i = size.size(); i-- > 1;) {
      strides[i - 1] = strides[i] * std::max<int64_t>(size[i], 1);
    }
  }
  impl->set_storage_offset(offset);
  reshape_in_place(self, size, strides);
  return self;
}

Tensor& set_nothing(Tensor& self) {
  c10::Storage none(c10::Storage::use_byte_size_t(), 0,
                    c10::DataPtr(nullptr, self.device()), memory::allocator(), true);
  return set_storage(self, std::move(none), 0, {0}, {});
}

void record_stream(Tensor& self, c10::Stream stream) {
  memory::record_stream(self.storage().data_ptr(), stream);
}

// Inverted dropout, as `torch.nn.functional.dropout` asks of accelerators.
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p,
                                          std::optional<bool> train) {
  if (!train.value_or(true) || p == 0) {
    return {at::mul(input, 1), at::ones_like(input, input.options().dtype(at::kBool))};
  }
  Tensor kept = at::empty_like(input, input.options().dtype(at::kBool)).bernoulli_(1 - p);
  return {at::mul(at::mul(input, kept), p == 1 ? 0.0 : 1 / (1 - p)), kept};
}

// The cells that PyTorch's recurrent layers ask of accelerators, made of what has gradients.
using OptionalTensor = std::optional<Tensor>;

Tensor with_bias(const Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? at::add(gates, *bias) : gates;
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input, const Tensor& hidden,
                                             const Tensor& cell, const OptionalTensor& input_bias,
                                             const OptionalTensor& hidden_bias) {
  Tensor gates = at::add(with_bias(input, input_bias), with_bias(hidden, hidden_bias));
  auto parts = gates.chunk(4, 1);
  Tensor next = at::add(at::mul(parts[1].sigmoid(), cell),
                        at::mul(parts[0].sigmoid(), parts[2].tanh()));
  return {at::mul(parts[3].sigmoid(), next.tanh()), next, gates};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor& input, const Tensor& hidden, const Tensor& state,
                                    const OptionalTensor& input_bias,
                                    const OptionalTensor& hidden_bias) {
  auto in = with_bias(input, input_bias).chunk(3, 1);
  auto from = with_bias(hidden, hidden_bias).chunk(3, 1);
  Tensor reset = at::add(in[0], from[0]).sigmoid(), keep = at::add(in[1], from[1]).sigmoid();
  Tensor next = at::add(in[2], at::mul(reset, from[2])).tanh();
  return {at::add(at::mul(at::sub(state, next), keep), next), next};
}

std::string text(c10::Device device) {
  return device.is_cpu() ? "the CPU"
                         : "sim:" + std::to_string(static_cast<int>(device.index()));
}

// As CUDA's: between two devices on the source's stream, and both streams wait; from or to memory
// that is not pinned, the CPU waits, but not for its own memory to be read if it need not.
Tensor copy_from(const Tensor& from, const Tensor& to, bool non_blocking) {
  TORCH_CHECK(at::is_expandable_to(from.sizes(), to.sizes()), "The size of tensor a ", to.sizes(),
              " must match the size of tensor b ", from.sizes());
  if (to.numel() == 0) return to;
  Machine& machine = Machine::get();
  std::string name = "aten::copy_ from " + text(from.device()) + " to " + text(to.device());
  if (on_device(from) && on_device(to)) {
    c10::Stream source = machine.current_stream(from.device().index());
    c10::Stream target = machine.current_stream(to.device().index());
    machine.order(target, source);
    queue_copy(from, to, source, name);
    machine.order(source, target);
    return to;
  }
  const Tensor& host = on_device(from) ? to : from;
  TORCH_CHECK(host.device().is_cpu(), "sim: no copy from ", from.device(), " to ", to.device());
  c10::Stream stream =
      machine.current_stream((on_device(from) ? from : to).device().index());
  bool pinned = memory::is_pinned(host.storage().data());
  bool returns_at_once = non_blocking && (pinned || on_device(to));
  if (!returns_at_once) machine.refuse_while_capturing(name);
  Clean clean;
  Tensor staged = host;
  if (returns_at_once && !pinned) {
    staged = host.detach().clone();
  } else if (returns_at_once && on_device(from) && host.is_non_overlapping_and_dense()) {
    // What is in it before the copy is done, nobody should read.
    std::memset(host.mutable_data_ptr(), 0xff, host.nbytes());
  }
  Tensor held = staged.detach();
  on_device(from) ? queue_copy(from, held, stream, name) : queue_copy(held, to, stream, name);
  if (!returns_at_once) machine.synchronize(stream, name);
  return to;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (from.sizes() != to.sizes()) const_cast<Tensor&>(to).resize_(from.sizes());
  return copy_from(from, to, false);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("resize_", &resize);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("set_", &set_nothing);
  m.impl("record_stream", &record_stream);
  m.impl("native_dropout", &native_dropout);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  for (const char* name : {"set_.source_Storage", "set_.source_Tensor"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&geometry>());
  }
  // PyTorch would take these apart, for kernels that only their own backends have.
  for (const char* name : {"convolution", "convolution_backward"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&compute>());
  }
}

void with_gradients(torch::Library& m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { with_gradients(m); }
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { with_gradients(m); }

}  // namespace
}  // namespace sim
