// Where work was queued. The only file besides the bindings that knows Python.
#include <Python.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/profiler/combined_traceback.h>

#include <atomic>

#include "machine.h"

namespace sim {
namespace {

constexpr size_t kMostFrames = 12;

int this_thread() {
  static std::atomic<int> threads{0};
  thread_local int number = ++threads;
  return number;
}

}  // namespace

Trace Trace::here(bool held_only) {
  Trace trace;
  trace.thread_ = this_thread();
  if (auto node = torch::autograd::get_current_node()) trace.node_ = node->name();
  if (Py_IsInitialized() && (!held_only || PyGILState_Check())) {
    trace.python_ = torch::CapturedTraceback::gather(true, false, false);
  }
  return trace;
}

std::string Trace::text() const {
  std::string text = "  thread " + std::to_string(thread_) + "\n";
  if (!node_.empty()) text += "  in the backward pass of " + node_ + "\n";
  if (!python_) return text;
  auto* captured = static_cast<torch::CapturedTraceback*>(python_.get());
  auto symbolized = torch::symbolize({captured});
  const auto& frames = symbolized.tracebacks.at(0);  // the innermost first
  for (size_t i = 0; i < frames.size() && i < kMostFrames; ++i) {
    const auto& frame = symbolized.all_frames.at(frames[i]);
    if (frame.filename.find("/_pytest/") != std::string::npos) break;  // whoever runs the program
    text += "  " + frame.filename + ":" + std::to_string(frame.lineno) + " in " + frame.funcname +
            "\n";
  }
  return text;
}

WithoutPython::WithoutPython() {
  if (Py_IsInitialized() && PyGILState_Check()) saved_ = PyEval_SaveThread();
}

WithoutPython::~WithoutPython() {
  if (saved_) PyEval_RestoreThread(static_cast<PyThreadState*>(saved_));
}

}  // namespace sim
