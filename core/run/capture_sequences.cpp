// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/capture_sequences.h"

#include <cstring>

namespace relascope::core {
namespace {

template <class T>
std::vector<T> numbersOf(const std::vector<std::uint8_t>& data) {
    std::vector<T> values(data.size() / sizeof(T));
    std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
    return values;
}

std::string wordKey(const std::string& prefix, std::size_t sample, std::size_t element) {
    return prefix + "word_" + std::to_string(sample) + "_" + std::to_string(element);
}

}  // namespace

std::vector<std::uint8_t> sampleBytes(const SafetensorsFile& file, const TensorEntry& entry,
                                      std::size_t rank, std::int64_t sample) {
    if (entry.shape.size() != rank || entry.shape[0] < 1)
        throw FileError(file.path(),
                        "tensor '" + entry.name + "' does not have the shape of a capture");
    if (sample < 0 || sample >= entry.shape[0])
        throw FileError(file.path(), "has " + std::to_string(entry.shape[0]) +
                                         " samples, so there is no sample " +
                                         std::to_string(sample));
    TensorEntry one = entry;
    const std::uint64_t bytes = entry.bytes() / static_cast<std::uint64_t>(entry.shape[0]);
    one.begin = entry.begin + bytes * static_cast<std::uint64_t>(sample);
    one.end = one.begin + bytes;
    std::vector<std::uint8_t> data(bytes);
    file.read(one, data);
    return data;
}

StoredSequences::StoredSequences(std::string prefix, const std::vector<ProbeResult>& results,
                                 ProbeSequence ProbeSample::*side)
    : m_prefix(std::move(prefix)) {
    for (const auto& result : results) {
        const auto& s = result.sample.*side;
        m_sequences.push_back(&s);
        m_tokens.insert(m_tokens.end(), s.tokens.begin(), s.tokens.end());
        m_vectors.insert(m_vectors.end(), s.vectors.begin(), s.vectors.end());
        for (const auto& picture : s.pictures)
            m_pictures.insert(m_pictures.end(), picture.pixels.begin(), picture.pixels.end());
        if (!s.text) continue;
        for (const auto& word : s.labels) {
            m_pieces.insert(m_pieces.end(), word.begin(), word.end());
            m_ends.push_back(static_cast<std::int64_t>(m_pieces.size()));
        }
    }
}

void StoredSequences::addTo(std::vector<TensorToWrite>& out,
                            std::map<std::string, std::string>& metadata) const {
    const auto& first = *m_sequences.front();
    const auto samples = static_cast<std::int64_t>(m_sequences.size()),
               n = static_cast<std::int64_t>(first.size());
    if (n < 1 || (first.text && samples > 1)) return;
    if (first.width > 0)
        out.push_back({m_prefix + "vectors", "F32", {samples, n, first.width}, bytesOf(m_vectors)});
    else
        out.push_back({m_prefix + "tokens", "I64", {samples, n}, bytesOf(m_tokens)});
    if (first.text) {
        out.push_back(
            {m_prefix + "pieces", "U8", {1, static_cast<std::int64_t>(m_pieces.size())}, m_pieces});
        out.push_back({m_prefix + "piece_ends",
                       "I64",
                       {1, static_cast<std::int64_t>(m_ends.size())},
                       bytesOf(m_ends)});
        return;
    }
    for (std::size_t i = 0; i < m_sequences.size(); ++i)
        for (std::size_t k = 0; k < m_sequences[i]->labels.size(); ++k)
            metadata[wordKey(m_prefix, i, k)] = m_sequences[i]->labels[k];
    if (first.pictures.size() != static_cast<std::size_t>(n)) return;
    const auto& picture = first.pictures.front();
    const auto bytes =
        static_cast<std::size_t>(samples * n * picture.height * picture.width * picture.channels);
    if (m_pictures.size() != bytes) return;  // of different sizes: shown by their names
    out.push_back({m_prefix + "pictures",
                   "U8",
                   {samples, n, picture.height, picture.width, picture.channels},
                   m_pictures});
}

ProbeSequence loadSequence(const SafetensorsFile& file, const std::string& prefix,
                           std::int64_t sample) {
    ProbeSequence s;
    const auto find = [&](const char* name, const char* dtype) -> const TensorEntry* {
        const auto* entry = file.find(prefix + name);
        if (entry && entry->dtype != dtype)
            throw FileError(file.path(), "tensor '" + entry->name + "' is not of " + dtype);
        return entry;
    };
    if (const auto* tokens = find("tokens", "I64")) {
        s.tokens = numbersOf<std::int64_t>(sampleBytes(file, *tokens, 2, sample));
    } else if (const auto* vectors = find("vectors", "F32")) {
        s.vectors = numbersOf<float>(sampleBytes(file, *vectors, 3, sample));
        if (vectors->shape[2] < 1 || vectors->shape[2] > 1 << 20)
            throw FileError(file.path(), "has empty vectors");
        s.width = static_cast<int>(vectors->shape[2]);
    } else {
        return s;
    }
    if (const auto* pieces = find("pieces", "U8")) {
        const auto bytes = sampleBytes(file, *pieces, 2, sample);
        const auto* ends = find("piece_ends", "I64");
        if (!ends) throw FileError(file.path(), "lacks the tensor '" + prefix + "piece_ends'");
        s.text = true;
        std::int64_t begin = 0;
        for (const auto end : numbersOf<std::int64_t>(sampleBytes(file, *ends, 2, sample))) {
            if (end < begin || end > static_cast<std::int64_t>(bytes.size()))
                throw FileError(file.path(), "has text pieces with invalid ends");
            s.labels.emplace_back(bytes.begin() + begin, bytes.begin() + end);
            begin = end;
        }
        if (s.labels.size() != s.tokens.size())
            throw FileError(file.path(), "has a text of " + std::to_string(s.tokens.size()) +
                                             " tokens and " + std::to_string(s.labels.size()) +
                                             " pieces");
        return s;
    }
    const auto& metadata = file.header().metadata;
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.size()); ++k) {
        const auto word = metadata.find(wordKey(prefix, static_cast<std::size_t>(sample), k));
        if (word == metadata.end()) break;
        s.labels.push_back(word->second);
    }
    if (const auto* pictures = find("pictures", "U8")) {
        const auto bytes = sampleBytes(file, *pictures, 5, sample);
        const auto& shape = pictures->shape;
        if (shape[1] < 1 || shape[1] != s.size() || shape[2] < 1 || shape[3] < 1 ||
            (shape[4] != 1 && shape[4] != 3))
            throw FileError(file.path(), "has images that do not match its objects");
        const std::size_t each = bytes.size() / static_cast<std::size_t>(shape[1]);
        for (std::int64_t k = 0; k < shape[1]; ++k) {
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(each) * k;
            s.pictures.push_back({static_cast<int>(shape[3]),
                                  static_cast<int>(shape[2]),
                                  static_cast<int>(shape[4]),
                                  {begin, begin + static_cast<std::ptrdiff_t>(each)}});
        }
    }
    return s;
}

}  // namespace relascope::core
