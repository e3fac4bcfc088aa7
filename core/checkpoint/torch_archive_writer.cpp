// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/torch_archive_writer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "checkpoint/zip.h"
#include "files/safetensors.h"

namespace relascope::core {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr int kMaxWrittenDepth = 64;

// How torch writes a dtype: storages of the old types carry it, newer types come with bytes.
struct TorchType {
    const char* storage;
    const char* dtype;
};

TorchType torchType(const StoredTensor& tensor, const std::string& path) {
    static const std::map<std::string, TorchType> types = {
        {"F32", {"FloatStorage", nullptr}},
        {"F64", {"DoubleStorage", nullptr}},
        {"F16", {"HalfStorage", nullptr}},
        {"BF16", {"BFloat16Storage", nullptr}},
        {"I64", {"LongStorage", nullptr}},
        {"I32", {"IntStorage", nullptr}},
        {"I16", {"ShortStorage", nullptr}},
        {"I8", {"CharStorage", nullptr}},
        {"U8", {"ByteStorage", nullptr}},
        {"BOOL", {"BoolStorage", nullptr}},
        {"C64", {"ComplexFloatStorage", nullptr}},
        {"U16", {nullptr, "uint16"}},
        {"U32", {nullptr, "uint32"}},
        {"U64", {nullptr, "uint64"}},
        {"F8_E4M3", {nullptr, "float8_e4m3fn"}},
        {"F8_E5M2", {nullptr, "float8_e5m2"}},
        {"F8_E8M0", {nullptr, "float8_e8m0fnu"}},
        {"F8_E4M3FNUZ", {nullptr, "float8_e4m3fnuz"}},
        {"F8_E5M2FNUZ", {nullptr, "float8_e5m2fnuz"}}};
    const auto found = types.find(tensor.dtype);
    if (found == types.end())
        throw FileError(path, "tensor '" + tensor.name + "': PyTorch has no type for " +
                                  tensor.dtype + "; write a .safetensors file instead");
    return found->second;
}

// Protocol 2 without a memo: PyTorch's own readers need none.
class PickleWriter {
public:
    explicit PickleWriter(const std::string& path) : m_path(path) {}
    std::string bytes = "\x80\x02";

    void integer(std::int64_t value) {
        if (value >= INT32_MIN && value <= INT32_MAX) {
            bytes += 'J';
            raw(static_cast<std::uint32_t>(value), 4);
        } else {
            bytes += "\x8a\x08";
            raw(static_cast<std::uint64_t>(value), 8);
        }
    }
    void text(const std::string& value) {
        bytes += 'X';
        raw(value.size(), 4);
        bytes += value;
    }
    void global(const std::string& module, const std::string& name) {
        bytes += 'c' + module + "\n" + name + "\n";
    }
    void numbers(const std::vector<std::int64_t>& values) {
        bytes += '(';
        for (const auto value : values) integer(value);
        bytes += 't';
    }

    void json(const OrderedJson& value, int depth = 0) {
        if (depth > kMaxWrittenDepth)
            throw FileError(m_path, "the configuration is nested deeper than 64 levels");
        switch (value.type()) {
            case OrderedJson::value_t::object:
                bytes += "}(";
                for (const auto& [key, member] : value.items()) text(key), json(member, depth + 1);
                bytes += 'u';
                break;
            case OrderedJson::value_t::array:
                bytes += "](";
                for (const auto& element : value) json(element, depth + 1);
                bytes += 'e';
                break;
            case OrderedJson::value_t::string:
                text(value.get<std::string>());
                break;
            case OrderedJson::value_t::boolean:
                bytes += value.get<bool>() ? '\x88' : '\x89';
                break;
            case OrderedJson::value_t::number_integer:
            case OrderedJson::value_t::number_unsigned:
                integer(value.get<std::int64_t>());
                break;
            case OrderedJson::value_t::number_float: {
                const auto bits = std::bit_cast<std::uint64_t>(value.get<double>());
                bytes += 'G';
                for (int i = 7; i >= 0; --i) bytes += static_cast<char>(bits >> (8 * i));
                break;
            }
            default:
                bytes += 'N';
        }
    }

    void tensor(const StoredTensor& t, const std::string& key) {
        const auto type = torchType(t, m_path);
        const std::int64_t size = type.storage ? t.count() : static_cast<std::int64_t>(t.bytes);
        global("torch._utils", type.storage ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
        bytes += "((";
        text("storage");
        type.storage ? global("torch", type.storage) : global("torch.storage", "UntypedStorage");
        text(key);
        text("cpu");
        integer(size);
        bytes += "tQ";
        integer(0);
        numbers(t.shape);
        std::vector<std::int64_t> strides(t.shape.size());
        std::int64_t stride = 1;
        for (std::size_t i = strides.size(); i-- > 0;
             stride *= std::max<std::int64_t>(1, t.shape[i]))
            strides[i] = stride;
        numbers(strides);
        bytes += '\x89';  // requires no gradient
        global("collections", "OrderedDict");
        bytes += ")R";
        if (type.dtype) global("torch", type.dtype);
        bytes += "tR";
    }

private:
    void raw(std::uint64_t value, int count) {
        for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
    }
    const std::string& m_path;
};

std::string stateText(const std::vector<StoredTensor>& tensors, const std::string& config,
                      const std::string& path) {
    PickleWriter out(path);
    if (!config.empty()) {
        const auto json = OrderedJson::parse(config, nullptr, false);
        if (!json.is_object())
            throw FileError(path, "cannot store the configuration, which is not a JSON object");
        out.bytes += "}(";
        out.text("config");
        out.json(json);
        out.text("model");
    }
    std::map<std::string, std::string> keys;  // keys of storages, by the name of their tensor
    for (const auto& t : tensors)
        if (t.sameAs.empty()) keys.emplace(t.name, std::to_string(keys.size()));
    out.bytes += "}(";
    for (const auto& t : tensors) {
        out.text(t.name);
        out.tensor(t, keys.at(t.sameAs.empty() ? t.name : t.sameAs));
    }
    out.bytes += 'u';
    if (!config.empty()) out.bytes += 'u';
    return out.bytes + '.';
}

}  // namespace

void writeTorchArchive(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const std::string& config,
                       const std::function<void(const StoredTensor&, const ByteSink&)>& produce) {
    const std::string state = stateText(tensors, config, path);
    ZipWriter zip(path);
    zip.add("archive/data.pkl", state);
    zip.add("archive/.format_version", "1");
    zip.add("archive/.storage_alignment", "64");
    zip.add("archive/byteorder", "little");
    std::size_t key = 0;
    for (const auto& t : tensors) {
        if (!t.sameAs.empty()) continue;
        zip.begin("archive/data/" + std::to_string(key++), t.bytes);
        produce(t, [&](std::span<const std::uint8_t> bytes) { zip.write(bytes); });
        zip.end();
    }
    zip.add("archive/version", "3\n");
    zip.commit();
}

}  // namespace relascope::core
