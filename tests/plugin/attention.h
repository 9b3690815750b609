/* Attention, plainly: every pair is decided by sees(), every sum is a double. Any mask, any dtype
 * of swa_plugin.h. Slow, and short enough to be read. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "swa_plugin.h"

static double fp16_to_double(unsigned bits) {
  int exponent = (int)(bits >> 10 & 31u);
  double fraction = (double)(bits & 1023u), magnitude;
  if (exponent == 31)
    magnitude = fraction == 0.0 ? HUGE_VAL : HUGE_VAL - HUGE_VAL;
  else if (exponent == 0)
    magnitude = ldexp(fraction, -24);
  else
    magnitude = ldexp(fraction + 1024.0, exponent - 25);
  return bits & 0x8000u ? -magnitude : magnitude;
}

/* Element i of a tensor. */
static double load(int dtype, const void* tensor, swa_int i) {
  unsigned short half;
  unsigned word;
  float narrow;
  if (dtype == SWA_FP64) return ((const double*)tensor)[i];
  if (dtype == SWA_FP32) return (double)((const float*)tensor)[i];
  half = ((const unsigned short*)tensor)[i];
  if (dtype == SWA_FP16) return fp16_to_double(half);
  word = (unsigned)half << 16; /* bf16: the upper half of a float */
  memcpy(&narrow, &word, sizeof narrow);
  return (double)narrow;
}

/* magnitude in units of 2^exponent, to the nearest whole number, ties to even */
static double units(double magnitude, int exponent) {
  double scaled = ldexp(magnitude, -exponent), whole = floor(scaled), rest = scaled - whole;
  return rest > 0.5 || (rest == 0.5 && fmod(whole, 2.0) == 1.0) ? whole + 1.0 : whole;
}

/* Rounds a finite number to the 16-bit format of so many bits of fraction, whose smallest normal
 * number is 2^least. A carry out of the fraction is one of the exponent, as it should be. */
static unsigned short to_half(double x, int fraction_bits, int least) {
  double magnitude = fabs(x);
  int exponent;
  unsigned bits, largest = (32767u >> fraction_bits) << fraction_bits; /* infinity */
  if (magnitude < ldexp(1.0, least)) {
    bits = (unsigned)units(magnitude, least - fraction_bits);
  } else {
    frexp(magnitude, &exponent); /* 2^(exponent - 1) <= magnitude < 2^exponent */
    if (exponent - 1 > 1 - least) return (unsigned short)((x < 0.0 ? 0x8000u : 0u) | largest);
    bits = ((unsigned)(exponent - 1 - least) << fraction_bits) +
           (unsigned)units(magnitude, exponent - 1 - fraction_bits);
  }
  return (unsigned short)((x < 0.0 ? 0x8000u : 0u) | bits);
}

static void store(int dtype, void* tensor, swa_int i, double x) {
  if (dtype == SWA_FP64)
    ((double*)tensor)[i] = x;
  else if (dtype == SWA_FP32)
    ((float*)tensor)[i] = (float)x;
  else if (dtype == SWA_BF16)
    ((unsigned short*)tensor)[i] = to_half(x, 7, -126);
  else
    ((unsigned short*)tensor)[i] = to_half(x, 10, -14);
}

/* The mask, as swa_plugin.h states it; q is the query's absolute position. */
static int sees(const struct swa_attention* a, swa_int q, swa_int k) {
  if (a->right != -1 && k > q + a->right) return 0;
  if (k < a->sinks) return 1;
  if (a->left != -1 && k < q - a->left) return 0;
  return a->chunk == 0 || k / a->chunk == q / a->chunk;
}

/* One query row of one head: scores of its keys into `weights`, then their softmax times v. */
static void attend_row(const struct swa_attention* a, swa_int h, swa_int entry, swa_int q_token,
                       swa_int k_token, swa_int keys, swa_int q_position, double* weights) {
  swa_int kv = h / (a->heads_q / a->heads_kv), k, d;
  swa_int q_at = entry * a->q_strides[0] + h * a->q_strides[1] + q_token * a->q_strides[2];
  swa_int k_at = entry * a->k_strides[0] + kv * a->k_strides[1] + k_token * a->k_strides[2];
  swa_int v_at = entry * a->v_strides[0] + kv * a->v_strides[1] + k_token * a->v_strides[2];
  swa_int out_at = entry * a->out_strides[0] + h * a->out_strides[1] + q_token * a->out_strides[2];
  swa_int lse_at = entry * a->lse_strides[0] + h * a->lse_strides[1] + q_token * a->lse_strides[2];
  double highest = a->sink_logits ? load(a->dtype, a->sink_logits, h) : -HUGE_VAL;
  double sum = 0.0, lse;

  for (k = 0; k < keys; ++k) {
    double score = 0.0;
    if (!sees(a, q_position, k)) continue;
    for (d = 0; d < a->head_dim; ++d) {
      score +=
          load(a->dtype, a->q, q_at + d) * load(a->dtype, a->k, k_at + k * a->k_strides[2] + d);
    }
    score *= a->scale;
    if (a->softcap > 0.0) score = a->softcap * tanh(score / a->softcap);
    weights[k] = score;
    if (score > highest) highest = score;
  }
  if (a->sink_logits) sum = exp(load(a->dtype, a->sink_logits, h) - highest);
  for (k = 0; k < keys; ++k) {
    if (!sees(a, q_position, k)) continue;
    weights[k] = exp(weights[k] - highest);
    sum += weights[k];
  }
  for (d = 0; d < a->head_dim_v; ++d) {
    double value = 0.0;
    for (k = 0; k < keys; ++k) {
      if (!sees(a, q_position, k)) continue;
      value += weights[k] * load(a->dtype, a->v, v_at + k * a->v_strides[2] + d);
    }
    store(a->dtype, a->out, out_at + d, sum > 0.0 ? value / sum : 0.0);
  }
  lse = sum > 0.0 ? highest + log(sum) : -HUGE_VAL;
  if (a->lse) store(a->dtype == SWA_FP64 ? SWA_FP64 : SWA_FP32, a->lse, lse_at, lse);
}

static int attend(const struct swa_attention* a) {
  double* weights = (double*)malloc((size_t)a->n_k * sizeof *weights);
  swa_int s, h, r;
  if (!weights) return SWA_FAILED;
  for (s = 0; s < a->batch; ++s) {
    swa_int queries = a->lengths_q ? a->lengths_q[s] : a->n_q;
    swa_int keys = a->lengths_k ? a->lengths_k[s] : a->n_k;
    swa_int entry = a->layout == SWA_PADDED ? s : 0;
    swa_int q_first = a->offsets_q ? a->offsets_q[s] : 0;
    swa_int k_first = a->offsets_k ? a->offsets_k[s] : 0;
    swa_int q_offset = a->anchor == SWA_BOTTOM_RIGHT ? keys - queries : 0;
    for (h = 0; h < a->heads_q; ++h) {
      for (r = 0; r < queries; ++r) {
        attend_row(a, h, entry, q_first + r, k_first, keys, q_offset + r, weights);
      }
    }
  }
  free(weights);
  return SWA_OK;
}

#endif
