// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors in memory as kernels are given them, of every layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/run_rel.h"

namespace relascope::core::kernels {

enum class Layout { TokensFirst, HeadsFirst };

/// A tensor in the device's type; strided ones have NaN between the rows. Of exactly the size
/// needed, so that AddressSanitizer sees what lies beyond.
template <class T>
class Stored {
public:
    Stored(const Tensor4& shape, bool strided, Layout layout = Layout::TokensFirst)
        : m_shape(shape) {
        const std::int64_t width = shape.width + (strided ? 3 : 0);
        const bool headsFirst = strided && layout == Layout::HeadsFirst;
        m_view.head = headsFirst ? width * shape.tokens : width;
        m_view.token = headsFirst ? width : width * shape.heads + (strided ? 5 : 0);
        m_view.batch = headsFirst ? m_view.head * shape.heads + 2 : m_view.token * shape.tokens;
        std::int64_t end = 0;
        forEachNumber(m_shape, m_view,
                      [&](std::int64_t at, std::size_t) { end = std::max(end, at + 1); });
        m_values.assign(end, std::numeric_limits<T>::quiet_NaN());
        m_view.data = m_values.data();
    }
    void fill() {
        forEachNumber(m_shape, m_view,
                      [&](std::int64_t at, std::size_t i) { m_values[at] = T(m_shape.values[i]); });
    }
    Tensor4 read() const {
        Tensor4 to = m_shape;
        std::vector<bool> own(m_values.size());
        forEachNumber(m_shape, m_view, [&](std::int64_t at, std::size_t i) {
            to.values[i] = m_values[at];
            own[at] = true;
        });
        for (std::size_t i = 0; i < own.size(); ++i)
            if (!own[i] && !std::isnan(m_values[i]))
                throw std::runtime_error("written between rows");
        return to;
    }
    const View& view() const { return m_view; }

private:
    Tensor4 m_shape;
    View m_view;
    std::vector<T> m_values;
};

/// Throws for a launch that failed.
inline void expectStarted(int error) {
    if (error) throw std::runtime_error("a launch failed with error " + std::to_string(error));
}

}  // namespace relascope::core::kernels
