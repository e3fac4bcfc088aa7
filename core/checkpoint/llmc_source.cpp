// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2 as llm.c saves it: 256 numbers of 32 bits, then the parameters one kind after another, each
// of all layers (write_model() of its train_gpt2.py).
#include <nlohmann/json.hpp>

#include "checkpoint/source.h"
#include "files/byte_source.h"

namespace relascope::core {
namespace {

constexpr std::uint64_t kHeader = 1024;
constexpr std::int64_t kMost = 1 << 20;  // the most that each size may be

// The sizes that the header says.
struct LlmcSizes {
    std::int64_t version, context, vocabulary, layers, heads, width, rows;
};

class LlmcSource : public CheckpointParts {
public:
    explicit LlmcSource(const std::string& path) : m_file(openFileBytes(path)) {
        m_form = "llm.c model";
        m_files.push_back(m_file->path());
        m_bytes = m_file->size();
        const auto sizes = readHeader();
        m_dtype = sizes.version == 5 ? "BF16" : "F32";
        addTensors(sizes);
        if (m_end != m_file->size())
            fail("is " + std::to_string(m_file->size()) + " bytes long, and its header says " +
                 std::to_string(m_end) + "; copy or download it again");
        const nlohmann::ordered_json config = {
            {"n_layer", sizes.layers},        {"n_head", sizes.heads},
            {"n_embd", sizes.width},          {"block_size", sizes.context},
            {"vocab_size", sizes.vocabulary}, {"activation", "gelu"}};
        m_config = config.dump(2);
        m_configFrom = "the header";
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto place = placeOf(tensor)->at;
        if (at > tensor.bytes || out.size() > tensor.bytes - at)
            fail("tensor '" + tensor.name + "': a range beyond its end");
        m_file->read(place + at, out, std::move(stop));
    }
    std::optional<Place> placeOf(const StoredTensor& tensor) const override {
        return Place{m_file.get(), m_places[numberOf(tensor)]};
    }

private:
    [[noreturn]] void fail(const std::string& what) const { throw FileError(m_files[0], what); }

    LlmcSizes readHeader() const {
        std::uint8_t bytes[32];
        m_file->read(0, bytes);
        const auto number = [&](int i) {
            return static_cast<std::int64_t>(littleEndian(bytes + 4 * i, 4));
        };
        LlmcSizes sizes{number(1), number(2), number(3), number(4),
                        number(5), number(6), number(7)};
        if (sizes.version == 1) sizes.rows = sizes.vocabulary;  // before rows were padded
        if (sizes.version != 1 && sizes.version != 3 && sizes.version != 5)
            fail("is a model of llm.c of version " + std::to_string(sizes.version) +
                 "; versions 1, 3 (float32) and 5 (bfloat16) open");
        for (const auto size :
             {sizes.context, sizes.vocabulary, sizes.layers, sizes.heads, sizes.width, sizes.rows})
            if (size < 1 || size > kMost)
                fail("has a header with a size of " + std::to_string(size) +
                     "; copy or download it again");
        if (sizes.rows < sizes.vocabulary)
            fail("has fewer rows than tokens: " + std::to_string(sizes.rows) + " and " +
                 std::to_string(sizes.vocabulary));
        return sizes;
    }

    // The next tensor; `rows` of the first dimension are in the file.
    void addNext(const std::string& name, std::vector<std::int64_t> shape, std::int64_t rows) {
        StoredTensor tensor{name, name, m_dtype, std::move(shape), 0, "", 0, ""};
        const std::uint64_t size = m_dtype == "BF16" ? 2 : 4;
        tensor.bytes = size * static_cast<std::uint64_t>(tensor.count());
        m_places.push_back(m_end);
        m_end += tensor.bytes / static_cast<std::uint64_t>(tensor.shape[0]) *
                 static_cast<std::uint64_t>(rows);
        add(std::move(tensor));
    }
    void addNext(const std::string& name, const std::vector<std::int64_t>& shape) {
        addNext(name, shape, shape[0]);
    }

    void addTensors(const LlmcSizes& s) {
        const auto d = s.width;
        const std::vector<std::pair<const char*, std::vector<std::int64_t>>> parts = {
            {"ln_1.weight", {d}},
            {"ln_1.bias", {d}},
            {"attn.c_attn.weight", {3 * d, d}},
            {"attn.c_attn.bias", {3 * d}},
            {"attn.c_proj.weight", {d, d}},
            {"attn.c_proj.bias", {d}},
            {"ln_2.weight", {d}},
            {"ln_2.bias", {d}},
            {"mlp.c_fc.weight", {4 * d, d}},
            {"mlp.c_fc.bias", {4 * d}},
            {"mlp.c_proj.weight", {d, 4 * d}},
            {"mlp.c_proj.bias", {d}}};
        if (s.layers > 10'000) fail("says that it has " + std::to_string(s.layers) + " layers");
        addNext("transformer.wte.weight", {s.vocabulary, d}, s.rows);
        addNext("transformer.wpe.weight", {s.context, d});
        for (const auto& [name, shape] : parts)
            for (std::int64_t layer = 0; layer < s.layers; ++layer)
                addNext("transformer.h." + std::to_string(layer) + "." + name, shape);
        addNext("transformer.ln_f.weight", {d});
        addNext("transformer.ln_f.bias", {d});
    }

    std::shared_ptr<const ByteSource> m_file;
    std::string m_dtype;
    std::vector<std::uint64_t> m_places;
    std::uint64_t m_end = kHeader;
};

}  // namespace

std::unique_ptr<CheckpointParts> openLlmc(const std::string& path) {
    return std::make_unique<LlmcSource>(path);
}

}  // namespace relascope::core
