// SPDX-License-Identifier: GPL-3.0-or-later
// How commands draw figures: by the functions of the program, or, where it has none, as the program
// with the window and the same arguments.
#pragma once

#include <initializer_list>
#include <iostream>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "types/error.h"

namespace relascope::core {
class OpenedModel;
}  // namespace relascope::core

namespace relascope::cli {

// Other processes of this program.

/// The path of the running executable.
std::string ownProgram();
/// Replaces this process by the program `relascope` with the same arguments, as pictures require
/// Qt. Throws Error if it is not found.
int drawWithSibling(int argc, char** argv);
/// Starts `count` processes of this program with these arguments and waits for them; a requested
/// stop is passed on as SIGINT. Returns the highest exit code.
int runSideBySide(const std::vector<std::string>& arguments, int count,
                  const std::stop_token& stop);

struct Drawing {
    const Renderers& renderers;
    int argc = 0;
    char** argv = nullptr;

    /// Whether another program must draw the file.
    template <class Figure>
    bool elsewhere(const std::string& out, const Renderers::Draw<Figure>& draw) const {
        return isPicture(out) && !draw;
    }
    /// Replaces this process by that program.
    int handOver() const { return drawWithSibling(argc, argv); }
    /// Throws FileError if the file cannot be written.
    template <class Figure>
    static void draw(const Renderers::Draw<Figure>& draw, const Figure& figure) {
        std::string error;
        if (draw(figure, &error)) return;
        // The command reports the file itself.
        if (error.rfind(figure.out + ": ", 0) == 0) error.erase(0, figure.out.size() + 2);
        throw FileError(figure.out, error);
    }
};

/// The ending of an output file: one of `known` or that of a picture. Throws OptionError("--out",
/// ...) for another.
std::string endingOf(const std::string& out, std::initializer_list<const char*> known);
/// The name of the folder or file of a run or checkpoint.
std::string folderName(const std::string& path);
/// "occurs, step 500, validation" for a caption; `more` may be empty.
std::string captionOf(const std::string& path, const core::OpenedModel& model,
                      const std::string& more);

}  // namespace relascope::cli
