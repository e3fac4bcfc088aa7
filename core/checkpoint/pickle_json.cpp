// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/pickle_json.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "files/byte_source.h"

namespace relascope::core {
namespace {

using Json = nlohmann::json;
constexpr int kMaxJsonDepth = 64;
constexpr std::size_t kMaxJsonValues = 100'000, kMaxText = 16u << 20;

class Walk {
public:
    Walk(const Pickle& pickle, const std::string& path) : m_pickle(pickle), m_path(path) {}

    // A shared value is written at each of its places, which the limits bound.
    std::optional<Json> json(const PickleValue& value, int depth) {
        if (depth > kMaxJsonDepth)
            throw FileError(m_path, "its configuration is nested deeper than 64 levels");
        m_text += value.text.size();
        if (++m_values > kMaxJsonValues || m_text > kMaxText)
            throw FileError(m_path, "its configuration is too large for a model");
        switch (value.kind) {
            case PickleKind::None:
                return Json(nullptr);
            case PickleKind::Bool:
                return Json(value.integer != 0);
            case PickleKind::Integer:
                return Json(value.integer);
            case PickleKind::Real:
                return number(value.real());
            case PickleKind::String:
                return Json(std::string(value.text));
            case PickleKind::List:
            case PickleKind::Tuple:
                return list(value, depth);
            case PickleKind::Dict:
                return dict(value, depth);
            case PickleKind::Object:
                return scalar(value);
            default:
                return std::nullopt;
        }
    }

private:
    static std::optional<Json> number(double value) {  // JSON knows no NaN
        return std::isfinite(value) ? std::optional<Json>(value) : std::nullopt;
    }

    std::optional<Json> list(const PickleValue& value, int depth) {
        Json array = Json::array();
        for (const auto item : value.items) {
            auto element = json(m_pickle[item], depth + 1);
            if (!element) return std::nullopt;  // leaving it out would change the list
            array.push_back(std::move(*element));
        }
        return array;
    }

    std::optional<Json> dict(const PickleValue& value, int depth) {
        Json object = Json::object();
        for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
            const auto& key = m_pickle[value.items[i]];
            m_text += key.text.size();
            if (key.kind != PickleKind::String) continue;
            if (auto member = json(m_pickle[value.items[i + 1]], depth + 1))
                object[std::string(key.text)] = std::move(*member);
        }
        return object;
    }

    // numpy.core.multiarray.scalar(dtype('<f8'), bytes)
    std::optional<Json> scalar(const PickleValue& value) const {
        const auto& arguments = m_pickle.arguments(value);
        if (!m_pickle.callee(value).ends_with(".multiarray.scalar") || arguments.size() != 2)
            return std::nullopt;
        const auto& dtype = m_pickle[arguments[0]];
        const auto& bytes = m_pickle[arguments[1]];
        const auto& of = m_pickle.arguments(dtype);
        if (m_pickle.callee(dtype) != "numpy.dtype" || of.empty() ||
            bytes.kind != PickleKind::Bytes)
            return std::nullopt;
        return decoded(m_pickle[of[0]].text, bigEndian(dtype), bytes.text);
    }

    // BUILD gives a dtype (3, '<', None, None, None, -1, -1, 0).
    bool bigEndian(const PickleValue& dtype) const {
        if (dtype.items.size() < 3) return false;
        const auto& state = m_pickle[dtype.items[2]];
        return state.items.size() > 1 && m_pickle[state.items[1]].text == ">";
    }

    static std::optional<Json> decoded(std::string_view type, bool bigEndian,
                                       std::string_view text) {
        std::uint8_t bytes[8];
        const std::size_t size = text.size();
        if (type.size() != 2 || size == 0 || size > 8 || type[1] != static_cast<char>('0' + size))
            return std::nullopt;
        std::copy_n(text.begin(), size, bytes);
        if (bigEndian) std::reverse(bytes, bytes + size);
        const std::uint64_t bits = littleEndian(bytes, static_cast<int>(size));
        const int unused = 64 - 8 * static_cast<int>(size);
        switch (type[0]) {
            case 'b':
                return Json(bits != 0);
            case 'u':
                return Json(bits);
            case 'i':
                return Json(static_cast<std::int64_t>(bits << unused) >> unused);
            case 'f':
                if (size == 8) return number(std::bit_cast<double>(bits));
                if (size == 4)
                    return number(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        }
        return std::nullopt;
    }

    const Pickle& m_pickle;
    const std::string& m_path;
    std::size_t m_values = 0, m_text = 0;
};

}  // namespace

std::optional<Json> plainJson(const Pickle& pickle, const PickleValue& value,
                              const std::string& path) {
    return Walk(pickle, path).json(value, 0);
}

}  // namespace relascope::core
