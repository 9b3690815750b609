#include "verify/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "verify/kernel.hpp"

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Two predictions that differ by less than this share of a bound are the same but for rounding.
constexpr double kSame = 1e-4;

double distance(const std::vector<Evidence>& evidence, const FaultSet& planted) {
  double worst = 0;
  bool any = false;
  for (const Evidence& e : evidence) {
    const std::optional<double> found = e.hypotheses->distance(planted, e.seen);
    if (!found) continue;
    any = true;
    worst = std::max(worst, *found);
    if (worst == kInfinity) break;
  }
  return any ? worst : kInfinity;
}

// Of explanations that agree with the evidence. Where it is a mask alone, both predict that mask.
bool do_the_same(const std::vector<Evidence>& evidence, const FaultSet& a, const FaultSet& b) {
  return std::all_of(evidence.begin(), evidence.end(), [&](const Evidence& e) {
    return e.seen.got == nullptr || e.hypotheses->distance(a, b) <= kSame;
  });
}

bool changes_nothing(const std::vector<Evidence>& evidence, const Fault& f) {
  return std::all_of(evidence.begin(), evidence.end(), [&](const Evidence& e) {
    return e.seen.got != nullptr && e.hypotheses->distance({&f}, FaultSet{}) <= kSame;
  });
}

bool has_output(const std::vector<Evidence>& evidence) {
  return std::any_of(evidence.begin(), evidence.end(),
                     [](const Evidence& e) { return e.seen.got != nullptr; });
}

struct Candidate {
  FaultSet faults;
  double distance = 0;
};

double visible_pairs_of_all(const std::vector<Evidence>& evidence) {
  double pairs = 0;
  for (const Evidence& e : evidence) {
    if (e.seen.got != nullptr) pairs += visible_pairs_of(e.hypotheses->problem());
  }
  return pairs;
}

std::vector<Diagnosis> explain(const std::vector<Evidence>& evidence,
                               std::vector<Candidate> candidates) {
  for (Candidate& c : candidates) c.distance = distance(evidence, c.faults);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<Diagnosis> found;
  for (const Candidate& c : candidates) {
    if (!(c.distance <= 1)) break;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Diagnosis& d) {
      return do_the_same(evidence, d.faults, c.faults);
    });
    if (same != found.end()) {
      same->equivalent.push_back(c.faults);
    } else {
      found.push_back({c.faults, {}, c.distance, kInfinity, has_output(evidence)});
    }
  }
  for (Diagnosis& d : found) {
    for (const Candidate& c : candidates) {
      const bool same = c.faults == d.faults || std::find(d.equivalent.begin(), d.equivalent.end(),
                                                          c.faults) != d.equivalent.end();
      if (same) continue;
      d.next_distance = c.distance;
      break;
    }
  }
  return found;
}

template <class Part>
std::string joined(const FaultSet& faults, const char* between, Part part) {
  std::string text;
  for (const Fault* f : faults) {
    if (!text.empty()) text += between;
    text += part(*f);
  }
  return text;
}

}  // namespace

std::string Diagnosis::name() const {
  return name_of(faults);
}

std::string Diagnosis::meaning() const {
  return joined(faults, "; and ", [](const Fault& f) { return std::string(f.meaning); });
}

std::string Diagnosis::cause() const {
  return joined(faults, "; and ", [](const Fault& f) { return std::string(f.cause); });
}

std::string Diagnosis::remedy(const Problem& problem) const {
  return joined(faults, "; and ", [&](const Fault& f) { return remedy_of(f, problem); });
}

std::string Diagnosis::confidence() const {
  constexpr double kNear = 10;
  if (next_distance <= 1) return "possible";
  return next_distance <= kNear ? "likely" : "certain";
}

FaultSet all_faults() {
  FaultSet all;
  for (const Fault& f : faults()) all.push_back(&f);
  return all;
}

std::vector<Diagnosis> diagnose(const std::vector<Evidence>& evidence, const FaultSet& list) {
  if (distance(evidence, {}) <= 1) return {};
  std::vector<Candidate> candidates;
  for (const Fault* f : list) candidates.push_back({{f}, 0});
  return explain(evidence, std::move(candidates));
}

std::vector<Diagnosis> diagnose_pairs(const std::vector<Evidence>& evidence, double most_pairs) {
  if (distance(evidence, {}) <= 1) return {};
  FaultSet effective;
  for (const Fault& f : faults()) {
    if (!changes_nothing(evidence, f)) effective.push_back(&f);
  }
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < effective.size(); ++i) {
    for (std::size_t j = i + 1; j < effective.size(); ++j) {
      candidates.push_back({{effective[i], effective[j]}, 0});
    }
  }
  const double pairs = visible_pairs_of_all(evidence) * static_cast<double>(candidates.size());
  return pairs > most_pairs ? std::vector<Diagnosis>{} : explain(evidence, std::move(candidates));
}

}  // namespace swa
