// Which known fault explains what a kernel did?
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "verify/hypotheses.hpp"

namespace swa {

// What one kernel did on one problem.
struct Evidence {
  Hypotheses* hypotheses = nullptr;
  Observation seen;
};

struct Diagnosis {
  FaultSet faults;                        // one, or two that only together explain what was seen
  std::vector<FaultSet> equivalent = {};  // others that do the same on all of these problems
  double distance = 0;       // of this explanation, at most 1; see Hypotheses::distance
  double next_distance = 0;  // of the best other explanation that does not do the same
  bool by_output = false;    // outputs were compared; else it rests on the probe alone

  std::string name() const;  // "top-left", or "top-left+scale-missing"
  std::string meaning() const;
  std::string cause() const;
  std::string remedy(const Problem& problem) const;
  // "certain": no other known fault comes near; "likely": no other agrees; "possible": others do.
  std::string confidence() const;
};

// The explanations by one fault of the list that agree with all of the evidence, best first. None
// where the right kernel agrees, and none where no fault does.
std::vector<Diagnosis> diagnose(const std::vector<Evidence>& evidence, const FaultSet& list);
// The same by two faults at once, of those that change anything here. None where more than
// `most_pairs` query-key pairs would have to be computed.
std::vector<Diagnosis> diagnose_pairs(const std::vector<Evidence>& evidence, double most_pairs);

FaultSet all_faults();

}  // namespace swa
