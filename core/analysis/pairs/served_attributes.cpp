// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/served_attributes.h"

#include <algorithm>
#include <cmath>

namespace relascope::core {

void addServedAttributes(PairAttributes& attributes, const PairObjects& objects,
                         const ServedSet& data) {
    const std::size_t n = objects.shape.objects;
    for (const auto& name : data.pairAttributes()) {
        std::vector<float> values;
        for (const auto example : objects.examples) {
            const auto own = data.pairAttribute(name, example, static_cast<std::int64_t>(n));
            values.insert(values.end(), own.begin(), own.end());
        }
        PairAttribute one{name, false, {}, {}};
        one.ordered = std::any_of(values.begin(), values.end(), [](float value) {
            return !std::isnan(value) && value != 0.0F && value != 1.0F;
        });
        if (!one.ordered)
            for (const float value : values)
                one.truth.push_back(std::isnan(value) ? kPairUndefined
                                    : value > 0       ? kPairYes
                                                      : kPairNo);
        else
            one.values = std::move(values);
        attributes.all.push_back(std::move(one));
    }
}

}  // namespace relascope::core
