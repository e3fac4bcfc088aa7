// SPDX-License-Identifier: GPL-3.0-or-later
// Another machine for the tests of the window: this one in another home, reached by sh.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "files/atomic_file.h"
#include "support/processes.h"
#include "types/text_format.h"
#include "wire/host.h"

namespace relascope {

class FarMachine {
public:
    /// Its home is made in `folder`, of the name of the machine.
    FarMachine(const std::string& folder, std::string name)
        : m_name(std::move(name)), m_home(folder + "/" + m_name) {
        std::filesystem::create_directories(m_home + "/bin");
        std::filesystem::create_directories(runs());
        std::filesystem::create_symlink(RELASCOPE_BIN "/relascope-cli",
                                        m_home + "/bin/relascope-cli");
    }
    const std::string& home() const { return m_home; }
    std::string runs() const { return m_home + "/runs"; }
    /// Reachable while the file is there that setReachable() makes.
    wire::Host host() const {
        return {
            m_name,
            "env HOME=" + m_home + " PATH=" + m_home + "/bin:/usr/bin:/bin sh -c " +
                shellWord("[ -e " + key() + " ] || { echo no route >&2; exit 255; }; exec \"$@\"") +
                " reach",
            {},
            false,
            runs()};
    }
    void setReachable(bool reachable) const {
        if (reachable)
            core::writeTextFile(key(), "");
        else
            std::filesystem::remove(key());
    }
    /// Sends a signal to what this process has started there.
    void signal(int which) const {
        for (const pid_t process : testing_support::childrenOf(::getpid())) {
            std::ifstream file("/proc/" + std::to_string(process) + "/environ");
            const std::string variables{std::istreambuf_iterator<char>(file), {}};
            if (variables.find("HOME=" + m_home) != std::string::npos) ::kill(process, which);
        }
    }
    /// The connections end, and there is no other.
    void cut() const {
        setReachable(false);
        signal(SIGKILL);
    }
    /// Copies a folder there; its path in the mirror.
    std::string add(const std::string& folder, const std::string& below) const {
        const auto to =
            m_home + "/" + below + "/" + std::filesystem::path(folder).filename().string();
        std::filesystem::create_directories(m_home + "/" + below);
        std::filesystem::copy(folder, to, std::filesystem::copy_options::recursive);
        return wire::mirrorPath(m_name, to);
    }

private:
    std::string key() const { return m_home + "/reachable"; }

    std::string m_name, m_home;
};

}  // namespace relascope
