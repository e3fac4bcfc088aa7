// SPDX-License-Identifier: GPL-3.0-or-later
// A door in this process: it answers the requests of a served model with a native one, so that
// every answer about the served model has to equal that about the native model.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/model.h"
#include "model/served/served_link.h"

namespace relascope::testing_support {

using namespace relascope::core;

class NativeTwin final : public ServedLink {
public:
    NativeTwin(std::string name, ModelPtr model, const ModelOptions& options, DatasetPtr data);

    nlohmann::json declaration() const override { return m_declaration; }
    ServedScores forward(const ServedPass& pass, const ServedPointMet& met) override;
    std::map<std::string, ServedTensor> backward(std::uint64_t pass,
                                                 const ServedTensor& gradient) override;
    ServedExamples examples(const std::string& split, std::span<const std::int64_t> indices,
                            bool all) override;
    ServedWeights weights() override { return {m_crc, m_version, 7}; }
    std::int64_t version() override { return m_version; }

    /// Changes the declaration before it is read.
    nlohmann::json& declared() { return m_declaration; }
    void change() { ++m_version; }

    // What was asked, counted.
    int passes = 0, exchanged = 0, read = 0, put = 0, skipped = 0;

private:
    class Answering;
    torch::Tensor inputOf(const ServedPass& pass) const;

    std::recursive_mutex m_mutex;
    std::string m_name;
    ModelPtr m_model;
    ModelOptions m_options;
    DatasetPtr m_data;
    nlohmann::json m_declaration;
    std::uint32_t m_crc = 0;
    std::int64_t m_version = 1;
    std::uint64_t m_pass = 0;
    torch::Tensor m_scores;
    std::map<std::string, torch::Tensor> m_leaves;
};

}  // namespace relascope::testing_support
