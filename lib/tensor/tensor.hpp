// A dense tensor [batch, heads, tokens, dim] that owns its elements, row-major.
#pragma once

#include <cstddef>
#include <vector>

#include "mask/window.hpp"

namespace swa {

struct Shape {
  Index batch = 1, heads = 1, tokens = 0, dim = 0;

  Index size() const { return batch * heads * tokens * dim; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

template <class Real>
struct Tensor {
  Shape shape;
  std::vector<Real> data;

  Tensor() = default;
  explicit Tensor(Shape s, Real value = Real{})
      : shape(s), data(static_cast<std::size_t>(s.size()), value) {}

  // The `dim` elements of one token; tokens of a head follow one another.
  Real* row(Index b, Index h, Index t) { return data.data() + offset(b, h, t); }
  const Real* row(Index b, Index h, Index t) const { return data.data() + offset(b, h, t); }

 private:
  std::size_t offset(Index b, Index h, Index t) const {
    return static_cast<std::size_t>(((b * shape.heads + h) * shape.tokens + t) * shape.dim);
  }
};

template <class To, class From>
Tensor<To> cast(const Tensor<From>& from) {
  Tensor<To> to;
  to.shape = from.shape;
  to.data.assign(from.data.begin(), from.data.end());
  return to;
}

}  // namespace swa
