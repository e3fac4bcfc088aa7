// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "checkpoint/kept_weights.h"
#include "checkpoint/series.h"
#include "checkpoint/source.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "files/crc32.h"
#include "files/memory.h"
#include "hub/hub_cache.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// Whether the one can be stored as the difference to the other.
bool sameTensors(const WeightValues& a, const WeightValues& b) {
    return std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                      [](const auto& x, const auto& y) {
                          return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape;
                      });
}

void removeStep(const std::string& folder, std::int64_t step) {
    std::error_code ignored;
    fs::remove(keptFilePath(folder, step), ignored);
    fs::remove(folder + "/step-" + std::to_string(step) + ".marked", ignored);
}

}  // namespace

KeptRing::KeptRing(const std::string& run, std::uint64_t budget,
                   std::function<bool(std::int64_t)> mayGo)
    : m_folder(keptFolder(run)), m_budget(budget), m_mayGo(std::move(mayGo)) {
    makeDirectories(m_folder);
    m_steps = KeptWeights(run).steps();
}

std::uint64_t KeptRing::bytes() const {
    std::uint64_t all = 0;
    for (const auto& kept : m_steps) all += kept.bytes;
    return all;
}

bool KeptRing::add(std::int64_t step, KeptForm form, WeightValues values, std::uint64_t reserve) {
    if (!m_steps.empty() && m_steps.back().step >= step) return true;  // it is there already
    const bool differs = form == KeptForm::Xor;
    const bool alone = !differs || !m_last || m_chain + 1 >= kKeptChain || m_steps.empty() ||
                       m_steps.back().step != m_lastStep || !sameTensors(values, *m_last);
    const auto base = alone ? -1 : m_lastStep;
    std::optional<WeightValues> next;
    if (differs) next = values;
    const auto packed =
        packWeights(step, form, std::move(values), base, alone ? nullptr : &*m_last);
    if (!makeRoom(packed.bytes)) return false;
    if (const auto room = freeBytes(m_folder); room < packed.bytes + reserve)
        throw DiskFull(keptFilePath(m_folder, step),
                       "needs " + byteText(packed.bytes) + " beside room for checkpoints, and " +
                           byteText(room) + " are free; free some disk space");
    const auto path = keptFilePath(m_folder, step);
    writePacked(path, packed);
    std::error_code ignored;
    m_steps.push_back({step, form, fs::file_size(path, ignored), base, false,
                       static_cast<std::uint32_t>(std::stoul(packed.metadata.at("crc32")))});
    m_last = std::move(next);
    m_lastStep = step;
    m_chain = alone ? 0 : m_chain + 1;
    return true;
}

bool KeptRing::makeRoom(std::uint64_t bytes) {
    while (this->bytes() + bytes > m_budget) {
        std::vector<std::int64_t> steps;
        for (const auto& kept : m_steps) steps.push_back(kept.step);
        const auto index = leastMissedStep(steps, [this](std::int64_t step) {
            return !isMarkedStep(m_folder, step) && (!m_mayGo || m_mayGo(step));
        });
        if (index < 0) return false;
        drop(static_cast<std::size_t>(index));
    }
    return true;
}

void KeptRing::drop(std::size_t index) {
    const auto gone = m_steps[index];
    for (auto& kept : m_steps) {
        if (kept.base != gone.step) continue;
        // A step that was stored as a difference to the dropped one becomes a difference to that
        // one's base; the dropped file stays until then.
        auto values = readKeptValues(m_folder, kept.step);
        std::optional<WeightValues> base;
        if (gone.base >= 0) base = readKeptValues(m_folder, gone.base);
        const auto path = keptFilePath(m_folder, kept.step);
        writePacked(path, packWeights(kept.step, KeptForm::Xor, std::move(values), gone.base,
                                      base ? &*base : nullptr));
        std::error_code ignored;
        kept.base = gone.base;
        kept.bytes = fs::file_size(path, ignored);
    }
    removeStep(m_folder, gone.step);
    m_steps.erase(m_steps.begin() + static_cast<std::ptrdiff_t>(index));
}

void dropKeptAfter(const std::string& run, std::int64_t step) {
    const std::string folder = keptFolder(run);
    std::error_code error;
    std::vector<std::int64_t> later;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (const auto kept = keptFileStep(name); kept > step) later.push_back(kept);
        std::error_code ignored;
        if (name.find(".tmp-") != std::string::npos) fs::remove(at->path(), ignored);
    }
    // A base is dropped after the steps that need it.
    std::sort(later.rbegin(), later.rend());
    for (const auto kept : later) removeStep(folder, kept);
}

void copyKept(const std::string& from, const std::string& to, std::int64_t step) {
    const std::string source = keptFolder(from), target = keptFolder(to);
    for (const auto& kept : KeptWeights(from).steps()) {
        if (kept.step > step) continue;
        makeDirectories(target);
        const auto path = keptFilePath(target, kept.step);
        std::error_code error;
        // A step that was dropped since: those that needed it have been written again, and are
        // copied later.
        fs::copy_file(keptFilePath(source, kept.step), path, error);
        if (error == std::errc::no_such_file_or_directory) continue;
        if (error == std::errc::no_space_on_device)
            throw DiskFull(path, "the disk is full; free some space");
        if (error) throw FileError(path, "could not be written: " + error.message());
        if (kept.marked) markKeptStep(to, kept.step, true);
    }
}

