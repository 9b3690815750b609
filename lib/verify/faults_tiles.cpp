// Faults of loop bounds and of the online softmax.
#include "verify/fault_tables.hpp"

namespace swa {
namespace {

// A kernel of decode takes few queries.
constexpr Index kDecodeRows = 16;
constexpr Index kSplits = 8;

bool is_decode(const Mask& mask) {
  return mask.n_q <= kDecodeRows && mask.n_q < mask.n_k;
}

Index first_row(const PlannedRow& r) {
  return r.rows_of_tile().begin;
}
Index last_row(const PlannedRow& r) {
  return r.rows_of_tile().end - 1;
}

// Keys of the last of the splits over the keys.
KeyRange last_split(const Mask& mask) {
  const Index size = ceil_div(mask.n_k, kSplits);
  return {(mask.n_k - 1) / size * size, mask.n_k};
}

}  // namespace

std::vector<Fault> tile_faults() {
  return {
      {"no-mask-in-first-tile", "tiles", "rows see all keys of the first tile of their loop",
       "the window is in the loop bounds only: no key of a partial tile is masked on the left",
       "mask the tiles that the left bound cuts, key by key",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           const Index first = band_begin(r.mask, first_row(r));
           if (first > 0) r.band.begin = first / r.tile.BN * r.tile.BN;
         });
       }},
      {"loop-starts-a-tile-late", "tiles", "the tile in which the window begins is left out",
       "the first tile is rounded up instead of down", "divide the left bound rounding down",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           const Index first = ceil_div(band_begin(r.mask, first_row(r)), r.tile.BN) * r.tile.BN;
           r.band.begin = larger(r.band.begin, first);
         });
       }},
      {"loop-starts-for-last-row", "tiles", "the loop starts where the tile's last row begins",
       "the left bound is taken from the last row of the query tile",
       "take the first key tile from the first row of the query tile",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           const Index first = band_begin(r.mask, last_row(r)) / r.tile.BN * r.tile.BN;
           r.band.begin = larger(r.band.begin, first);
         });
       }},
      {"loop-ends-for-first-row", "tiles", "the loop ends where the tile's first row ends",
       "the right bound is taken from the first row of the query tile",
       "take the last key tile from the last row of the query tile",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           const Index end = ceil_div(band_end(r.mask, first_row(r)), r.tile.BN) * r.tile.BN;
           r.band.end = smaller(r.band.end, end);
         });
       }},
      {"window-of-last-row", "tiles", "all rows of a decode step use the last row's left bound",
       "the step is taken for one query", "give each of the n_q rows its own left bound",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (!is_decode(r.mask)) return;
           r.band.begin = larger(r.band.begin, band_begin(r.mask, r.mask.n_q - 1));
         });
       }},
      {"window-of-first-row", "tiles", "all rows of a chunk use the first row's left bound",
       "one bound serves all rows of a call with history", "give each row its own left bound",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (r.mask.n_q != r.mask.n_k) r.band.begin = band_begin(r.mask, 0);
         });
       }},
      {"nan-after-masked-tile", "tiles", "rows whose first tile holds none of their keys are NaN",
       "the online softmax computes exp(-inf - -inf)",
       "replace a running maximum of -inf by 0 before it is subtracted",
       [](Plan& plan) { plan.guard = false; }},
      {"finite-mask-value", "tiles", "hidden keys get the score -10000 instead of -inf",
       "the mask writes a large negative number", "mask with -inf, and guard the maximum",
       [](Plan& plan) { plan.steps.hidden_score = -1e4; }},
      {"newest-keys-dropped", "tiles", "rows with an open right bound lose the newest keys",
       "the splits are sized for the left reach and the query tile alone",
       "size the splits by the keys that the rows of the tile see",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (right_of(r.mask).bounded || !left_of(r.mask).bounded) return;
           const Index first = band_begin(r.mask, first_row(r)) / r.tile.BN * r.tile.BN;
           const Index keys = left_of(r.mask).reach + r.tile.BM;
           r.band.end = smaller(r.band.end, first + ceil_div(keys, r.tile.BN) * r.tile.BN);
         });
       }},
      {"split-remainder-dropped", "tiles", "a decode step loses the last n_k mod 8 keys",
       "the keys are split in 8 equal parts, rounding down",
       "let the last split take the remainder",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (is_decode(r.mask)) r.band.end = smaller(r.band.end, r.mask.n_k / kSplits * kSplits);
         });
       }},
      {"split-counted-twice", "tiles", "a decode step adds its last split twice",
       "the last split is merged twice, or two splits cover it",
       "give each key to one split, and merge each split once",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (!is_decode(r.mask)) return;
           const KeyRange last = last_split(r.mask);
           r.twice = [last](Index key) { return key >= last.begin; };
         });
       }},
      {"border-key-counted-twice", "tiles", "the first key of each further tile counts twice",
       "neighbouring tiles or splits both hold the key at their border",
       "make ranges half-open: [begin, end)",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           r.twice = [begin = r.band.begin, BN = r.tile.BN](Index key) {
             return key > begin && key % BN == 0;
           };
         });
       }},
  };
}

std::vector<Fault> empty_row_faults() {
  using EmptyRow = TiledSteps::EmptyRow;
  return {
      {"empty-row-nan", "empty rows", "rows that see no key are NaN", "0 / 0 at the end",
       "write 0, and lse = -inf, where the denominator is 0",
       [](Plan& plan) { plan.steps.empty_row = EmptyRow::nan; }},
      {"empty-row-mean", "empty rows", "rows that see no key hold the mean of v",
       "all keys get the same finite mask value, so the softmax is uniform",
       "write 0, and lse = -inf, where no key is visible",
       [](Plan& plan) { plan.steps.empty_row = EmptyRow::mean; }},
      {"empty-row-not-written", "empty rows", "rows that see no key are never written",
       "a query tile without key tiles returns early", "write 0, and lse = -inf, before returning",
       [](Plan& plan) { plan.steps.empty_row = EmptyRow::skipped; }},
      {"empty-row-finite-lse", "empty rows", "rows that see no key have a finite lse",
       "the logarithm is taken of a denominator that was replaced",
       "write lse = -inf: a merge of splits must weigh such a row 0",
       [](Plan& plan) { plan.steps.empty_row = EmptyRow::finite_lse; }},
  };
}

}  // namespace swa
