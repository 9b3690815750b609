// Somebody else's kernel, for tests: reads the inputs that swa verify export wrote, computes with
// the oracle, writes outputs.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "folder.hpp"
#include "problem/cases.hpp"
#include "reference/oracle.hpp"
#include "scratch.hpp"
#include "tensor/npy.hpp"
#include "tensor/safetensors.hpp"

namespace swa::test {

inline Tensor<double> tensor_of(const Array& a) {
  REQUIRE(a.shape.size() == 4);
  Tensor<double> tensor(Shape{a.shape[0], a.shape[1], a.shape[2], a.shape[3]});
  tensor.data = a.values;
  return tensor;
}

inline Inputs inputs_of(const std::string& folder) {
  const SafetensorsFile file(folder + "/inputs.safetensors");
  Inputs inputs{
      tensor_of(file.read("q")), tensor_of(file.read("k")), tensor_of(file.read("v")), {}};
  for (const auto& entry : file.entries()) {
    if (entry.name == "sink_logits") inputs.sink_logits = file.read(entry).values;
  }
  return inputs;
}

struct Outputs {
  Array o, lse;
};

inline Outputs compute(const Problem& problem, const Inputs& inputs) {
  const Oracle oracle = dense_oracle(problem, inputs);
  const Shape s = oracle.out.shape;
  const Dtype wide = problem.dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
  return {{{s.batch, s.heads, s.tokens, s.dim}, problem.dtype, oracle.out.data},
          {{s.batch, s.heads, s.tokens}, wide, oracle.lse.data}};
}

inline void write_npy_outputs(const std::string& folder, const Outputs& outputs) {
  write_npy(folder + "/o.npy", outputs.o);
  write_npy(folder + "/lse.npy", outputs.lse);
}

// The case's own folder, and those of the probe's launches.
inline std::vector<std::string> calls_of(const std::string& folder) {
  std::vector<std::string> calls{folder};
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with("probe-")) calls.push_back(folder + "/" + name);
  }
  return calls;
}

using Misreads = std::function<void(Problem&)>;

// What somebody's kernel would do, who reads the problem in this way.
inline void answer(const std::string& root, const Misreads& misread = {}) {
  for (const Case& c : read_cases(root + "/cases.toml")) {
    Problem p = c.problem;
    if (misread) misread(p);
    for (const std::string& call : calls_of(root + "/" + c.name)) {
      write_npy_outputs(call, compute(p, inputs_of(call)));
    }
  }
}

// W taken for the keys besides the query.
inline Misreads one_too_wide() {
  return [](Problem& p) { p.window = Window::causal(p.window.width + 1); };
}

inline std::string exported(const Scratch& scratch, const std::string& problem,
                            const std::string& name = "x") {
  const std::string root = scratch.folder() + "/" + name;
  output("verify export --out " + root + " " + problem);
  return root;
}

}  // namespace swa::test
