// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/far_command.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "app/cli/cli.h"
#include "model/served/served_options.h"
#include "types/error.h"
#include "wire/session.h"
#include "wire/types.h"

namespace relascope::cli {

std::optional<wire::FarPath> farServed(const std::vector<std::string>& words) {
    for (const auto& word : words)
        if (core::isServedName(word))
            if (auto far = wire::farPathOf(word)) return far;
    return std::nullopt;
}

int runOnHost(const wire::FarPath& far, std::vector<std::string> words, bool answers) {
    const auto& name = far.host;
    const bool plain = name[0] != '-' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                           return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '@';
                       });
    if (!plain) throw OptionError("path", "'" + name + "' is no machine that ssh can reach");
    for (const auto& word : words)
        if (const auto other = wire::farPathOf(word); other && other->host != name)
            throw OptionError("path", "names models on " + name + " and on " + other->host +
                                          "; a command asks one machine");
    for (const auto& word : words)
        if (word == "--out" || word.starts_with("--out="))
            throw OptionError("--out", "would be written on " + name +
                                           ", where this command runs; leave it out, and keep "
                                           "what is printed");
    const wire::Host host{name, "ssh " + name, {}, false, {}};
    if (!answers) {
        for (auto& word : words)
            if (auto there = wire::farPathOf(word); there && there->host == name)
                word = std::move(there->path);
        auto all = wire::farCommand(host, words);
        std::vector<char*> pointers;
        for (auto& word : all) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        ::execvp(pointers[0], pointers.data());
        throw Error(std::string(pointers[0]) + " cannot be started: " + std::strerror(errno));
    }
    wire::setHosts({host});
    const auto* steered = SteeredScope::current();
    const auto progress = [steered](double fraction) {
        if (!steered) return true;
        steered->progress(fraction);
        return !steered->stop.stop_requested();
    };
    wire::Session session;
    const auto answer =
        session.ask("command", {{"words", std::move(words)}, {"folder", ""}}, progress);
    return session.understood([&] {
        std::cerr << wire::valueOf<std::string>(answer.message, "said");
        std::cout.write(reinterpret_cast<const char*>(answer.blob.data()),
                        static_cast<std::streamsize>(answer.blob.size()));
        return wire::valueOf<int>(answer.message, "code");
    });
}

}  // namespace relascope::cli
