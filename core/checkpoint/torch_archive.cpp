// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/torch_archive.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "checkpoint/pickle_json.h"
#include "checkpoint/torch_tensor.h"
#include "files/crc32.h"
#include "files/safetensors.h"

namespace relascope::core {
namespace {

constexpr std::uint64_t kMaxPickle = 64u << 20;
constexpr std::size_t kMaxTensors = 1'000'000, kMaxName = 4096;

// Copies `count` elements of T from the row-major position `at` of a strided view.
template <typename T>
void copyStrided(const ArchiveTensor& t, const std::uint8_t* from, std::uint64_t at,
                 std::uint8_t* out, std::uint64_t count) {
    const std::size_t rank = t.shape.size();
    std::vector<std::uint64_t> index(rank);
    std::uint64_t rest = at, place = 0;
    for (std::size_t i = rank; i-- > 0;) {
        const auto size = static_cast<std::uint64_t>(t.shape[i]);
        index[i] = rest % size, rest /= size;
        place += index[i] * static_cast<std::uint64_t>(t.stride[i]);
    }
    for (std::uint64_t done = 0; done < count; ++done) {
        std::memcpy(out + done * sizeof(T), from + place * sizeof(T), sizeof(T));
        for (std::size_t i = rank; i-- > 0;) {
            const auto stride = static_cast<std::uint64_t>(t.stride[i]);
            place += stride;
            if (++index[i] < static_cast<std::uint64_t>(t.shape[i])) break;
            place -= stride * index[i];
            index[i] = 0;
        }
    }
}

}  // namespace

void TorchArchive::fail(const std::string& reason) const {
    throw FileError(m_zip.path(), reason);
}

TorchArchive::TorchArchive(std::shared_ptr<const ByteSource> bytes) : m_zip(std::move(bytes)) {
    if (m_zip.entries().empty()) fail("is an empty ZIP archive");
    const auto& first = m_zip.entries().front().name;
    m_folder = first.substr(0, first.find('/') == std::string::npos ? 0 : first.find('/') + 1);
    const auto* entry = m_zip.find(m_folder + "data.pkl");
    if (!entry)
        fail("is a ZIP archive but not a PyTorch checkpoint: it has no '" +
             m_folder.substr(0, 200) + "data.pkl'");
    checkByteOrder();
    const Pickle pickle(m_zip.read(*entry, kMaxPickle), m_zip.path());
    const auto& state = stateOf(pickle);
    addTensors(pickle, state);
    if (&state != &pickle.root()) findConfig(pickle);
}

void TorchArchive::checkByteOrder() const {
    const auto* entry = m_zip.find(m_folder + "byteorder");
    if (!entry) return;
    const auto order = m_zip.read(*entry, 16);
    if (std::string(order.begin(), order.end()) != "little")
        fail("was written on a big-endian machine, which is not supported; save it as safetensors");
}

const PickleValue& TorchArchive::stateOf(const Pickle& pickle) const {
    const auto& root = pickle.root();
    if (root.kind != PickleKind::Dict)
        fail("holds " + pickle.describe(root) +
             " and no state dictionary; save model.state_dict() instead");
    for (const char* key : {"model", "state_dict", "model_state_dict"})
        if (const auto* state = pickle.find(root, key); state && state->kind == PickleKind::Dict)
            return *state;
    std::string keys;
    for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
        if (isPickledTensor(pickle, pickle[root.items[i + 1]])) return root;
        if (i < 16) keys += (i ? ", " : "") + std::string(pickle[root.items[i]].text.substr(0, 80));
    }
    fail("contains no weights under 'model' or 'state_dict'; its keys: " + keys);
}

// If there is `model_args`, `config` is that of the training.
void TorchArchive::findConfig(const Pickle& pickle) {
    for (const char* key : {"model_args", "config"}) {
        const auto* value = pickle.find(pickle.root(), key);
        if (!value || value->kind != PickleKind::Dict) continue;
        if (const auto json = plainJson(pickle, *value, m_zip.path())) {
            m_config = json->dump(2);
            m_configFrom = key;
        }
        return;
    }
}

