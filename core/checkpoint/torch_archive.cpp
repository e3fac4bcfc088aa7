// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "checkpoint/packed_weights.h"
#include "checkpoint/pickle_json.h"
#include "checkpoint/torch_archive.h"
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
    if (!entry) entry = repacked();
    for (const auto& one : m_zip.entries())
        if (const auto what = otherArchive(one.name); !what.empty()) fail(what);
    if (!entry)
        fail("is a ZIP archive but not a PyTorch checkpoint: it has no '" +
             m_folder.substr(0, 200) + "data.pkl'");
    checkByteOrder();
    const Pickle pickle(m_zip.read(*entry, kMaxPickle), m_zip.path());
    const auto& state = stateOf(pickle);
    addTensors(pickle, state);
    if (&state != &pickle.root()) findConfig(pickle);
}

// The data.pkl of an archive that was unpacked and packed again: it may lie in further folders,
// beside those of macOS. Null unless there is exactly one.
const ZipEntry* TorchArchive::repacked() {
    const ZipEntry* found = nullptr;
    for (const auto& one : m_zip.entries()) {
        if (!one.name.ends_with("/data.pkl") || one.name.starts_with("__MACOSX/")) continue;
        if (found) return nullptr;
        found = &one;
    }
    if (found) m_folder = found->name.substr(0, found->name.rfind('/') + 1);
    return found;
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
    const auto holdsTensors = [&](const PickleValue& dict) {
        for (std::size_t i = 1; i < dict.items.size(); i += 2)
            if (isPickledTensor(pickle, pickle[dict.items[i]])) return true;
        return false;
    };
    for (const char* key :
         {"model", "state_dict", "model_state_dict", "model_state", "module", "net", "network",
          "weights", "params", "ema", "ema_state_dict", "state_dict_ema"})
        if (const auto* state = pickle.find(root, key);
            state && state->kind == PickleKind::Dict && holdsTensors(*state))
            return *state;
    if (holdsTensors(root)) return root;
    // The matrices of a Jacobian lens, by the number of their layer.
    if (const auto* lens = pickle.find(root, "J");
        lens && lens->kind == PickleKind::Dict && holdsTensors(*lens))
        return *lens;
    std::string keys;
    for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
        if (pickle[root.items[i]].text == "ds_version")
            fail("is a part of a checkpoint of DeepSpeed without the weights; " +
                 std::string(kZeroToFloat));
        if (i < 16) keys += (i ? ", " : "") + std::string(pickle[root.items[i]].text.substr(0, 80));
    }
    fail("contains no weights under 'model' or 'state_dict'; its keys: " + keys);
}

// If there is `model_args`, `config` is the configuration of the training.
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
    std::map<std::string, bool> names;
    const bool numbered = &state == pickle.find(pickle.root(), "J");
    std::uint64_t total = 0, stored = 0;
    std::string unread;  // the last one
    for (const auto& entry : m_zip.entries()) stored += entry.size;
    if (state.items.size() / 2 > kMaxTensors) fail("holds more than a million tensors");
    for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
        const auto& key = pickle[state.items[i]];
        const bool number = numbered && key.kind == PickleKind::Integer;
        if (!number && (key.kind != PickleKind::String || key.text.size() > kMaxName))
            fail("has " + pickle.describe(key) + " among the names of its tensors");
        const auto name = number ? std::to_string(key.integer) : std::string(key.text);
        if (!names.emplace(name, true).second)
            fail("tensor '" + name.substr(0, 200) + "' appears twice");
        const auto& value = pickle[state.items[i + 1]];
        if (!isPickledTensor(pickle, value)) {
            m_others[name] = "is no tensor: " + pickle.describe(value);
            continue;
        }
        auto tensor = pickledTensor(pickle, value, name, m_zip, m_folder);
        if (!tensor.unread.empty()) {
            unread = "tensor '" + tensor.name.substr(0, 200) + "' " + tensor.unread;
            m_others[tensor.name] = tensor.unread;
            continue;
        }
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
    if (m_tensors.empty() && !unread.empty()) fail(unread);
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

