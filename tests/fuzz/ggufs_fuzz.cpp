#include "budget/demand.hpp"
#include "fuzz/targets.hpp"
#include "model/gguf/read.hpp"

bool swa::fuzz::ggufs(Bytes file) {
  return is_taken([file] {
    const ConfigReading reading = model_from_gguf(read_gguf_header(Source("f", file)), "f");
    const Model& model = reading.model;
    require(!model.layers.empty(), "a layer at least");
    require(logical_bytes(model, {1000, 1}) <= all_global_bytes(model, {1000, 1}),
            "windows that save memory");
  });
}
