// SPDX-License-Identifier: GPL-3.0-or-later
// tokenize: text to token ids and back, of any length in bounded memory.
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "data/text_files.h"
#include "text/text_encoder.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct TokenizeArguments {
    std::string file, tokenizer = "gpt2";
    bool decode = false, typed = false, json = false;
};

constexpr std::size_t kPiece = 1u << 16;

// Writes standard output in large pieces; a failed write is an error, not a truncated text.
class Output {
public:
    void write(std::string_view text) {
        m_held += text;
        if (m_held.size() >= kPiece) flush();
    }
    void flush() {
        writeText(m_held);
        m_held.clear();
    }

private:
    std::string m_held;
};

// Calls `action` with the bytes of a file (unpacked if compressed by gzip) or of standard input,
// piece by piece.
template <class Action>
void forEachPiece(const std::string& path, const Action& action) {
    if (path != "-") {
        core::TextBytes bytes(core::openFileBytes(path));
        bool first = true;
        for (std::string_view piece; !(piece = bytes.next()).empty(); first = false) {
            // Any bytes have tokens, but a byte order mark of UTF-16 shows that the text has the
            // wrong encoding.
            if (first && (piece.starts_with("\xFF\xFE") || piece.starts_with("\xFE\xFF")))
                core::requireUtf8Text(path, piece);
            if (first && piece.starts_with("\xEF\xBB\xBF")) piece.remove_prefix(3);
            action(piece);
        }
        return;
    }
    std::string buffer(kPiece, '\0');
    while (true) {
        const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw FileError("standard input",
                            "cannot be read: " + std::string(std::strerror(errno)));
        if (got == 0) return;
        action(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    }
}

int encode(const TokenizeArguments& a, const core::Tokenizer& tokenizer) {
    Output out;
    std::int64_t count = 0;
    if (a.json)
        out.write("{\"tokenizer\":" + nlohmann::json(validUtf8(tokenizer.name())).dump() +
                  ",\"ids\":[");
    const auto print = [&](std::span<const std::int32_t> ids) {
        for (const auto id : ids) {
            if (count++ > 0) out.write(a.json ? "," : " ");
            out.write(std::to_string(id));
        }
    };
    if (a.typed) {
        std::string text;
        forEachPiece(a.file, [&](std::string_view piece) { text += piece; });
        print(tokenizer.encodeTyped(text));
    } else {
        core::TextEncoder encoder(tokenizer, print);
        forEachPiece(a.file, [&](std::string_view piece) { encoder.add(piece); });
        encoder.finish();
    }
    out.write(a.json ? "],\"count\":" + std::to_string(count) + "}\n" : "\n");
    out.flush();
    return 0;
}

int decode(const TokenizeArguments& a, const core::Tokenizer& tokenizer) {
    const std::string name = a.file == "-" ? "standard input" : a.file;
    Output out;
    std::string word, text;
    std::int64_t count = 0;
    std::int32_t previous = -1;
    const auto take = [&] {
        if (word.empty()) return;
        std::int32_t id = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (error != std::errc() || end != word.data() + word.size())
            throw FileError(name, "token " + std::to_string(count + 1) + " is '" +
                                      pieceText(word).text + "', which is not an integer");
        if (id < 0 || id >= tokenizer.size())
            throw FileError(name, "token " + std::to_string(count + 1) + " is " + word + "; " +
                                      tokenizer.name() + " has token ids 0 to " +
                                      std::to_string(tokenizer.size() - 1));
        const auto piece =
            count++ == 0 ? tokenizer.firstPiece(id) : tokenizer.pieceAfter(id, previous);
        previous = id;
        word.clear();
        if (a.json)
            text += piece;
        else
            out.write(piece);
    };
    forEachPiece(a.file, [&](std::string_view piece) {
        for (const char c : piece) {
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != ',')
                word += c;
            else
                take();
            if (word.size() > 40)
                throw FileError(name, "token " + std::to_string(count + 1) + " is '" +
                                          pieceText(word).text + "', which is not an integer");
        }
    });
    take();
    if (a.json)
        out.write(nlohmann::json{{"text", validUtf8(text)}, {"count", count}}.dump() + "\n");
    out.flush();
    return 0;
}

int tokenize(const TokenizeArguments& a, const Call&) {
    const auto tokenizer = core::openTokenizer(a.tokenizer);
    return a.decode ? decode(a, *tokenizer) : encode(a, *tokenizer);
}

void tokenizeOptions(CLI::App& command, TokenizeArguments& a) {
    command.add_option("file", a.file, "a text file (also .gz), or - for standard input")
        ->required();
    command.add_option("--tokenizer", a.tokenizer, "gpt2, or a tokenizer file or folder");
    command.add_flag("--typed", a.typed,
                     "make special tokens of their names, with the first and last of a template");
    command.add_flag("--decode", a.decode, "convert token ids to text");
}

}  // namespace

Command tokenizeCommand() {
    return commandOf("tokenize", "converts text to token ids, or back", tokenizeOptions, tokenize);
}

}  // namespace relascope::cli