void TorchArchive::addTensors(const Pickle& pickle, const PickleValue& state) {
    using View = std::tuple<const ZipEntry*, std::uint64_t, std::string, std::vector<std::int64_t>,
                            std::vector<std::int64_t>>;
    std::map<View, std::size_t> views;
    std::map<std::string_view, bool> names;
    std::uint64_t total = 0, stored = 0;
    for (const auto& entry : m_zip.entries()) stored += entry.size;
    if (state.items.size() / 2 > kMaxTensors) fail("holds more than a million tensors");
    for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
        const auto& key = pickle[state.items[i]];
        if (key.kind != PickleKind::String || key.text.size() > kMaxName)
            fail("has " + pickle.describe(key) + " among the names of its tensors");
        if (!names.emplace(key.text, true).second)
            fail("tensor '" + std::string(key.text.substr(0, 200)) + "' appears twice");
        auto tensor = pickledTensor(pickle, pickle[state.items[i + 1]], std::string(key.text),
                                    m_zip, m_folder);
        // Two tensors of no elements share nothing.
        if (tensor.bytes > 0) {
            const auto [view, fresh] = views.emplace(
                View(tensor.record, tensor.offset, tensor.dtype, tensor.shape, tensor.stride),
                m_tensors.size());
            if (!fresh) tensor.sameAs = view->second;
        }
        if (tensor.sameAs == ArchiveTensor::kItself) total += tensor.bytes;
        m_tensors.push_back(std::move(tensor));
    }
    // Tied weights share one view; thousands of overlapping views would be an attack on memory and
    // disk.
    if (total / 4 > stored)
        fail("its tensors need " + std::to_string(total) + " bytes, the file stores " +
             std::to_string(stored));
}

void TorchArchive::readPart(const ArchiveTensor& tensor, std::uint64_t at,
                            std::span<std::uint8_t> out, std::stop_token stop) const {
    if (at > tensor.bytes || out.size() > tensor.bytes - at)
        fail("tensor '" + tensor.name + "': a range beyond its end");
    if (out.empty()) return;
    if (!tensor.contiguous) return gather(tensor, at, out, std::move(stop));
    m_zip.readPart(*tensor.record, tensor.offset + at, out, std::move(stop));
    followCrc(tensor, at, out);
}

void TorchArchive::followCrc(const ArchiveTensor& tensor, std::uint64_t at,
                             std::span<const std::uint8_t> out) const {
    if (tensor.offset != 0 || tensor.bytes != tensor.record->size) return;
    const std::lock_guard lock(m_mutex);
    if (at == 0) m_last = &tensor, m_next = 0, m_crc = 0;
    if (m_last != &tensor || m_next != at) return;
    m_crc = crc32Of(m_crc, out.data(), out.size());
    m_next += out.size();
    if (m_next == tensor.bytes && m_crc != tensor.record->crc)
        fail("tensor '" + tensor.name +
             "' is damaged (its CRC differs); copy or download the file again");
}

// The part of the storage is read once and kept until the tensor has been read completely.
void TorchArchive::gather(const ArchiveTensor& tensor, std::uint64_t at,
                          std::span<std::uint8_t> out, std::stop_token stop) const {
    const std::lock_guard lock(m_mutex);
    if (m_last != &tensor || m_gathered.size() != tensor.span) {
        m_last = nullptr;
        m_gathered = std::vector<std::uint8_t>(tensor.span);
        m_zip.readPart(*tensor.record, tensor.offset, m_gathered, std::move(stop));
        m_last = &tensor;
    }
    const auto size = static_cast<std::uint64_t>(dtypeBits(tensor.dtype) / 8);
    if (at % size != 0 || out.size() % size != 0) fail("a part that cuts an element in two");
    const auto copy = size == 1   ? copyStrided<std::uint8_t>
                      : size == 2 ? copyStrided<std::uint16_t>
                      : size == 4 ? copyStrided<std::uint32_t>
                                  : copyStrided<std::uint64_t>;
    copy(tensor, m_gathered.data(), at / size, out.data(), out.size() / size);
    if (at + out.size() == tensor.bytes) m_last = nullptr, m_gathered = {};
}

}  // namespace relascope::core