namespace {

namespace fs = std::filesystem;

// A file that stands alone comes every kKeptChain differences; files that are written again when a
// step is dropped have shorter chains.
constexpr std::size_t kLongestChain = 16;

std::string markPath(const std::string& folder, std::int64_t step) {
    return folder + "/step-" + std::to_string(step) + ".marked";
}

// The files that a step is made of; the last one stands alone.
using Chain = std::vector<std::unique_ptr<KeptFile>>;

Chain openChain(const std::string& folder, std::int64_t step) {
    Chain chain;
    chain.push_back(std::make_unique<KeptFile>(folder, step));
    while (chain.back()->base() >= 0) {
        const auto& file = *chain.back();
        if (chain.size() >= kLongestChain)
            throw FileError(chain.front()->path(),
                            "is the difference to a difference, and so on, "
                            "more than " +
                                std::to_string(kLongestChain) + " times");
        auto next = [&] {
            try {
                return std::make_unique<KeptFile>(folder, file.base());
            } catch (const FileError& error) {
                throw FileError(file.path(), "needs the weights of step " +
                                                 std::to_string(file.base()) + ": " + error.what());
            }
        }();
        if (next->form() != KeptForm::Xor)
            throw FileError(file.path(), "metadata 'base' is " + std::to_string(file.base()) +
                                             ", whose form is " + keptFormName(next->form()) +
                                             ", not xor");
        chain.push_back(std::move(next));
    }
    return chain;
}

// A run that trains may write a file of the chain again between two looks, for a step that goes.
template <class Read>
auto again(Read read) {
    try {
        return read();
    } catch (const FileError&) {
        return read();
    }
}

WeightValues readChain(const Chain& chain, const std::stop_token& stop) {
    WeightValues values;
    for (auto file = chain.rbegin(); file != chain.rend(); ++file) (*file)->read(values, stop);
    return values;
}

class KeptSource : public CheckpointParts {
public:
    KeptSource(std::string folder, std::int64_t step) : m_folder(std::move(folder)), m_step(step) {
        const auto chain = again([&] { return openChain(m_folder, m_step); });
        const auto& shapes = chain.front()->shapes();
        m_form = std::string("kept weights in ") + keptFormName(chain.front()->form());
        for (const auto& file : chain) {
            m_files.push_back(file->path());
            m_bytes += file->bytes();
        }
        for (const auto& t : shapes.tensors) {
            StoredTensor stored{t.name, t.name, isHalf(t) ? "F32" : t.dtype, t.shape, 0, "", 0};
            stored.bytes = static_cast<std::uint64_t>(stored.count()) *
                           static_cast<std::uint64_t>(dtypeBits(stored.dtype)) / 8;
            m_places.push_back(m_tensors.size());
            add(std::move(stored));
        }
        std::map<std::string, std::size_t> own;
        for (std::size_t i = 0; i < m_tensors.size(); ++i) own.emplace(m_tensors[i].name, i);
        for (const auto& [name, kept] : shapes.sameAs) {
            const auto place = own.at(kept);
            StoredTensor alias = m_tensors[place];
            alias.name = alias.stored = name;
            alias.sameAs = kept;
            m_places.push_back(place);
            add(std::move(alias));
        }
        indexNames();
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const std::scoped_lock lock(m_mutex);
        if (!m_values)
            m_values = again([&] { return readChain(openChain(m_folder, m_step), stop); });
        const auto place = m_places[numberOf(tensor)];
        // The file may be another one than when its header was read.
        const bool same = place < m_values->tensors.size() &&
                          m_values->tensors[place].name == m_tensors[place].name &&
                          m_values->tensors[place].shape == m_tensors[place].shape;
        const auto* values = same ? &m_values->tensors[place] : nullptr;
        const bool widened = values && isHalf(*values);
        const auto bytes = values ? values->bytes.size() * (widened ? 2 : 1) : 0;
        if (!values || at > bytes || out.size() > bytes - at)
            throw FileError(m_files.front(), "has changed while it was read");
        if (!widened) {
            if (!out.empty()) std::memcpy(out.data(), values->bytes.data() + at, out.size());
            return;
        }
        // bfloat16 is the upper half of a float32.
        for (std::size_t i = 0; i + 4 <= out.size(); i += 4) {
            out[i] = out[i + 1] = 0;
            std::memcpy(&out[i + 2], &values->bytes[(at + i) / 2], 2);
        }
    }

private:
    static bool isHalf(const WeightValues::Tensor& tensor) { return tensor.dtype == "BF16"; }

