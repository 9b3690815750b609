// Names of models as people write them.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace swa {

// The models of the chapter's table, in its order.
inline constexpr std::array<std::string_view, 4> kChapterModels{"mistral-7b-v0.1", "gemma2-27b",
                                                                "gpt-oss-120b", "gemma2-27b-5to1"};

// The model that is meant: by its id, an alias or the publisher's repository, where case and the
// signs between letters and digits do not count, and neither do endings such as "-it" or
// "-instruct" that name a variant of the same shape. nullptr where there is none, or where the name
// is another publisher's.
const Model* find_model(const std::vector<Model>& models, std::string_view typed);

}  // namespace swa
