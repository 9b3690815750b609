#include "reference/gemm_roof.hpp"

#include <Eigen/Core>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "parallel.hpp"

namespace swa {
namespace {

using Clock = std::chrono::steady_clock;

// Any numbers do, as long as none is subnormal.
template <class Real>
std::vector<Real> some_numbers(Index count) {
  std::vector<Real> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<Real>(i % 7) + static_cast<Real>(0.5);
  }
  return numbers;
}

}  // namespace

template <class Real>
GemmRoof<Real>::GemmRoof(GemmShape shape)
    : shape_(shape),
      a_(some_numbers<Real>(shape.m * shape.k)),
      b_(some_numbers<Real>(shape.k * shape.n)) {
  const Index warm_up = thread_count();
  run(warm_up);
  seconds_of_one_ = run(warm_up) / static_cast<double>(warm_up);
}

template <class Real>
double GemmRoof<Real>::measure(double seconds) {
  const Index least = thread_count();
  const Index products = larger(least, static_cast<Index>(std::ceil(seconds / seconds_of_one_)));
  const double taken = run(products);
  seconds_of_one_ = taken / static_cast<double>(products);
  return shape_.flops() / seconds_of_one_;
}

template <class Real>
double GemmRoof<Real>::run(Index products) const {
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Block = Eigen::Map<const Matrix>;
  // A few turns a thread, so that a thread that loses its core leaves work to the others.
  const Index turns = smaller(products, 8 * thread_count());
  const auto begin = Clock::now();
  parallel_for(turns, [&](Index turn) {
    const Block A(a_.data(), shape_.m, shape_.k), B(b_.data(), shape_.k, shape_.n);
    Matrix C = Matrix::Zero(shape_.m, shape_.n);
    for (Index i = turn; i < products; i += turns) C.noalias() += A * B;
    if (!(C.sum() > 0)) throw std::logic_error("the products are wrong");  // and are looked at
  });
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template class GemmRoof<float>;
template class GemmRoof<double>;

}  // namespace swa