namespace {

constexpr std::size_t kMaxRank = 64;
using Names = std::pair<std::string_view, std::string_view>;

// torch's name, safetensors' name.
constexpr std::array<Names, 11> kStorageTypes = {{{"torch.FloatStorage", "F32"},
                                                  {"torch.DoubleStorage", "F64"},
                                                  {"torch.HalfStorage", "F16"},
                                                  {"torch.BFloat16Storage", "BF16"},
                                                  {"torch.LongStorage", "I64"},
                                                  {"torch.IntStorage", "I32"},
                                                  {"torch.ShortStorage", "I16"},
                                                  {"torch.CharStorage", "I8"},
                                                  {"torch.ByteStorage", "U8"},
                                                  {"torch.BoolStorage", "BOOL"},
                                                  {"torch.ComplexFloatStorage", "C64"}}};
constexpr std::array<Names, 26> kDtypeNames = {{{"torch.float32", "F32"},
                                                {"torch.float", "F32"},
                                                {"torch.float64", "F64"},
                                                {"torch.double", "F64"},
                                                {"torch.float16", "F16"},
                                                {"torch.half", "F16"},
                                                {"torch.bfloat16", "BF16"},
                                                {"torch.int64", "I64"},
                                                {"torch.long", "I64"},
                                                {"torch.int32", "I32"},
                                                {"torch.int", "I32"},
                                                {"torch.int16", "I16"},
                                                {"torch.short", "I16"},
                                                {"torch.int8", "I8"},
                                                {"torch.uint8", "U8"},
                                                {"torch.uint16", "U16"},
                                                {"torch.uint32", "U32"},
                                                {"torch.uint64", "U64"},
                                                {"torch.bool", "BOOL"},
                                                {"torch.complex64", "C64"},
                                                {"torch.cfloat", "C64"},
                                                {"torch.float8_e4m3fn", "F8_E4M3"},
                                                {"torch.float8_e5m2", "F8_E5M2"},
                                                {"torch.float8_e8m0fnu", "F8_E8M0"},
                                                {"torch.float8_e4m3fnuz", "F8_E4M3FNUZ"},
                                                {"torch.float8_e5m2fnuz", "F8_E5M2FNUZ"}}};

std::string_view lookUp(const auto& table, std::string_view name) {
    for (const auto& [torch, ours] : table)
        if (torch == name) return ours;
    return {};
}

class TensorReader {
public:
    TensorReader(const Pickle& pickle, const std::string& name, const ZipDirectory& zip,
                 const std::string& folder)
        : m_pickle(pickle), m_zip(zip), m_folder(folder) {
        m_tensor.name = name;
    }

    ArchiveTensor read(const PickleValue* value) {
        for (int level = 0; m_pickle.callee(*value).starts_with("torch._utils._rebuild_parameter");
             ++level) {
            const auto& arguments = m_pickle.arguments(*value);
            if (arguments.empty() || level == 4) fail("is a damaged parameter");
            value = &m_pickle[arguments[0]];
        }
        const auto callee = m_pickle.callee(*value);
        const auto& arguments = m_pickle.arguments(*value);
        if (!isPickledTensor(m_pickle, *value)) fail("is " + m_pickle.describe(*value));
        m_tensor.unread = otherKind(callee);
        if (!m_tensor.unread.empty()) return std::move(m_tensor);
        if (arguments.size() < 4) fail("is described by too few values");
        readStorage(m_pickle[arguments[0]]);
        if (callee.ends_with("_v3")) {  // the storage is of bytes, the type comes last
            if (arguments.size() < 7) fail("is described by too few values");
            readDtype(m_pickle[arguments[6]]);
        }
        if (m_tensor.dtype.empty()) m_tensor.dtype = "U8";
        m_tensor.shape = numbers(m_pickle[arguments[2]], "shape");
        m_tensor.stride = numbers(m_pickle[arguments[3]], "strides");
        if (m_tensor.shape.size() != m_tensor.stride.size())
            fail("has " + std::to_string(m_tensor.shape.size()) + " dimensions but " +
                 std::to_string(m_tensor.stride.size()) + " strides");
        place(number(m_pickle[arguments[1]], "offset"));
        return std::move(m_tensor);
    }

private:
    // The reason why a tensor is not read that is no plain view of a storage; empty if it is one.
    static std::string otherKind(std::string_view callee) {
        const auto has = [&](std::string_view word) {
            return callee.find(word) != std::string_view::npos;
        };
        if (has("_rebuild_tensor")) return {};
        if (has("sparse")) return "is a sparse tensor; save it with to_dense() to have it read";
        if (has("qtensor"))
            return "is a quantised tensor; save it with dequantize() to have it read";
        if (has("meta")) return "is a tensor of the device 'meta', which has no values";
        if (has("nested")) return "is a nested tensor; save its parts one by one";
        return "is a tensor of another class than torch.Tensor; save a plain one";
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(m_zip.path(), "tensor '" + m_tensor.name.substr(0, 200) + "' " + why);
    }

    std::uint64_t number(const PickleValue& value, const char* what) const {
        if (value.kind != PickleKind::Integer)
            fail(std::string("has ") + m_pickle.describe(value) + " as " + what);
        if (value.integer < 0)
            fail(std::string("has a negative number in its ") + what + ": " +
                 std::to_string(value.integer));
        return static_cast<std::uint64_t>(value.integer);
    }

    std::vector<std::int64_t> numbers(const PickleValue& value, const char* what) const {
        if (value.kind != PickleKind::Tuple && value.kind != PickleKind::List)
            fail(std::string("has ") + m_pickle.describe(value) + " as " + what);
        if (value.items.size() > kMaxRank) fail("has more than 64 dimensions");
        std::vector<std::int64_t> all;
        for (const auto item : value.items)
            all.push_back(static_cast<std::int64_t>(number(m_pickle[item], what)));
        return all;
    }

