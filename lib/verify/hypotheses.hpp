// What a kernel with planted faults would do on one problem, and how far that is from what was
// seen.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "reference/oracle.hpp"
#include "verify/faults.hpp"
#include "verify/probe.hpp"
#include "verify/tolerance.hpp"

namespace swa {

// What was seen of a kernel; a part may be missing.
struct Observation {
  const Attention* got = nullptr;  // for the inputs of the hypotheses
  const Probe* probe = nullptr;
};

class Hypotheses {
 public:
  // Keeps references. `tile` is that of the faults that depend on one.
  Hypotheses(const Problem& problem, TileShape tile, SumRuns sums, const Inputs& inputs,
             const Oracle& oracle);

  const Problem& problem() const { return problem_; }

  // The largest |seen - predicted|, in units of the bound for a kernel that computes what is
  // predicted: at most 1 where it agrees; where it does not, perhaps less than that, but above 1.
  // Infinite where one is finite and the other is not, and where the probe found other keys, heads
  // or sequences than predicted. Where there is a probe and no output, also for what the planned
  // keys do not tell: faults of other kinds, and rows that are NaN, never written, or out of k.
  // Nothing where faults are planted and their bound is so wide that zeros would agree as well.
  std::optional<double> distance(const FaultSet& planted, const Observation& seen);
  // The same between two predictions.
  double distance(const FaultSet& a, const FaultSet& b);

  // Computes what the right kernel and each fault predict; after that, distances of these may be
  // asked for by several threads at once.
  void prepare();

 private:
  struct Prediction {
    Attention exact;                           // in double, not rounded
    std::optional<Tensor<double>> abs_output;  // sum of weight |v|, where it was needed
    RowFacts facts;                            // no row has worse ones
  };
  Prediction compute(const FaultSet& planted) const;
  void add_abs_output(const FaultSet& planted, Prediction& prediction) const;
  // Kept, for the right kernel and single faults.
  Prediction& predict(const FaultSet& planted);
  // Where the sums of weight |v| are missing, the largest |v| takes their place.
  double output_distance(const Prediction& predicted, const Attention& got) const;
  double output_distance(const FaultSet& planted, Prediction& predicted,
                         const Attention& got) const;
  // Whether the bound is so wide that an output of zeros agrees with most elements; a prediction
  // that has its abs_output.
  bool zeros_agree(const Prediction& predicted) const;
  bool probe_agrees(const FaultSet& planted, const Probe& probe) const;

  const Problem& problem_;
  TileShape tile_;
  Tolerance tolerance_;
  const Inputs& inputs_;
  const Oracle& oracle_;
  std::map<FaultSet, Prediction> predictions_;
};

}  // namespace swa
