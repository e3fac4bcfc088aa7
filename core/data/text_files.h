// SPDX-License-Identifier: GPL-3.0-or-later
// The text files of a path, and their bytes and documents in order.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "files/byte_source.h"

namespace relascope::core {

enum class TextForm { Plain, Json, Shard };

struct TextFile {
    std::string path;
    TextForm form = TextForm::Plain;
    std::uint64_t bytes = 0;
    std::int64_t modified = 0;  ///< nanoseconds
};

/// One file, or the files of a folder and of its sub-folders in the order of their names: the token
/// shards (.bin, .npy) if there are any, else .txt, .text, .md, .json and .jsonl (each also .gz),
/// else all files. `leftOut` gets a sentence on the other files of a folder, counted by their
/// endings. Throws FileError.
std::vector<TextFile> listTextFiles(const std::string& path, std::string* leftOut = nullptr);

/// Identifies the state of the files (path, size, time), not their content.
std::string signatureOf(const std::vector<TextFile>& files);

/// The bytes of a file, unpacked when they are gzip's. Throws FileError or Cancelled.
class TextBytes {
public:
    explicit TextBytes(std::shared_ptr<const ByteSource> source, std::stop_token stop = {});
    ~TextBytes();
    TextBytes(const TextBytes&) = delete;
    TextBytes& operator=(const TextBytes&) = delete;

    const std::string& path() const { return m_source->path(); }
    /// The next bytes, valid until the next call; empty at the end.
    std::string_view next();
    /// Bytes of the file itself that were read so far.
    std::uint64_t consumed() const { return m_at; }

private:
    std::string_view readPiece();
    std::string_view inflatePiece();

    struct Inflater;
    std::shared_ptr<const ByteSource> m_source;
    std::stop_token m_stop;
    std::uint64_t m_at = 0;
    std::vector<std::uint8_t> m_piece;
    std::unique_ptr<Inflater> m_inflater;
};

/// Receives the documents of files: begin() before each, then its text in pieces. Empty documents
/// are left out.
struct DocumentSink {
    std::function<void()> begin;
    std::function<void(std::string_view)> text;
    /// Called at the end of a plain text with bytes that are not UTF-8: where the first is, and how
    /// many there are.
    std::function<void(std::uint64_t first, std::uint64_t count)> invalid = {};
    /// Called at the end of JSON records with halves of surrogate pairs, which are read as U+FFFD.
    std::function<void(std::uint64_t first, std::uint64_t count)> halves = {};
};

/// Plain text: one document, or several where "<|endoftext|>" parts them. JSON: a record a
/// document; a string, or an object with its text in `field` (empty: text, story or content); one
/// after another or in an array. Throws FileError naming the record and byte, also for UTF-16,
/// UTF-32 and what is no text, or Cancelled.
void readDocuments(TextBytes& bytes, TextForm form, const std::string& field,
                   const DocumentSink& sink);

/// The JSON records of readDocuments.
void readJsonDocuments(TextBytes& bytes, const std::string& field, const DocumentSink& sink);

/// Refuses files that do not begin as UTF-8 text: UTF-16 and UTF-32, archives, pages, binary files.
/// `start` are the first bytes, the more the better. Throws FileError with the way out.
void requireUtf8Text(const std::string& path, std::string_view start);
/// requireUtf8Text(); also refuses pages and answers of servers, whatever the ending of the name.
void requireCorpus(const std::string& path, std::string_view start);

}  // namespace relascope::core