    // ('storage', torch.FloatStorage, key, 'cpu', elements)
    void readStorage(const PickleValue& value) {
        if (value.kind != PickleKind::Persistent)
            fail("has " + m_pickle.describe(value) + " as storage");
        const auto& id = m_pickle[value.items[0]];
        if (id.kind != PickleKind::Tuple || id.items.size() < 5 ||
            m_pickle[id.items[0]].text != "storage" ||
            m_pickle[id.items[1]].kind != PickleKind::Global ||
            m_pickle[id.items[2]].kind != PickleKind::String)
            fail("has a storage that PyTorch does not write");
        const auto type = m_pickle[id.items[1]].text;
        const bool untyped = type.ends_with("UntypedStorage");
        m_tensor.dtype = lookUp(kStorageTypes, type);
        if (m_tensor.dtype.empty() && !untyped)
            fail("is of " + std::string(type) + ", which is not supported");
        const std::string key(m_pickle[id.items[2]].text);
        if (key.empty() || key == "." || key == ".." ||
            key.find_first_of("/\\") != std::string::npos)
            fail("has storage '" + key.substr(0, 200) + "', which points outside the archive");
        m_tensor.record = m_zip.find(m_folder + "data/" + key);
        if (!m_tensor.record)
            fail("needs record '" + m_folder.substr(0, 200) + "data/" + key.substr(0, 200) +
                 "', which is missing");
        const std::uint64_t item = untyped ? 1 : static_cast<std::uint64_t>(itemSize());
        if (__builtin_mul_overflow(number(m_pickle[id.items[4]], "storage size"), item, &m_storage))
            fail("has a storage whose size overflows");
        if (m_storage > m_tensor.record->size)
            fail("has a storage of " + std::to_string(m_storage) + " bytes, but its record has " +
                 std::to_string(m_tensor.record->size));
    }

    void readDtype(const PickleValue& value) {
        m_tensor.dtype = lookUp(kDtypeNames, value.text);
        if (value.kind != PickleKind::Global || m_tensor.dtype.empty())
            fail("is of " +
                 (value.text.empty() ? m_pickle.describe(value)
                                     : std::string(value.text.substr(0, 80))) +
                 ", which is not supported");
    }

    int itemSize() const { return dtypeBits(m_tensor.dtype) / 8; }

    // Offset and strides count elements. What is read must lie within the storage, and no view may
    // be larger than its storage (an expanded one would ask for any amount of memory).
    void place(std::uint64_t offset) {
        const auto item = static_cast<std::uint64_t>(itemSize());
        std::uint64_t elements = 1, last = 0, expected = 1;
        bool overflow = false;
        m_tensor.contiguous = true;
        for (std::size_t i = m_tensor.shape.size(); i-- > 0;) {
            const auto size = static_cast<std::uint64_t>(m_tensor.shape[i]),
                       stride = static_cast<std::uint64_t>(m_tensor.stride[i]);
            std::uint64_t step = 0;
            overflow |= __builtin_mul_overflow(elements, size, &elements);
            if (size > 1) {
                m_tensor.contiguous = m_tensor.contiguous && stride == expected;
                overflow |= __builtin_mul_overflow(size - 1, stride, &step);
                overflow |= __builtin_add_overflow(last, step, &last);
                overflow |= __builtin_mul_overflow(expected, size, &expected);
            }
        }
        std::uint64_t end = 0;
        overflow |= __builtin_mul_overflow(elements, item, &m_tensor.bytes);
        overflow |= __builtin_add_overflow(last, 1, &last);
        overflow |= __builtin_mul_overflow(last, item, &m_tensor.span);
        overflow |= __builtin_mul_overflow(offset, item, &m_tensor.offset);
        overflow |= __builtin_add_overflow(m_tensor.offset, m_tensor.span, &end);
        if (elements == 0 && !overflow) {
            m_tensor.offset = m_tensor.span = 0;
            m_tensor.contiguous = true;
            return;
        }
        if (overflow) fail("has a shape or strides that overflow");
        if (end > m_storage)
            fail("reaches to byte " + std::to_string(end) + " of a storage of " +
                 std::to_string(m_storage));
        if (m_tensor.bytes > m_storage)
            m_tensor.unread = "is expanded: it needs " + std::to_string(m_tensor.bytes) +
                              " bytes, its storage has " + std::to_string(m_storage) +
                              "; save a contiguous() copy";
    }

    const Pickle& m_pickle;
    const ZipDirectory& m_zip;
    const std::string& m_folder;
    ArchiveTensor m_tensor;
    std::uint64_t m_storage = 0;
};

}  // namespace

bool isPickledTensor(const Pickle& pickle, const PickleValue& value) {
    const auto callee = pickle.callee(value);
    return callee.starts_with("torch._utils._rebuild_") ||
           callee == "torch._tensor._rebuild_from_type_v2";
}

ArchiveTensor pickledTensor(const Pickle& pickle, const PickleValue& value, const std::string& name,
                            const ZipDirectory& zip, const std::string& folder) {
    return TensorReader(pickle, name, zip, folder).read(&value);
}

}  // namespace relascope::core
