// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/kept_file.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "files/byte_planes.h"
#include "files/crc32.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMaxStep = 1'000'000'000'000;
constexpr const char* kShape = "shape/";

std::string shapeList(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const auto size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
    return text;
}

// "64,16" -> {64, 16}; false if it is anything else.
bool readShape(const std::string& text, std::vector<std::int64_t>& shape) {
    const char *at = text.data(), *end = at + text.size();
    while (at != end) {
        std::int64_t size = -1;
        const auto [rest, error] = std::from_chars(at, end, size);
        if (error != std::errc() || size < 0 || shape.size() >= 64) return false;
        shape.push_back(size);
        if (rest != end && (*rest != ',' || rest + 1 == end)) return false;
        at = rest == end ? end : rest + 1;
    }
    return true;
}

bool isFloat(const std::string& dtype) {
    return dtype == "F32" || dtype == "BF16" || dtype == "F16" || dtype == "F64";
}

std::string quoted(const std::string& text) {
    return "'" + text.substr(0, 80) + "'";
}

}  // namespace

std::uint64_t WeightValues::bytes() const {
    std::uint64_t all = 0;
    for (const auto& tensor : tensors) all += tensor.bytes.size();
    return all;
}

std::uint32_t WeightValues::checksum() const {
    std::uint32_t crc = 0;
    for (const auto& tensor : tensors) crc = crc32Of(crc, tensor.bytes.data(), tensor.bytes.size());
    return crc;
}

std::string keptFilePath(const std::string& folder, std::int64_t step) {
    return folder + "/step-" + std::to_string(step) + ".safetensors";
}

std::int64_t keptFileStep(const std::string& name) {
    std::int64_t step = -1;
    if (!name.starts_with("step-")) return -1;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 5, end, step);
    const bool whole = error == std::errc() && std::string_view(rest, end) == ".safetensors";
    // Exactly as written, not "step-007".
    return whole && step >= 0 && "step-" + std::to_string(step) + ".safetensors" == name ? step
                                                                                         : -1;
}

PackedWeights packWeights(std::int64_t step, KeptForm form, WeightValues values,
                          std::int64_t baseStep, const WeightValues* base) {
    PackedWeights packed;
    packed.metadata = {{"format", "pt"},
                       {"kept", "1"},
                       {"step", std::to_string(step)},
                       {"form", keptFormName(form)},
                       {"crc32", std::to_string(values.checksum())}};
    if (base) {
        packed.metadata["base"] = std::to_string(baseStep);
        packed.metadata["base_crc32"] = std::to_string(base->checksum());
    }
    for (std::size_t i = 0; i < values.tensors.size(); ++i) {
        auto& tensor = values.tensors[i];
        if (form == KeptForm::Xor && tensor.dtype == "BF16") {
            packed.metadata[kShape + tensor.name] = shapeList(tensor.shape);
            tensor.bytes = packPlanes(
                tensor.bytes, base ? base->tensors.at(i).bytes : std::vector<std::uint8_t>{});
            tensor.dtype = "U8";
            tensor.shape = {static_cast<std::int64_t>(tensor.bytes.size())};
        }
        packed.bytes += tensor.bytes.size() + 2 * tensor.name.size() + 100;
        packed.entries.push_back({tensor.name, tensor.dtype, tensor.shape, 0, tensor.bytes.size()});
        packed.data.push_back(std::move(tensor.bytes));
    }
    packed.metadata.insert(values.sameAs.begin(), values.sameAs.end());
    return packed;
}

void writePacked(const std::string& path, const PackedWeights& packed) {
    std::vector<TensorToWrite> tensors;
    for (std::size_t i = 0; i < packed.entries.size(); ++i) {
        const auto& entry = packed.entries[i];
        tensors.push_back({entry.name, entry.dtype, entry.shape, packed.data[i]});
    }
    writeSafetensors(path, std::move(tensors), packed.metadata);
}

KeptFile::KeptFile(const std::string& folder, std::int64_t step)
    : m_file(keptFilePath(folder, step)), m_step(step) {
    checkHeader();
}

KeptFile::KeptFile(std::shared_ptr<const ByteSource> bytes, std::int64_t step)
    : m_file(std::move(bytes)), m_step(step) {
    checkHeader();
}

std::int64_t KeptFile::number(const char* key, std::int64_t most) const {
    const auto found = m_file.header().metadata.find(key);
    if (found == m_file.header().metadata.end())
        fail(std::string("lacks the metadata '") + key + "' of kept weights");
    const auto& text = found->second;
    std::int64_t value = -1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest != text.data() + text.size() || value < 0 || value > most)
        fail(std::string("metadata '") + key + "' is " + quoted(text) +
             ", not a whole number from 0 to " + std::to_string(most));
    return value;
}

