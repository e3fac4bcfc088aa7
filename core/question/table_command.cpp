// SPDX-License-Identifier: GPL-3.0-or-later
#include "question/table_command.h"

#include <algorithm>
#include <utility>

namespace relascope::core {
namespace {

std::vector<TableCommand>& addedTableCommands() {
    static std::vector<TableCommand> all;
    return all;
}

}  // namespace

AddTableCommand::AddTableCommand(std::string name, std::string title, std::string summary,
                                 Answer (*answer)(const Question&),
                                 std::vector<AnalysisField> fields) {
    Analysis described;
    described.name = std::move(name);
    described.title = std::move(title);
    described.summary = std::move(summary);
    described.fields = std::move(fields);
    makeForms(described);
    // The order in which files are initialised is not known.
    auto& all = addedTableCommands();
    const auto at = std::ranges::upper_bound(
        all, described.name, {}, [](const TableCommand& one) { return one.described.name; });
    all.insert(at, {std::move(described), answer});
}

const std::vector<TableCommand>& tableCommands() {
    return addedTableCommands();
}

const TableCommand* findTableCommand(const std::string& name) {
    const auto& all = tableCommands();
    const auto at = std::ranges::find(all, name, [](const TableCommand& one) -> const std::string& {
        return one.described.name;
    });
    return at == all.end() ? nullptr : &*at;
}

const Analysis* describedAnswer(const std::string& command) {
    const auto* tables = findTableCommand(command);
    return tables ? &tables->described : findAnalysis(command);
}

}  // namespace relascope::core
