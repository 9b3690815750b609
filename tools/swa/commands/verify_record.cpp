#include "commands/verify_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "figures/figures.hpp"

namespace swa::commands {
namespace {

report::Value position(const std::array<Index, 4>& index) {
  return report::Numbers(index.begin(), index.end());
}

std::string counted(Index count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

report::Value mask_word(const Verdict& v) {
  if (!v.mask) return {};
  return std::string(v.mask->exact() ? "exact" : "wrong");
}

report::Value of_mask(const Verdict& v, Index MaskComparison::*member) {
  return v.mask ? report::Value((*v.mask).*member) : report::Value();
}

report::Words wrong_pairs(const Problem& p, const MaskComparison& mask) {
  report::Words words;
  for (const WrongPair& pair : mask.first) words.push_back(describe(pair, p));
  return words;
}

report::Value poison_word(const Verdict& v) {
  if (!v.poison) return {};
  if (!v.poison->deterministic) return std::string("not repeatable");
  return std::string(v.poison->pass(v.granule) ? "clean" : "reached");
}

// Where the kernel is right by another convention, whose; empty otherwise.
std::string convention(const Diagnosis& d, const Problem& p) {
  return d.faults.size() == 1 ? convention_of(*d.faults.front(), p) : "";
}

report::Objects diagnosis_objects(const Problem& p, const Verdict& v) {
  report::Objects objects;
  for (const Diagnosis& d : v.diagnoses) {
    objects.push_back({{"fault", d.name()},
                       {"confidence", d.confidence()},
                       {"evidence", evidence(d, v)},
                       {"remedy", d.remedy(p)},
                       {"consistent_with", convention(d, p)}});
  }
  return objects;
}

}  // namespace

std::string evidence(const Diagnosis& d, const Verdict& v) {
  std::string text;
  if (v.probed) {
    text = fmt::format("{} of the probe is as this fault predicts",
                       v.probed->all_rows ? "every row" : "every sampled row");
  }
  if (!d.by_output) return text + "; outputs were not compared with its own, there are too many";
  if (!text.empty()) text += ", and ";
  text +=
      fmt::format("no element is further from its prediction than {:.2g} of the bound", d.distance);
  if (!std::isinf(d.next_distance)) {
    text += fmt::format("; the next explanation is {:.2g} bounds away", d.next_distance);
  }
  return text;
}

std::vector<std::string> findings(const Problem& p, const Verdict& v) {
  std::vector<std::string> lines;
  if (v.mask && !v.mask->exact()) {
    const MaskComparison& m = *v.mask;
    std::vector<std::string> parts;
    const auto add = [&](Index count, const char* one, const char* many) {
      if (count > 0) parts.push_back(counted(count, one, many));
    };
    add(m.extra, "key too many", "keys too many");
    add(m.missing, "key missing", "keys missing");
    add(m.repeated, "key counted more than once", "keys counted more than once");
    add(m.nan_rows, "row is NaN", "rows are NaN");
    add(m.unwritten_rows, "row never written", "rows never written");
    add(m.rows_from_k, "row read from k", "rows read from k");
    add(m.rows_with_other_weights, "row with other weights than 1 / n",
        "rows with other weights than 1 / n");
    add(m.wrong_heads, "head that reads another", "heads that read others");
    lines.push_back(fmt::format("mask: {} ({} pairs in {} rows should be seen)",
                                fmt::join(parts, ", "), m.pairs, m.rows));
    for (const WrongPair& pair : m.first) lines.push_back("  " + describe(pair, p));
  }
  if (v.poison && !v.poison->pass(v.granule)) {
    const PoisonTest& test = *v.poison;
    if (!test.dead.clean()) {
      lines.push_back(fmt::format("poison: {} in keys that no row sees changes the output",
                                  fmt::join(test.dead.changed_by, ", ")));
    }
    if (!test.isolation.finite_clean) {
      lines.emplace_back("poison: a key of 1e4 changes rows that do not see it");
    }
    if (v.granule && test.isolation.granule > *v.granule) {
      lines.push_back(fmt::format("poison: NaN reaches rows {} keys away, declared are {}",
                                  test.isolation.granule, *v.granule));
    }
  }
  for (const Diagnosis& d : v.diagnoses) {
    lines.push_back(fmt::format("diagnosis: {} ({}): {}", d.name(), d.confidence(), d.meaning()));
    for (const FaultSet& other : d.equivalent) {
      lines.push_back("  the same here: " + Diagnosis{other}.name());
    }
    const std::string other = convention(d, p);
    if (!other.empty()) lines.push_back("  consistent with " + other);
    lines.push_back("  cause: " + d.cause());
    lines.push_back("  remedy: " + d.remedy(p));
    lines.push_back("  evidence: " + evidence(d, v));
  }
  if (v.diagnosed && v.diagnoses.empty()) {
    lines.emplace_back("diagnosis: no known fault, and no pair that was tried, explains this");
  }
  return lines;
}

std::vector<std::string> facts(const Problem& p, const Verdict& v) {
  std::vector<std::string> lines;
  if (v.probed) {
    lines.push_back(fmt::format(
        "probe: {}, {}: the mask is {}", counted(v.probed->launches, "launch", "launches"),
        v.probed->all_rows ? "every row" : counted(v.mask->rows, "sampled row", "sampled rows"),
        v.mask->exact() ? "exact" : "wrong"));
    for (const std::string& line : describe_mask(p, *v.probed)) lines.push_back("  " + line);
  }
  if (v.poison && v.poison->deterministic) {
    const PoisonTest& test = *v.poison;
    std::string dead = "every key is seen by some row";
    if (test.dead.keys > 0) {
      dead = fmt::format("poison in {} that no row sees changes {}",
                         counted(test.dead.keys, "key", "keys"),
                         test.dead.clean() ? "no bit" : "the output");
    }
    std::string isolated = "whatever lies in a key changes no bit of a row that does not see it";
    if (test.isolation.granule > 0) {
      isolated = fmt::format("NaN in a key reaches rows up to {} away from seeing it",
                             counted(test.isolation.granule, "key", "keys"));
    }
    if (v.granule) isolated += fmt::format(" (declared: {})", *v.granule);
    lines.push_back("poison: " + dead);
    lines.push_back("  " + isolated);
  } else if (v.poison) {
    lines.emplace_back("poison: two runs on the same inputs differ, so nothing can be said");
  }
  for (const std::string& what : v.left_out) lines.push_back("left out: " + what);
  return lines;
}

Count blind_rows(const Problem& p) {
  Count rows = 0;
  for (const SharedMask& s : shared_masks(p)) {
    rows += Count{rows_without_keys(s.mask)} * s.sequences;
  }
  return rows;
}

report::Record record_of(const Case& c, const Verdict& v, const ProblemColumns& columns,
                         const Oracle& oracle, const std::string& formula,
                         const std::string& repro) {
  using report::Value;
  const bool ran = v.compared();
  const bool has_lse = ran && v.lse.elements > 0;
  const auto if_ran = [ran](const Value& value) { return ran ? value : Value(); };
  const auto [b, h, row, d] = v.output.worst;
  const RowFacts& facts = oracle.row_facts(b, h, row);
  report::Record record;
  record
      .add({"case", "case", "", c.name.empty() ? report::Show::machine : report::Show::everywhere},
           c.name)
      .add({"kernel", "kernel"}, v.kernel);
  add_mask(record, c.problem, columns);
  add_rest(record, c.problem, columns);
  record.add({"status", "status"}, std::string(name(v.status)))
      .add({"max_err", "max err", ".2e"}, if_ran(v.output.error))
      .add({"bound", "bound", ".2e"}, if_ran(v.output.bound))
      .add({"worst", "worst at (b, h, row, d)"}, if_ran(position(v.output.worst)))
      .hide("expected", if_ran(v.output.expected))
      .hide("got", if_ran(v.output.got))
      .hide("worst_keys", if_ran(facts.keys))
      .hide("worst_score_bound", if_ran(facts.score_bound))
      .hide("worst_abs_output", if_ran(oracle.abs_output.row(b, h, row)[d]))
      .hide("worst_largest_v", if_ran(facts.largest_v))
      .hide("worst_denominator", if_ran(facts.denominator))
      .add({"nonfinite", "NaN/Inf"}, if_ran(v.output.nonfinite))
      .add({"mismatches", "mismatches"}, if_ran(v.output.mismatches))
      .hide("elements", if_ran(v.output.elements))
      .hide("first_mismatch",
            v.output.first_mismatch ? position(*v.output.first_mismatch) : Value())
      .hide("lse_max_err", has_lse ? Value(v.lse.error) : Value())
      .hide("lse_bound", has_lse ? Value(v.lse.bound) : Value())
      .add({"lse_mismatches", "lse mismatches"}, has_lse ? Value(v.lse.mismatches) : Value())
      .add({"probe", "mask"}, mask_word(v))
      .hide("probe_rows", v.mask ? Value(v.mask->rows) : Value())
      .hide("probe_sampled", v.probed ? Value(!v.probed->all_rows) : Value())
      .hide("probe_most_keys", v.probed ? Value(largest_probe(c.problem.dtype)) : Value())
      .hide("probe_launches", v.probed ? Value(v.probed->launches) : Value())
      .hide("recovered", v.probed ? Value(describe_mask(c.problem, *v.probed)) : Value())
      .hide("extra_keys", of_mask(v, &MaskComparison::extra))
      .hide("missing_keys", of_mask(v, &MaskComparison::missing))
      .hide("repeated_keys", of_mask(v, &MaskComparison::repeated))
      .hide("first_wrong", v.mask ? Value(wrong_pairs(c.problem, *v.mask)) : Value())
      .hide("nan_rows", of_mask(v, &MaskComparison::nan_rows))
      .hide("unwritten_rows", of_mask(v, &MaskComparison::unwritten_rows))
      .hide("rows_from_k", of_mask(v, &MaskComparison::rows_from_k))
      .hide("rows_with_other_weights", of_mask(v, &MaskComparison::rows_with_other_weights))
      .hide("wrong_heads", of_mask(v, &MaskComparison::wrong_heads))
      .add({"poison", "poison"}, poison_word(v))
      .hide("dead_keys", v.poison ? Value(v.poison->dead.keys) : Value())
      .hide("dead_keys_changed_by", v.poison ? Value(v.poison->dead.changed_by) : Value())
      .hide("isolated_against_1e4", v.poison ? Value(v.poison->isolation.finite_clean) : Value())
      .hide("isolation_granule", v.poison ? Value(v.poison->isolation.granule) : Value())
      .hide("granule_declared", report::or_null(v.granule))
      .hide("left_out", v.left_out)
      .hide("diagnosis", v.diagnosed ? Value(diagnosis_objects(c.problem, v)) : Value())
      .hide("rows_without_keys", count_cell(blind_rows(c.problem)))
      .hide("tolerance", formula)
      .hide("reason", v.reason.empty() ? Value() : Value(v.reason))
      .hide("repro", repro);
  return record;
}

std::string figure_of(const Problem& p, const Verdict& v) {
  if (!v.probed) return {};
  const Sequence first = sequences(p).front();
  Index head = 0;
  if (!v.mask->first.empty() && v.mask->first.front().batch == first.batch) {
    head = v.mask->first.front().head;
  }
  std::vector<figures::RecoveredRow> rows;
  for (const ProbedRow& row : v.probed->rows) {
    const bool mine = row.batch == first.batch && row.head == head && row.row >= first.q_row &&
                      row.row < first.q_row + first.mask.n_q;
    if (!mine) continue;
    KeyRuns keys = row.keys;
    for (KeyRun& run : keys) {
      run.begin -= first.k_row;
      run.end -= first.k_row;
    }
    rows.push_back({row.row - first.q_row, !row.is_odd(), keys});
  }
  return figures::recovered_mask(first.mask, rows, v.kernel);
}

}  // namespace swa::commands
