// SPDX-License-Identifier: GPL-3.0-or-later
// A run that trains in a fraction of a second.
#pragma once

#include <string>

#include "data/dataset.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope::testing_support {

/// Images whose label says which half is brighter; made from the index alone.
class HalfBright : public ImageDataset {
public:
    explicit HalfBright(std::int64_t size, std::int64_t offset = 0) : m_offset(offset) {
        m_info.name = "halves";
        m_info.size = size;
        m_info.classNames = {"left", "right"};
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto number = static_cast<std::uint64_t>(index + m_offset) * 0x9e3779b97f4a7c15ULL;
        const std::int64_t label = static_cast<std::int64_t>(number >> 40 & 1);
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            const bool right = i / 3 % 36 >= 18;
            pixels[i] = static_cast<std::uint8_t>((number >> (i % 29) & 63) +
                                                  (right == (label == 1) ? 120 : 0));
        }
        return label;
    }

private:
    DatasetInfo m_info;
    std::int64_t m_offset;
};

inline DataSplits tinyData(std::int64_t train = 96, std::int64_t validation = 32) {
    DataSplits splits;
    splits.train = std::make_shared<HalfBright>(train);
    splits.validation = std::make_shared<HalfBright>(validation, 100000);
    return splits;
}

inline RunOptions tinyOptions() {
    RunOptions o = presetOptions("quick");
    o.model.set("d_model", 16), o.model.set("dff", 16), o.model.set("n_layers", 1);
    o.model.set("n_relations", 0), o.model.set("rel_proj_dim", 0), o.train.init = "package";
    o.train.batch_size = 16, o.train.epochs = 4, o.train.device = "cpu";
    o.data.train_size = 96, o.data.validation_size = 32;
    return o;
}

}  // namespace relascope::testing_support
