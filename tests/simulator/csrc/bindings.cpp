// What `simulator` calls from Python.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "generator.h"
#include "graphs.h"
#include "machine.h"
#include "memory.h"

namespace py = pybind11;

namespace {

using sim::Machine;

c10::Stream as_stream(int device, int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE,
                     c10::Device(sim::kSim, static_cast<c10::DeviceIndex>(device)), id);
}

sim::Order as_order(const std::string& name) {
  if (name == "eager") return sim::Order::kEager;
  if (name == "random") return sim::Order::kRandom;
  TORCH_CHECK(name == "late", "order is '", name, "'; 'eager', 'random' or 'late' is accepted");
  return sim::Order::kLate;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::register_local_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const c10::Error& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
    }
  });

  sim::register_backend();

  m.def("configure", [](int devices, const std::string& order, uint64_t seed) {
    Machine::get().configure(devices, as_order(order), seed);
  });
  m.def("check_frees", &sim::memory::check_frees);
  m.def("enable", [](bool on) { Machine::get().enable(on); });
  m.def("reset", [] {
    Machine::get().reset();
    sim::memory::reset();
  });
  m.def("races", [] { return Machine::get().races(); });
  m.def("waits", [] { return Machine::get().waits(); });
  m.def("counters", [](int device) {
    sim::Counters counted = Machine::get().counters(device);
    py::dict result;
    result["operations"] = counted.operations;
    result["host_waits"] = counted.host_waits;
    result["implicit_waits"] = counted.implicit_waits;
    result["allocations"] = counted.allocations;
    result["frees"] = counted.frees;
    return result;
  });

  m.def("device_count", [] { return Machine::get().devices(); });
  m.def("current_device", [] { return Machine::current_device(); });
  m.def("exchange_device", [](int to) { return Machine::exchange_device(to); });
  m.def("synchronize", [](int device) { Machine::get().synchronize_device(device); });
  m.def("is_capturing", [](int device, int64_t stream) {
    return Machine::get().capturing(as_stream(device, stream));
  });

  m.def("memory", [](int device) {
    sim::memory::Usage usage = sim::memory::usage(device);
    py::dict result;
    result["allocated"] = usage.allocated;
    result["peak"] = usage.peak;
    result["reserved"] = usage.reserved;
    return result;
  });
  m.def("reset_peak", &sim::memory::reset_peak);
  m.def("set_limit", &sim::memory::set_limit);
  m.def("empty_cache", &sim::memory::empty_cache);

  m.def("default_generator", [](int device) { return sim::default_generator(device); });

  py::class_<sim::Recording>(m, "Graph")
      .def(py::init<>())
      .def("begin",
           [](sim::Recording& recording, int device, int64_t stream) {
             recording.begin(as_stream(device, stream), 0, sim::Refuses::kAll);
           })
      .def("end", &sim::Recording::end)
      .def("replay",
           [](sim::Recording& recording, int device, int64_t stream) {
             recording.replay(as_stream(device, stream));
           })
      .def("reset", &sim::Recording::reset);
}
