#include <doctest/doctest.h>

#include <vector>

#include "cache/pages.hpp"
#include "cache/ring.hpp"
#include "error.hpp"
#include "verify/ring_trial.hpp"

using namespace swa;

TEST_CASE("a ring holds the last positions each in its slot") {
  RingCache ring(4, 2);
  const std::vector<double> k{1, 2}, v{3, 4};
  CHECK(ring.owners()[0] == RingCache::kEmpty);
  for (Index t = 0; t < 11; ++t) {
    ring.write(t, k.data(), v.data());
    for (Index slot = 0; slot < 4; ++slot) {
      const Index owner = ring.owners()[static_cast<std::size_t>(slot)];
      if (slot > t) {
        CHECK(owner == RingCache::kEmpty);
      } else {
        CHECK(owner % 4 == slot);
        CHECK(owner > t - 4);
        CHECK(owner <= t);
      }
    }
  }
  CHECK(ring.k(2)[1] == 2);
  CHECK(ring.v(2)[0] == 3);
}

TEST_CASE("live pages equal a count over the keys of the window") {
  for (Index W = 1; W <= 40; ++W) {
    for (Index page = 1; page <= 20; ++page) {
      Index most = 0;
      for (Index tokens = 1; tokens <= 120; ++tokens) {
        std::vector<bool> touched(200);
        for (Index key = larger(0, tokens - W); key < tokens; ++key) {
          touched[static_cast<std::size_t>(key / page)] = true;
        }
        Index count = 0;
        for (const bool t : touched) count += t;
        CHECK(live_pages(tokens, W, page) == count);
        most = larger(most, count);
      }
      CHECK(most == most_live_pages(W, page));
      CHECK(max_live_pages(120, W, page) == most);
      CHECK(max_live_pages(Index{1} << 50, W, page) == most);
    }
  }
}

TEST_CASE("the page bound: 9 blocks of 16 for W = 128 and where ceil(W / b) + 1 is loose") {
  CHECK(most_live_pages(128, 16) == 9);
  const auto chapter = [](Index W, Index b) { return (W + b - 1) / b + 1; };
  CHECK(chapter(128, 16) == 9);
  // One page too many exactly where the last key of W opens a page of its own.
  for (Index W = 1; W <= 100; ++W) {
    for (Index b = 1; b <= 20; ++b) {
      CHECK(chapter(W, b) - most_live_pages(W, b) == ((W - 1) % b == 0 ? 1 : 0));
    }
  }
}

TEST_CASE("the chapter's ring: slots errors the first wrong step") {
  const RingTrial trial = run_ring_trial({}, {5, 7, 8, 9, 39});
  REQUIRE(trial.snapshots.size() == 5);
  using Positions = std::vector<Index>;
  CHECK(trial.snapshots[0].positions == Positions{0, 1, 2, 3, 4, 5});
  CHECK(trial.snapshots[1].positions == Positions{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(trial.snapshots[2].positions == Positions{8, 1, 2, 3, 4, 5, 6, 7});
  CHECK(trial.snapshots[3].positions == Positions{8, 9, 2, 3, 4, 5, 6, 7});
  CHECK(trial.snapshots[4].positions == Positions{32, 33, 34, 35, 36, 37, 38, 39});
  CHECK(trial.snapshots[4].slot == 7);
  CHECK(trial.ring_is_right);
  CHECK(trial.max_err_ring < 1e-14);
  CHECK(trial.max_err_slot_rope == doctest::Approx(1.61).epsilon(0.003));
  CHECK(trial.first_wrong_step == 8);
}

TEST_CASE("slot RoPE is exact up to W tokens for every W") {
  for (Index W = 2; W <= 20; ++W) {
    RingTrialOptions options;
    options.W = W;
    options.steps = W;
    CHECK(run_ring_trial(options, {}).first_wrong_step == std::nullopt);
    options.steps = W + 3;
    CHECK(run_ring_trial(options, {}).first_wrong_step == W);
  }
}

TEST_CASE("exercise 4: a chunk of 20 into a ring of 8") {
  RingTrialOptions options;
  options.prefill = 20;
  const RingTrial trial = run_ring_trial(options, {});
  CHECK(trial.wrong_rows_write_first == 19);
  CHECK(trial.blind_rows_write_first == 12);
  CHECK(trial.wrong_rows_write_after == 0);
  CHECK(trial.max_err_write_after < 1e-14);
}

TEST_CASE("chunks of any size leave the ring right and written first only small chunks do") {
  for (const Index chunk : {1, 2, 7, 8, 9, 13, 30}) {
    RingTrialOptions options;
    options.prefill = 30;
    options.chunk = chunk;
    const RingTrial trial = run_ring_trial(options, {});
    CAPTURE(chunk);
    CHECK(trial.wrong_rows_write_after == 0);
    CHECK(trial.ring_is_right);  // the decode steps that follow
    // A chunk of one token is a decode step: written first and right.
    CHECK((trial.wrong_rows_write_first == 0) == (chunk == 1));
  }
}

TEST_CASE("a prefill longer than the sequence is refused") {
  RingTrialOptions options;
  options.prefill = 41;
  CHECK_THROWS_AS(run_ring_trial(options, {}), UsageError);
}
