// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/papers_figures.h"

#include <nlohmann/json.hpp>

#include "options/builtin_resources.h"
#include "question/question_fields.h"
#include "types/error.h"
#include "types/suggest.h"
#include "views/view_file.h"

namespace relascope::core {

const std::vector<PapersFigure>& papersFigures() {
    static const std::vector<PapersFigure> all = [] {
        std::vector<PapersFigure> figures;
        for (const auto& [name, text] : builtin::figureFiles()) {
            const auto json = nlohmann::json::parse(text);
            PapersFigure one{name, json.at("title"), json.at("of"), json.value("preset", ""),
                             viewFromJson(text, "/" + name + kViewEnding)};
            for (auto& subject : one.view.subjects)
                if (one.view.command != kDataView) subject.path.clear();
            figures.push_back(std::move(one));
        }
        return figures;
    }();
    return all;
}

const PapersFigure& papersFigure(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& figure : papersFigures()) {
        if (figure.name == name) return figure;
        known.push_back(figure.name);
    }
    throw OptionError("figure", unknownName("figure", name, known));
}

}  // namespace relascope::core
