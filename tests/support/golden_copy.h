// SPDX-License-Identifier: GPL-3.0-or-later
// A golden folder that a test may change.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope::testing_support {

using NamedTensors = std::map<std::string, torch::Tensor>;

/// A copy of a folder of fixtures/golden ("public/vit"), which is removed when the test ends.
class GoldenCopy {
public:
    using Json = nlohmann::ordered_json;

    explicit GoldenCopy(const std::string& name)
        : m_home("golden-copy-" + std::to_string(++s_copies)) {
        std::filesystem::create_directories(m_home.path());
        std::filesystem::copy(std::string(RELASCOPE_FIXTURES) + "/golden/" + name, path(),
                              std::filesystem::copy_options::recursive);
    }
    std::string path() const { return m_home / "model"; }
    std::string weights() const { return path() + "/model.safetensors"; }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(path() + "/" + file, std::ios::binary) << text;
    }
    void json(const std::string& file, const std::function<void(Json&)>& change) const {
        std::ifstream in(path() + "/" + file);
        auto json = Json::parse(in);
        in.close();
        change(json);
        write(file, json.dump());
    }
    /// Changes the tensors of model.safetensors.
    void tensors(const std::function<void(NamedTensors&)>& change) const {
        auto all = core::readTensors(weights());
        change(all);
        core::saveTensors(weights(), {all.begin(), all.end()}, {{"format", "pt"}});
    }
    /// Renames the tensors of model.safetensors, and adds `others`.
    void rename(const std::function<std::string(const std::string&)>& name,
                const NamedTensors& others = {}) const {
        tensors([&](NamedTensors& all) {
            auto renamed = others;
            for (const auto& [own, tensor] : all) renamed[name(own)] = tensor;
            all = std::move(renamed);
        });
    }
    /// The first problem of the copy, or the error when it is opened; empty if there is none.
    std::string problem() const {
        try {
            const auto info = core::readCheckpointInfo(path());
            for (const auto& one : info.problems) return one.subject + ": " + one.message;
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

private:
    static inline int s_copies = 0;
    TemporaryFolder m_home;
};

}  // namespace relascope::testing_support