    std::string m_folder;
    std::int64_t m_step;
    std::vector<std::size_t> m_places;  ///< in the values, of m_tensors
    mutable std::mutex m_mutex;
    mutable std::optional<WeightValues> m_values;
};

ModelFetcher& modelFetcher() {
    static ModelFetcher fetcher;
    return fetcher;
}

}  // namespace

std::string keptFolder(const std::string& run) {
    return run + "/weights";
}

bool isMarkedStep(const std::string& folder, std::int64_t step) {
    std::error_code ignored;
    return fs::exists(markPath(folder, step), ignored);
}

void markKeptStep(const std::string& run, std::int64_t step, bool marked) {
    const std::string folder = keptFolder(run);
    std::error_code error;
    if (!marked) {
        fs::remove(markPath(folder, step), error);
        if (error) throw FileError(markPath(folder, step), "cannot be removed: " + error.message());
        return;
    }
    if (!fs::is_regular_file(keptFilePath(folder, step), error))
        throw FileError(run, "has no kept weights of step " + std::to_string(step));
    writeTextFile(markPath(folder, step), "");
}

WeightValues readKeptValues(const std::string& folder, std::int64_t step, std::stop_token stop) {
    return again([&] { return readChain(openChain(folder, step), stop); });
}

KeptWeights::KeptWeights(const std::string& run) : m_folder(keptFolder(run)) {
    std::error_code error;
    std::vector<std::int64_t> found;
    for (const auto& entry : fs::directory_iterator(m_folder, error)) {
        const auto name = entry.path().filename().string();
        if (const auto step = keptFileStep(name); step >= 0) found.push_back(step);
        if (const auto step = seriesFileStep(name); step >= 0) addExternal(step);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        m_problems.push_back(m_folder + ": could not be listed: " + error.message());
    std::sort(found.begin(), found.end());
    for (const auto step : found) try {
            const KeptFile file(m_folder, step);
            m_steps.push_back({step, file.form(), file.bytes(), file.base(),
                               isMarkedStep(m_folder, step), file.checksum()});
        } catch (const FileError& problem) {
            // Not one that a training run has dropped since the folder was listed.
            if (fs::exists(keptFilePath(m_folder, step), error))
                m_problems.emplace_back(problem.what());
        }
    std::sort(m_steps.begin(), m_steps.end(),
              [](const KeptStep& a, const KeptStep& b) { return a.step < b.step; });
    // Without its base a difference is of no use.
    for (std::size_t i = 0; i < m_steps.size();) {
        const auto base = m_steps[i].base;
        if (base < 0 || find(base)) {
            ++i;
            continue;
        }
        m_problems.push_back(keptFilePath(m_folder, m_steps[i].step) +
                             ": needs the weights of step " + std::to_string(base) +
                             ", which are not there");
        m_steps.erase(m_steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void KeptWeights::addExternal(std::int64_t step) {
    try {
        const auto found = readSeriesStep(m_folder, step);
        const auto text = found.name + "\n" + found.checkpoint;
        std::error_code ignored;
        const auto place = placeOf(found);
        m_steps.push_back(
            {step, KeptForm::External, found.bytes, -1, isMarkedStep(m_folder, step),
             crc32Of(0, reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
             found.checkpoint, found.name, !place.empty() && fs::exists(place, ignored)});
    } catch (const Error& problem) {
        m_problems.emplace_back(problem.what());
    }
}

std::vector<KeptStep> KeptWeights::localSteps() const {
    std::vector<KeptStep> here;
    std::copy_if(m_steps.begin(), m_steps.end(), std::back_inserter(here),
                 [](const KeptStep& step) { return step.here; });
    return here;
}

const KeptStep* KeptWeights::find(std::int64_t step) const& {
    const auto at = std::lower_bound(m_steps.begin(), m_steps.end(), step,
                                     [](const KeptStep& k, std::int64_t s) { return k.step < s; });
    return at != m_steps.end() && at->step == step ? &*at : nullptr;
}

const KeptStep* KeptWeights::nearest(std::int64_t step) const& {
    const KeptStep* best = nullptr;
    for (const auto& kept : m_steps)
        if (!best || std::abs(kept.step - step) < std::abs(best->step - step)) best = &kept;
    return best;
}

std::unique_ptr<CheckpointSource> KeptWeights::load(
    std::int64_t step, const std::stop_token& stop,
    const std::function<bool(double)>& progress) const {
    const auto* kept = find(step);
    if (!kept || kept->form != KeptForm::External)
        return std::make_unique<KeptSource>(m_folder, step);
    auto place = placeOf({step, kept->name, kept->checkpoint, kept->bytes});
    if (place.empty()) {
        const auto model = kept->checkpoint.substr(std::string_view(kHubPrefix).size());
        if (!modelFetcher())
            throw Error(kept->name +
                        " is not on this machine; fetch it with: " + commandLine({"fetch", model}));
        place = modelFetcher()(model, stop, progress);
    }
    return CheckpointSource::open(place);
}

void setModelFetcher(ModelFetcher fetcher) {
    modelFetcher() = std::move(fetcher);
}

}  // namespace relascope::core
