#include "tensor/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// Every number from a stream in here comes from NumPy 2.4.6: standard_normal(n).view("u8"), n all
// at once, of default_rng(seed).

namespace swa {
namespace {

constexpr double kTailStart = 3.6541528853610088;

std::vector<double> first_deviates(std::uint64_t seed, std::size_t count) {
  std::vector<double> deviates(count);
  NormalStream(seed).fill(deviates);
  return deviates;
}

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

// FNV-1a over the bytes, lowest first.
std::uint64_t hash(const std::vector<double>& values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (double value : values) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ ((bits(value) >> shift) & 0xff)) * 0x100000001b3U;
    }
  }
  return hash;
}

struct Golden {
  std::uint64_t seed;
  std::array<std::uint64_t, 8> first;
};

constexpr Golden kGolden[] = {
    {0u,
     {0x3fc017ed89db8441, 0xbfc0e8cfe9bd45cc, 0x3fe47e57a468b06d, 0x3fbadabbec84d4f0,
      0xbfe1243418e643ed, 0x3fd7245f95ced1e6, 0x3ff4dd2f26bd103c, 0x3fee4e7cbc69bca3}},
    {1u,
     {0x3fd61e0d28bbb3a1, 0x3fea4ab22204681f, 0x3fd525e18ce5fc0a, 0xbff4d9bb65b49607,
      0x3fecf8acddd349f3, 0x3fdc9166a7847147, 0xbfe12eb88d2b5275, 0x3fe29884fe946122}},
    {2u,
     {0x3fc832e6b6002ebd, 0xbfe0ba5af0863ba3, 0xbfda6fa212826f90, 0xc00388200d1582dd,
      0x3ffccb99f7f27f19, 0x3ff24e80df999666, 0xbfd4d3ba4e6e019e, 0x3fe8c30607ed9717}},
    {3u,
     {0x400053cd67810b16, 0xc0047200820833aa, 0x3fdac221aa4baeaf, 0xbfe22b2b2a3f6eac,
      0xbfdcf834bc8b00ab, 0xbfcb98b0164a5bae, 0xc00028ee7cd87d15, 0xbfcdaff5cc6ec2a7}},
    {12345u,
     {0xbff6c7fcc2ecc744, 0x3ff4383b54eb0649, 0xbfebdc76014d359e, 0xbfd0964b5602ac3c,
      0xbfb349b2ef952a32, 0xbfe7b553bada1ce9, 0xbff5e27a999dd7f4, 0x3fe4c3bad680ecc7}},
    {4294967296u,
     {0x3fba5c170234e89e, 0xbfef607a848d4287, 0xbfea28c84dd75ded, 0xbff0723442d6170d,
      0xbfe261f7a4a1f871, 0x3fff89bf6cd1f5a4, 0x3fd92cc1b93a551a, 0xbf62eaaa2f5f6c00}},
    {9223372036854775808u,
     {0x3ffa1221d57f8c23, 0xbff81f01a8e17daa, 0xc009212998d9674f, 0x3fcc2ff37cf8a0e2,
      0x3febd519ad640061, 0xbff430c08353cbea, 0xbf816ddfea490ed0, 0xbff6d0f0e05cd2f7}},
    {18446744073709551615u,
     {0x3fe715303191d87b, 0xbfef10c32096a2bd, 0x3fb1b8d40660f8bf, 0xbfd2fb3a24341b2b,
      0xbf996bfdca5babc4, 0xbfef0a8b8b15689e, 0x3ff0950f9bcd8210, 0x3fe9cb0635c35311}},
};

TEST_CASE("the first deviates of seeds of one and of two words are NumPy's") {
  for (const Golden& golden : kGolden) {
    NormalStream stream(golden.seed);
    for (std::size_t i = 0; i < golden.first.size(); ++i) {
      CAPTURE(golden.seed);
      CAPTURE(i);
      CHECK(bits(stream.next()) == golden.first[i]);
    }
  }
}

TEST_CASE("fill and next draw from one stream") {
  std::vector<double> expected = first_deviates(7, 5000);
  NormalStream stream(7);
  std::vector<double> start(1234);
  stream.fill(start);
  stream.fill({});
  CHECK(start == std::vector<double>(expected.begin(), expected.begin() + 1234));
  bool same = true;
  for (std::size_t i = 1234; i < expected.size(); ++i) same = same && stream.next() == expected[i];
  CHECK(same);
}

TEST_CASE("two million deviates are NumPy's tails and wedges among them") {
  std::vector<double> deviates = first_deviates(0, 2'000'000);
  CHECK(hash(deviates) == 0x26e7d3fab7e97756U);
  CHECK(bits(deviates[1'000'000]) == 0x3fd157307d320767U);

  SUBCASE("the tail") {
    // Only the tail goes beyond its start.
    std::size_t tails = 0;
    for (double deviate : deviates) tails += std::abs(deviate) > kTailStart;
    CHECK(tails == 505);
    CHECK(deviates[303] == -0x1.e2d9e98d87bc6p+1);  // the sign bit of its word says +
    CHECK(deviates[10477] == 0x1.f907c5aa2ff63p+1);
    CHECK(deviates[38245] == 0x1.055d5b4591e19p+2);  // the second pair of exponentials
  }

  SUBCASE("the wedge") {
    // Strip 1 has no core: who comes out of it has passed the test of the wedge. This is a raw word
    // of default_rng(0).bit_generator that chooses strip 1, and the deviate made of it.
    constexpr std::uint64_t kWord = 0x22f4825ae80f6501U;
    constexpr double kFirstEdge = 0x1.b8d0be3fdf6c6p-3;
    REQUIRE((kWord & 0xff) == 1);
    REQUIRE(((kWord >> 8) & 1) == 1);  // negative
    double position = static_cast<double>((kWord >> 9) & 0x000f'ffff'ffff'ffffU);
    CHECK(deviates[347] == -(position * (kFirstEdge * 0x1p-52)));

    CHECK(deviates[74] == 0x1.d26f56326f7e6p+0);  // after a point above the curve
    CHECK(deviates[126] == -0x1.6c38cdf66d499p+0);
  }
}

TEST_CASE("two million deviates of another seed are NumPy's") {
  std::vector<double> deviates = first_deviates(2026, 2'000'000);
  CHECK(hash(deviates) == 0xa0462abd8fcfc2ffU);
}

}  // namespace
}  // namespace swa
