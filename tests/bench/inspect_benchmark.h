// SPDX-License-Identifier: GPL-3.0-or-later
// The workloads of relascope-bench that look inside models: maps of a language model of
// published size, an atlas, a scan.
#pragma once

#include <string>
#include <vector>

#include "bench/benchmark.h"

namespace relascope::core {

/// inspect_343m_1024: the published model of 343M parameters and 1,024 tokens; inspect_12x12_512:
/// 12 layers of 12 heads and 512 tokens; inspect_4096: 2 small layers and 4,096 tokens. atlas_5000:
/// an atlas of a small ViDAT over 5,000 images; scan_345m: a scan of the published model over 8
/// random texts of 512 tokens. public: a pass of 512 tokens, and 64 tokens generated after 16, of
/// the smallest GPT-2; tests/bench/public.py times the package `transformers` beside it.
/// duel_vidat, duel_12x12: two small ViDATs, two models of 12 layers
/// and 12 heads. origins_vidat, origins_lm: the origins of a cell of the last layer of a small
/// ViDAT, and of 12 layers of 12 heads with 256 tokens; contrast_2000: a contrast of a small ViDAT
/// over 2,000 images; dictionary_50k: the table of all pairs of 50,257 tokens by factors of width
/// 8, 16 and 64, in seconds, and the share of its tiles that were computed.
const std::vector<std::string>& inspectBenchmarkNames();

/// Runs one of these benchmarks, with random weights. Figures of a probe, in milliseconds: the
/// whole probe; the first map when the first, and when the last layer is looked at, from the
/// request to its values; another relation, head and layer; the numbers of one cell of all maps of
/// a layer (hover). In megabytes: the factors that the result keeps, and the peak memory of the
/// process over its weights. Figures of an atlas and a scan, in seconds: the first result and the
/// whole; for the scan also a forward pass of all texts, and the first pass in such passes. Figures
/// of a duel: the maps of one input in both models, and the matching of their maps over 500 images,
/// or 100 texts of 128 tokens.
BenchmarkResult runInspectBenchmark(const std::string& name, double seconds);

}  // namespace relascope::core
