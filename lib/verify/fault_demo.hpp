// A known fault, shown by a case that exposes it and by a usual one that hides it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/cases.hpp"
#include "verify/diagnosis.hpp"
#include "verify/fault_trial.hpp"

namespace swa {

struct ShownCase {
  const Case* of = nullptr;
  FaultTrial trial;
};

struct FaultDemo {
  const Fault* planted = nullptr;
  std::optional<ShownCase> exposing;  // of the telling cases, the one with the largest error
  std::string first_wrong_row;        // TrialGround::describe of it
  // The first of the usual cases that the fault passes, and what of it hides the fault: each of
  // these alone, imposed on the exposing case, makes that case pass too.
  std::optional<ShownCase> hiding;
  std::vector<std::string> reasons;
  Index seen_by = 0, usual = 0;  // usual cases that fail, of all

  // What the diagnosis says of the telling cases; empty for nothing. It was asked case by case,
  // the exposing one first, until one fault was left: these are the cases that ruled one out.
  std::string diagnosed_as;
  std::vector<std::string> told_by;

  // A telling case fails, in no other rows than the fault's own key ranges predict, where they do,
  // and the diagnosis names the fault.
  bool exposed_as_predicted() const;
  // A usual case that passes does so for a reason; true where there is none.
  bool hidden_as_predicted() const;
  bool as_predicted() const { return exposed_as_predicted() && hidden_as_predicted(); }
};

class FaultDemos {
 public:
  // Keeps references. Throws UsageError where there is no telling case.
  FaultDemos(const std::vector<Case>& telling, const std::vector<Case>& usual, TileShape tile);
  ~FaultDemos();

  FaultDemo show(const Fault& fault);

 private:
  struct Suite;
  void diagnose(FaultDemo& demo, const std::vector<Attention>& got, std::size_t first);
  std::vector<std::string> reasons_of(const Fault& fault, const Problem& exposing,
                                      const Problem& hiding) const;

  TileShape tile_;
  std::unique_ptr<Suite> telling_, usual_;
  std::vector<std::unique_ptr<Hypotheses>> hypotheses_;  // of the telling cases
};

}  // namespace swa
