// Graphs with the memory that only their replays use.
#pragma once

#include "machine.h"

namespace sim {

// A graph, for Python and for torch.accelerator.Graph.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { reset(); }

  // Records a stream, into the memory of the graph whose `pool` this is, or into new for 0.
  void begin(c10::Stream stream, size_t pool, Refuses refuses);
  void end();
  void replay(c10::Stream stream);
  void reset();
  size_t pool() const;

 private:
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<const size_t> pool_;  // its memory is released with the last graph that uses it
};

}  // namespace sim
