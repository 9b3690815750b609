// Element types and their roundings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace swa {

// tf32: what tensor cores make of the factors of a product in fp32. It has the exponents of fp32
// and 10 bits of fraction, and takes 4 bytes.
enum class Dtype : std::uint8_t { fp64, fp32, tf32, bf16, fp16, fp8_e4m3, fp8_e5m2 };

std::string_view name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view word);
// What holds its numbers in memory, in files and as outputs: fp32 for tf32, otherwise itself.
Dtype stored_dtype(Dtype dtype);
// Bytes of one element.
int bytes(Dtype dtype);
// Half the distance between 1 and the next number: |round(x) - x| <= unit_roundoff * |x| for every
// x whose rounding is a normal number.
double unit_roundoff(Dtype dtype);
// Smallest positive normal number; below it the absolute rounding error stops shrinking.
double smallest_normal(Dtype dtype);
// Largest finite number.
double largest_finite(Dtype dtype);

// x rounded to the nearest number of the type, ties to even, as a double. NaN stays NaN. What lies
// beyond the largest finite number becomes an infinity; in fp8_e4m3, which has none, NaN (the
// non-saturating rule of the OCP 8-bit floating point specification, revision 1.0).
double round_to(Dtype dtype, double x);
void round_to(Dtype dtype, std::span<double> values);

}  // namespace swa
