#include "commands/budget_solve.hpp"

#include <fmt/format.h>

#include <optional>

#include "error.hpp"

namespace swa::commands {
namespace {

using report::Value;

struct Case {
  const ChosenModel& model;
  const ChosenLayout& layout;
  Demand demand;
  Index under;
};

// One value of the quantity, and the bytes that go with it.
struct Row {
  std::string value;
  Index number;
  std::string meaning;
  std::optional<Index> bytes;  // nothing where they are beyond counting, or the engine refuses
};

template <class BytesOf>
std::optional<Index> countable(BytesOf bytes) {
  try {
    return bytes();
  } catch (const TooManyBytes&) {
    return std::nullopt;
  } catch (const NotServed&) {
    return std::nullopt;
  }
}

void add(report::Table& table, const Case& c, const std::string& quantity, const Row& row) {
  report::Record record;
  record.hide("model", c.model.model().id)
      .add({"title", "model"}, c.model.model().title)
      .hide("quantity", quantity)
      .hide("number", row.number)
      .add({"value", quantity}, row.value)
      .add({"meaning", "meaning"}, row.meaning)
      .add({"layout", "layout"}, c.layout.text)
      .add({"context", "ctx"}, quantity == "context" ? Value() : Value(c.demand.context))
      .hide("batch", quantity == "batch" ? Value() : Value(c.demand.batch))
      .hide("dtype", type_name(c.demand))
      .hide("under", c.under)
      .add({"bytes", "bytes"}, report::or_null(row.bytes))
      .add({"gib", "GiB", ".3f"},
           row.bytes ? Value(static_cast<double>(*row.bytes) / kGiB) : Value())
      .add({"fits", "fits"}, row.bytes && *row.bytes <= c.under);
  append(table, record);
}

Index bytes_of(const Case& c, const Model& model) {
  return peak_bytes(c.layout, model, c.demand);
}

std::string pattern(Index local_per_global, bool global_first) {
  constexpr Index kMostLetters = 12;
  const std::string run = local_per_global <= kMostLetters
                              ? std::string(static_cast<std::size_t>(local_per_global), 'L')
                              : fmt::format("L x {}", local_per_global);
  return global_first ? "G" + run : run + "G";
}

// Ratios a:1 round in one of two ways, by where in the pattern its global layer stands.
Index global_layers_of(Index layers, Index a, bool global_first) {
  return global_first ? ceil_div(layers, a + 1) : layers / (a + 1);
}

bool solve_ratio(report::Table& table, const Case& c) {
  const Model& model = c.model.model();
  const auto layers = static_cast<Index>(model.layers.size());
  const Index most = most_global_layers(c.layout, model, c.demand, c.under);
  const auto row = [&](std::string value, Index global, std::string meaning) {
    add(table, c, "ratio", {std::move(value), global, std::move(meaning), countable([&] {
                              return bytes_of(c, with_global_layers(model, global));
                            })});
  };
  const auto count = [&](Index global) {
    row(fmt::format("{}:{}", layers - global, global), global,
        fmt::format("{} of {} layers global", global, layers));
  };
  if (most < 0) {
    count(0);
    return false;
  }
  count(most);
  if (most < layers) count(most + 1);
  for (const bool first : {false, true}) {
    Index a = 0;
    while (a < layers && global_layers_of(layers, a, first) > most) ++a;
    for (const Index ratio : {a, a - 1}) {
      if (ratio < 0 || global_layers_of(layers, ratio, first) > layers) continue;
      const Index global = global_layers_of(layers, ratio, first);
      row(fmt::format("{}:1", ratio), global,
          fmt::format("{} repeated, {} of {} global", pattern(ratio, first), global, layers));
    }
  }
  return true;
}

// The answer and its neighbour, of a quantity that is a count of at least 1.
template <class BytesOf>
bool solve_count(report::Table& table, const Case& c, const std::string& quantity,
                 const std::string& meaning, Index most, BytesOf bytes) {
  if (most >= kUnbounded) {
    add(table, c, quantity, {"no end", most, "all that can be asked", bytes(most)});
    return true;
  }
  if (most > 0) add(table, c, quantity, {fmt::format("{}", most), most, meaning, bytes(most)});
  const std::optional<Index> more = countable([&] { return bytes(most + 1); });
  add(table, c, quantity, {fmt::format("{}", most + 1), most + 1, "one more", more});
  return most > 0;
}

bool solve_one(report::Table& table, const Case& c, const std::string& quantity) {
  const Model& model = c.model.model();
  if (quantity == "ratio") return solve_ratio(table, c);
  if (quantity == "window") {
    return solve_count(table, c, quantity, "the widest window of the sliding layers",
                       widest_window(c.layout, model, c.demand, c.under),
                       [&](Index W) { return bytes_of(c, with_window(model, W)); });
  }
  Demand demand = c.demand;
  if (quantity == "context") {
    return solve_count(table, c, quantity, "the longest context of each sequence",
                       most_context(c.layout, model, c.demand, c.under), [&](Index context) {
                         demand.context = context;
                         return peak_bytes(c.layout, model, demand);
                       });
  }
  return solve_count(table, c, quantity, "the most sequences",
                     most_sequences(c.layout, model, c.demand, c.under), [&](Index batch) {
                       demand.batch = batch;
                       return peak_bytes(c.layout, model, demand);
                     });
}

}  // namespace

std::vector<std::string> solve_words() {
  return {"ratio", "window", "context", "batch"};
}

cli::Outcome solve(const BudgetRequest& request, const std::string& quantity, Index under) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.kv-budget.solve/1";
  report::Table table;
  report::Lines refused;
  std::optional<UsageError> first;
  for (const ChosenModel& model : request.models) {
    for (const ChosenLayout& layout : request.layouts) {
      for (const Index context : request.contexts) {
        Demand demand = request.demand;
        demand.context = context;
        try {
          require_known(model.model());
          if (!solve_one(table, {model, layout, demand, under}, quantity)) outcome.status = 1;
        } catch (const UsageError& refusal) {
          if (!first) first = refusal;
          refused.lines.push_back(
              fmt::format("{}, {}: {}", model.model().id, layout.text, refusal.what()));
        }
      }
    }
  }
  if (table.rows.empty() && first) throw *first;
  std::string heading = fmt::format("{} under {} bytes ({:.3f} GiB), {}", quantity, under,
                                    static_cast<double>(under) / kGiB, type_name(request.demand));
  if (quantity != "batch") heading += fmt::format(", batch {}", request.demand.batch);
  outcome.report.blocks.push_back(report::Lines{{heading}});
  outcome.report.blocks.push_back(table);
  if (!refused.lines.empty()) outcome.report.blocks.push_back(refused);
  return outcome;
}

}  // namespace swa::commands
