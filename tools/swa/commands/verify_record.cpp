#include "commands/verify_record.hpp"

#include <array>

namespace swa::commands {
namespace {

report::Value position(const std::array<Index, 4>& index) {
  return report::Numbers(index.begin(), index.end());
}

}  // namespace

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
      .hide("rows_without_keys", count_cell(blind_rows(c.problem)))
      .hide("tolerance", formula)
      .hide("reason", v.reason.empty() ? Value() : Value(v.reason))
      .hide("repro", repro);
  return record;
}

}  // namespace swa::commands
