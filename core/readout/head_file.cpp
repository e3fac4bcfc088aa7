// SPDX-License-Identifier: GPL-3.0-or-later
// head.safetensors: a head with what it was fitted on.
#include <torch/torch.h>
#include <cmath>
#include <nlohmann/json.hpp>

#include "checkpoint/tensor_io.h"
#include "files/safetensors.h"
#include "readout/feature_heads.h"
#include "readout/name_list.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using nlohmann::json;

constexpr const char* kHeadFormat = "relascope head 1";
constexpr const char *kNearestMeanName = "nearest-mean", *kRidgeName = "ridge";

class HeadReader {
public:
    explicit HeadReader(const std::string& path) : m_file(path) {}

    FeatureHead read() const {
        if (text("format") != kHeadFormat)
            fail("is not a head of this program: its metadata 'format' is " +
                 quoted(text("format").substr(0, 60)) + ", not '" + kHeadFormat +
                 "'; give a head.safetensors that it wrote");
        FeatureHead head;
        head.classes = namesOfJson(text("classes"), "classes", m_file.path());
        const auto classes = static_cast<std::int64_t>(head.classes.size());
        if (classes < 2) fail("has " + std::to_string(classes) + " classes; fit a head on two");
        head.counts = counts(head.classes.size());
        head.model = text("model"), head.data = text("data");
        const auto kind = text("kind");
        if (kind == kNearestMeanName) {
            head.weights = tensor("means", {classes, -1});
            return head;
        }
        if (kind != kRidgeName)
            fail("has the kind " + quoted(kind.substr(0, 60)) + "; '" + kNearestMeanName +
                 "' and '" + kRidgeName + "' are read, so fit the head again");
        head.kind = FeatureHead::Kind::Ridge;
        head.ridge = ridge();
        head.weights = tensor("weights", {-1, classes});
        head.mean = tensor("mean", {head.width()});
        head.deviation = tensor("deviation", {head.width()});
        head.offset = tensor("offset", {classes});
        if (!head.deviation.gt(0).all().item<bool>())
            fail("has a deviation that is not above 0; fit the head again");
        return head;
    }

private:
    [[noreturn]] void fail(const std::string& why) const { throw FileError(m_file.path(), why); }

    std::string text(const char* key) const {
        const auto& all = m_file.header().metadata;
        const auto found = all.find(key);
        return found == all.end() ? std::string() : found->second;
    }
    double ridge() const {
        const auto given = text("ridge");
        constexpr std::size_t longest = 40;
        const auto number = given.size() <= longest ? json::parse(given, nullptr, false) : json();
        if (!number.is_number() || !(number.get<double>() > 0.0) ||
            !std::isfinite(number.get<double>()))
            fail("has the ridge " + quoted(given.substr(0, 60)) +
                 ", which is no number above 0; fit the head again");
        return number;
    }
    std::vector<std::int64_t> counts(std::size_t classes) const {
        const auto refuse = [&] {
            fail("has the counts " + quoted(text("counts").substr(0, 60)) +
                 ", which are not a number above 0 for each of " + std::to_string(classes) +
                 " classes; fit the head again");
        };
        // A number a class has not this many letters.
        if (text("counts").size() > 24 * (classes + 1)) refuse();
        const auto list = json::parse(text("counts"), nullptr, false);
        if (!list.is_array() || list.size() != classes) refuse();
        std::vector<std::int64_t> all;
        for (const auto& one : list) {
            constexpr std::int64_t most = std::int64_t{1} << 40;
            if (!one.is_number_integer() || one < 1 || one > most) refuse();
            all.push_back(one);
        }
        return all;
    }
    /// -1 stands for any size but 0.
    torch::Tensor tensor(const char* name, const std::vector<std::int64_t>& shape) const {
        const auto* entry = m_file.find(name);
        bool fits = entry && entry->dtype == "F64" && entry->shape.size() == shape.size();
        for (std::size_t i = 0; fits && i < shape.size(); ++i)
            fits = shape[i] == -1 ? entry->shape[i] > 0 : entry->shape[i] == shape[i];
        if (!fits)
            fail(std::string("has no tensor '") + name +
                 "' of 64-bit numbers for its classes; fit the head again");
        auto values = readTensor(m_file, *entry);
        if (!values.isfinite().all().item<bool>())
            fail(std::string("has numbers in '") + name +
                 "' that are not finite; fit the head again");
        return values;
    }

    SafetensorsFile m_file;
};

}  // namespace

void writeHead(const FeatureHead& head, const std::string& path) {
    const bool ridge = head.kind == FeatureHead::Kind::Ridge;
    std::map<std::string, std::string> metadata = {{"format", kHeadFormat},
                                                   {"kind", ridge ? kRidgeName : kNearestMeanName},
                                                   {"classes", jsonOfNames(head.classes)},
                                                   {"counts", json(head.counts).dump()},
                                                   {"model", head.model},
                                                   {"data", head.data}};
    if (ridge) metadata["ridge"] = json(head.ridge).dump();
    std::vector<std::pair<std::string, torch::Tensor>> tensors = {
        {ridge ? "weights" : "means", head.weights}};
    if (ridge)
        tensors.insert(
            tensors.end(),
            {{"mean", head.mean}, {"deviation", head.deviation}, {"offset", head.offset}});
    saveTensors(path, tensors, metadata);
}

FeatureHead readHead(const std::string& path) {
    return HeadReader(path).read();
}

}  // namespace relascope::core
