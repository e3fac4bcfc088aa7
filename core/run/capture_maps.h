// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of captured samples: values, or the factors that they are made from. Private to
// core/run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "types/relation_map.h"

namespace relascope::core {

/// The maps of all samples of a capture, ready to be written, for each kind and layer (KEY is
/// "relation/0"):
///   values   KEY F32 [samples, maps, rows, columns]
///   factors  KEY/queries F32 [samples, maps, rows, width] and KEY/keys F32 [samples or 1, groups,
///            width, columns]; metadata activation_KEY, scale_KEY and, of masked ones, masked_KEY
///   symbols by position  metadata symbols_KEY "ROWS COLUMNS" or "ROWS COLUMNS OFFSET"
///   fitted   fitted/LAYER/INDEX F32 [samples, 1, rows, columns]; metadata fact_KEY
/// and metadata causal_KEY and library_rows_KEY.
class StoredMaps {
public:
    explicit StoredMaps(const std::vector<ProbeResult>& results);
    /// The tensors point into this object.
    void addTo(std::vector<TensorToWrite>& out, std::map<std::string, std::string>& metadata) const;

private:
    using Group = std::vector<const RelationMap*>;  ///< maps of one sample

    void add(const std::string& key, const std::vector<Group>& samples);
    void addFactors(const std::string& key, const std::vector<Group>& samples);
    void addValues(const std::string& key, const std::vector<Group>& samples);

    struct Tensor {
        std::string key;
        std::vector<std::int64_t> shape;
        std::vector<float> values;
    };
    std::deque<Tensor> m_tensors;
    std::map<std::string, std::string> m_metadata;
};

/// The maps of one sample, of every kind in `layers` layers, sorted. Throws FileError for a damaged
/// capture.
std::vector<RelationMap> loadMaps(const SafetensorsFile& file, int layers, std::int64_t sample);

}  // namespace relascope::core
