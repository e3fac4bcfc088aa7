// SPDX-License-Identifier: GPL-3.0-or-later
// The weights that a run kept along its training, to be read (formats.md section 11). Does not
// include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/kept_file.h"
#include "checkpoint/source.h"

namespace relascope::core {

struct KeptStep {
    std::int64_t step = 0;
    KeptForm form = KeptForm::Float32;
    std::uint64_t bytes = 0;      ///< size of its file
    std::int64_t base = -1;       ///< the step that it is the difference to; -1: none
    bool marked = false;          ///< never dropped for another one
    std::uint32_t checksum = 0;   ///< checksum of its values, from the header
    std::string checkpoint = {};  ///< for KeptForm::External: a path, or "hub:ORG/NAME@COMMIT"
    std::string name = {};        ///< for KeptForm::External: "chck_10M"
    bool here = true;             ///< false: load() fetches it first
};

/// The kept steps of a run, as its folder had them when this was made. The run may be training: a
/// step that has gone since then is a FileError.
class KeptWeights {
public:
    /// Reads the headers. A run that kept nothing has no steps; files that cannot be used are left
    /// out, each with a sentence in problems().
    explicit KeptWeights(const std::string& run);

    const std::vector<KeptStep>& steps() const& { return m_steps; }  ///< ascending
    std::vector<KeptStep> steps() && { return std::move(m_steps); }
    const std::vector<std::string>& problems() const& { return m_problems; }
    std::vector<std::string> problems() && { return std::move(m_problems); }
    /// The one of exactly that step, or nullptr.
    const KeptStep* find(std::int64_t step) const&;
    /// The nearest, the earlier of two; nullptr if there are none.
    const KeptStep* nearest(std::int64_t step) const&;

    /// The steps whose weights are on this machine; those that are not are fetched only where one
    /// of them is asked for.
    std::vector<KeptStep> localSteps() const;
    /// The weights of a step, in float32 and under their names, for loadWeights() (tensor_io.h).
    /// Headers are checked here, values when the first one is read. Throws FileError; where it is
    /// fetched, as ModelFetcher.
    std::unique_ptr<CheckpointSource> load(std::int64_t step, const std::stop_token& stop = {},
                                           const std::function<bool(double)>& progress = {}) const;

private:
    void addExternal(std::int64_t step);

    std::string m_folder;
    std::vector<KeptStep> m_steps;
    std::vector<std::string> m_problems;
};

/// Fetches "ORG/NAME@COMMIT" from the hub and returns its folder; `progress` gets the fraction done
/// and returns false to cancel. Throws Error with a sentence that names the model, Cancelled. The
/// parts that fetch need a network library, so a program that has them sets this at its start;
/// without it, load() says how to fetch.
using ModelFetcher =
    std::function<std::string(const std::string& model, const std::stop_token& stop,
                              const std::function<bool(double)>& progress)>;
void setModelFetcher(ModelFetcher fetcher);

/// The folder of a run's kept weights: "RUN/weights".
std::string keptFolder(const std::string& run);
/// Marks a kept step, so that it is never dropped for another one, or takes the mark away. Throws
/// FileError.
void markKeptStep(const std::string& run, std::int64_t step, bool marked);
bool isMarkedStep(const std::string& folder, std::int64_t step);

/// The values of a step of `folder`, as stored. Throws FileError, Cancelled.
WeightValues readKeptValues(const std::string& folder, std::int64_t step,
                            std::stop_token stop = {});

// The kept weights of a run that trains: written within a budget, and dropped. Does not include
// torch; for one thread.

/// One file stands alone after every kKeptChain differences.
constexpr int kKeptChain = 16;

class KeptRing {
public:
    /// Takes over the steps in the folder. `mayGo` decides whether a step other than the first, the
    /// last and the marked ones may be dropped when the budget is full.
    KeptRing(const std::string& run, std::uint64_t budget,
             std::function<bool(std::int64_t)> mayGo = {});

    /// Writes the weights of a step after all others, in place of an older file of that step; false
    /// if that exceeds the budget and nothing may be dropped for it. `reserve` bytes are left free
    /// on the disk. Whatever moment the process ends at, every step of the folder can be read.
    /// Throws DiskFull, FileError.
    bool add(std::int64_t step, KeptForm form, WeightValues values, std::uint64_t reserve = 0);

    const std::vector<KeptStep>& steps() const { return m_steps; }
    std::uint64_t bytes() const;

private:
    bool makeRoom(std::uint64_t bytes);
    void drop(std::size_t index);

    std::string m_folder;
    std::uint64_t m_budget;
    std::function<bool(std::int64_t)> m_mayGo;
    std::vector<KeptStep> m_steps;
    /// The values of the last step that was added with KeptForm::Xor, its number, and how many
    /// differences it is away from a file that stands alone.
    std::optional<WeightValues> m_last;
    std::int64_t m_lastStep = -1;
    int m_chain = 0;
};

/// Removes the kept weights after a step, which a run that continues from there makes again, and
/// files that a killed process left behind. Throws nothing: files that cannot be removed stay.
void dropKeptAfter(const std::string& run, std::int64_t step);

/// Copies the kept weights up to a step into another run; `from` may be training. Throws DiskFull,
/// FileError.
void copyKept(const std::string& from, const std::string& to, std::int64_t step);

}  // namespace relascope::core
