// SPDX-License-Identifier: GPL-3.0-or-later
// A study: one experiment over models, training sizes, seeds and any option's values.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "types/run_info.h"

namespace relascope {

/// An option and the values it takes, as texts of --set: "model.n_heads_ra" = "1", "2", "4".
struct StudyAxis {
    std::string key;
    std::vector<std::string> values;
    bool operator==(const StudyAxis&) const = default;
};

/// The runs of a study: every model with every size, every value of each axis and every seed.
struct StudyPlan {
    std::string preset;
    std::vector<std::string> models;  ///< names of the preset's models
    std::vector<std::int64_t> sizes;  ///< data.train_size; empty: the preset's own
    std::vector<std::int64_t> seeds = {0};
    std::vector<StudyAxis> vary;
    std::vector<std::pair<std::string, std::string>> settings;  ///< options of --set, for every run
    bool sameData = false;  ///< false: the seed of a run also draws its data (a trial of its own)
    bool operator==(const StudyPlan&) const = default;
};

enum class CellState { Waiting, Running, Done, Failed, Interrupted };

inline const char* cellStateName(CellState state) {
    static constexpr std::array names = {"waiting", "running", "done", "failed", "interrupted"};
    return names.at(static_cast<std::size_t>(state));
}

/// One run of a study.
struct StudyCell {
    std::string name;  ///< name of its run folder, under runs/: "abstractor-n1000-s0"
    std::string model;
    std::int64_t size = 0;            ///< data.train_size
    std::vector<std::string> values;  ///< one for each axis of the plan
    std::int64_t seed = 0;
    CellState state = CellState::Waiting;
    RunInfo info;         ///< valid after it began; before, the path is empty
    std::string message;  ///< why it failed
};

struct StudyInfo {
    std::string path;  ///< the study's folder
    StudyPlan plan;
    std::vector<StudyCell> cells;  ///< runs by models, then axes, then sizes, then seeds

    std::size_t count(CellState state) const {
        std::size_t n = 0;
        for (const auto& cell : cells) n += cell.state == state;
        return n;
    }
};

/// The results of all seeds of one model, size and choice of values.
struct StudyPoint {
    std::string series;  ///< model and values: "dat", "abstractor, n_heads_ra=2"
    std::int64_t size = 0;
    std::vector<double> values;  ///< one for each finished run, in the order of seeds
    double mean = std::numeric_limits<double>::quiet_NaN();
    double error = std::numeric_limits<double>::quiet_NaN();  ///< standard error of the mean
    double low = std::numeric_limits<double>::quiet_NaN();    ///< 95 % interval (Student's t)
    double high = std::numeric_limits<double>::quiet_NaN();
    std::int64_t parameters = 0;
};

/// The origin of a comparison curve: the papers, or runs of this program.
enum class CurveSource { Published, Relascope };

/// A point of a published curve, or of a reference curve of this program.
struct PublishedPoint {
    std::string series;  ///< as StudyPoint::series, if it is a model of the preset
    std::int64_t size = 0;
    double mean = 0.0;
    double error = 0.0;
    CurveSource source = CurveSource::Published;
};

}  // namespace relascope
