// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/kept_ring.h"

#include <algorithm>
#include <filesystem>

#include "files/atomic_file.h"
#include "files/memory.h"

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
    m_steps.push_back({step, form, fs::file_size(path, ignored), base, false});
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
        // It becomes the difference to the base of the one that goes, which stays until then.
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
    // A base goes after what needs it.
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

}  // namespace relascope::core
