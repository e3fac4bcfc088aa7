// SPDX-License-Identifier: GPL-3.0-or-later
// Errors a user can act on: one sentence that names the file, field and value and the way out.
#pragma once

#include <stdexcept>
#include <string>

#include "types/text_piece.h"

namespace relascope {

/// An error with a message for the user, shown unchanged, without a type name or a stack trace.
class Error : public std::runtime_error {
public:
    /// Names in it may come from files: it reaches terminals, logs and windows on one line and
    /// without control characters.
    explicit Error(const std::string& text) : std::runtime_error(plainName(text)) {}
};

/// A file that cannot be read or written. `what()` begins with the path.
class FileError : public Error {
public:
    FileError(const std::string& path, const std::string& reason)
        : Error(path + ": " + reason), m_path(path) {}
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

/// An option out of its range or in conflict with another. `field()` is its key, as in `--set`.
class OptionError : public Error {
public:
    OptionError(std::string field, const std::string& message)
        : Error(field + ": " + message), m_field(std::move(field)), m_message(plainName(message)) {}
    const std::string& field() const { return m_field; }
    /// The sentence without the key, for showing under the field itself.
    const std::string& message() const { return m_message; }

private:
    std::string m_field;
    std::string m_message;
};

/// The work was stopped on request; this is not a failure.
class Cancelled : public Error {
public:
    Cancelled() : Error("cancelled") {}
};

/// The message of any exception for the user. The stack trace that LibTorch appends is removed; the
/// lines before it are LibTorch's own, any other message may have names of files in it.
inline std::string userMessage(const std::exception& error) {
    const std::string text = error.what();
    const auto trace = text.find("\nException raised from");
    return trace == std::string::npos ? plainName(text) : withoutControls(text.substr(0, trace));
}

}  // namespace relascope