void KeptFile::checkHeader() {
    const auto& metadata = m_file.header().metadata;
    if (const auto kept = number("kept", 1'000'000); kept != 1)
        fail("metadata 'kept' is " + std::to_string(kept) + "; this version reads format 1");
    if (const auto step = number("step", kMaxStep); step != m_step)
        fail("metadata 'step' is " + std::to_string(step) + ", but its name says " +
             std::to_string(m_step));
    const auto named = metadata.find("form");
    bool known = false;
    for (const auto form : {KeptForm::Float32, KeptForm::BFloat16, KeptForm::Xor})
        if (named != metadata.end() && named->second == keptFormName(form))
            m_form = form, known = true;
    if (!known)
        fail("metadata 'form' is " + (named == metadata.end() ? "absent" : quoted(named->second)) +
             "; float32, bfloat16 and xor are known");
    constexpr std::int64_t word = std::numeric_limits<std::uint32_t>::max();
    m_checksum = static_cast<std::uint32_t>(number("crc32", word));
    if (m_form == KeptForm::Xor && metadata.count("base")) {
        m_base = number("base", kMaxStep);
        if (m_base >= m_step)
            fail("metadata 'base' is " + std::to_string(m_base) + ", not a step before " +
                 std::to_string(m_step));
        m_baseChecksum = static_cast<std::uint32_t>(number("base_crc32", word));
    }

    for (const auto& entry : m_file.header().tensors) m_entries.push_back(&entry);
    std::sort(m_entries.begin(), m_entries.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const auto* entry : m_entries) {
        WeightValues::Tensor tensor{entry->name, entry->dtype, entry->shape, {}};
        std::uint64_t bytes = entry->bytes();
        const auto shape = metadata.find(kShape + entry->name);
        if (m_form == KeptForm::Xor && shape != metadata.end()) {
            if (entry->dtype != "U8" || entry->shape.size() != 1)
                fail("tensor " + quoted(entry->name) + " is " + entry->dtype +
                     ", not the compressed bytes that its metadata announces");
            tensor.dtype = "BF16";
            tensor.shape.clear();
            bool fits = readShape(shape->second, tensor.shape);
            bytes = 2;
            for (const auto size : tensor.shape)
                fits = fits &&
                       !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes);
            if (!fits)
                fail("tensor " + quoted(entry->name) + ": the shape " + quoted(shape->second) +
                     " is not one");
            if (bytes > mostUnpacked(entry->bytes()))
                fail("tensor " + quoted(entry->name) + ": the shape " + quoted(shape->second) +
                     " needs " + std::to_string(bytes) + " bytes, more than its " +
                     std::to_string(entry->bytes()) + " compressed bytes can hold");
        } else if (isFloat(entry->dtype) &&
                   (m_form == KeptForm::Xor ||
                    entry->dtype != (m_form == KeptForm::Float32 ? "F32" : "BF16"))) {
            fail("tensor " + quoted(entry->name) + " is " + entry->dtype + " in a file of form " +
                 keptFormName(m_form));
        }
        if (__builtin_add_overflow(m_valueBytes, bytes, &m_valueBytes))
            fail("tensor " + quoted(entry->name) + ": the sizes overflow");
        m_shapes.tensors.push_back(std::move(tensor));
    }
    const auto holds = [this](const std::string& name) {
        const auto at =
            std::lower_bound(m_entries.begin(), m_entries.end(), name,
                             [](const auto* entry, const auto& n) { return entry->name < n; });
        return at != m_entries.end() && (*at)->name == name;
    };
    for (const auto& [key, value] : metadata)
        if (holds(value) && !holds(key)) m_shapes.sameAs.emplace(key, value);
}

void KeptFile::read(WeightValues& values, const std::stop_token& stop) const {
    if (m_base >= 0) {
        const auto& there = values.tensors;
        for (std::size_t i = 0; i < std::max(there.size(), m_shapes.tensors.size()); ++i) {
            const bool both = i < there.size() && i < m_shapes.tensors.size();
            if (both && there[i].name == m_shapes.tensors[i].name &&
                there[i].dtype == m_shapes.tensors[i].dtype &&
                there[i].shape == m_shapes.tensors[i].shape)
                continue;
            const auto& name =
                i < m_shapes.tensors.size() ? m_shapes.tensors[i].name : there[i].name;
            fail("tensor " + quoted(name) + " is not the same in its base, step " +
                 std::to_string(m_base));
        }
        if (values.checksum() != m_baseChecksum)
            fail("metadata 'base_crc32' is " + std::to_string(m_baseChecksum) + ", but step " +
                 std::to_string(m_base) + " has " + std::to_string(values.checksum()) +
                 ": it is not the base that this file was made from");
    } else {
        values = m_shapes;
    }
    values.sameAs = m_shapes.sameAs;
    std::vector<std::uint8_t> packed;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const auto& entry = *m_entries[i];
        auto& tensor = values.tensors[i];
        const bool compressed = m_form == KeptForm::Xor && tensor.dtype == "BF16";
        std::uint64_t bytes = compressed ? 2 : entry.bytes();
        if (compressed)
            for (const auto size : tensor.shape) bytes *= static_cast<std::uint64_t>(size);
        tensor.bytes.resize(bytes);
        if (!compressed) {
            m_file.readPart(entry, 0, tensor.bytes, stop);
            continue;
        }
        packed.resize(entry.bytes());
        m_file.readPart(entry, 0, packed, stop);
        if (!unpackPlanes(packed, tensor.bytes))
            fail("tensor " + quoted(entry.name) + ": its compressed bytes are damaged");
        if (stop.stop_requested()) throw Cancelled();
    }
    if (values.checksum() != m_checksum)
        fail("metadata 'crc32' is " + std::to_string(m_checksum) + ", but the weights have " +
             std::to_string(values.checksum()) + ": the file is damaged");
}

}  // namespace relascope::core
