// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of resources/ that are part of the program, generated at build time.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace relascope::core::builtin {

/// The text of each file of resources/presets.
const std::vector<std::string>& presetFiles();
/// The name and text of each view file of resources/figures, in the order of the menus.
const std::vector<std::pair<std::string, std::string>>& figureFiles();
/// The text of resources/published/relational_games.csv: task,test,model,train_size,mean,sem.
const std::string& publishedRelationalGames();
/// The text of resources/published/object_argsort.csv: metric,model,train_size,mean,sem, models as
/// printed.
const std::string& publishedSorting();
/// The text of resources/published/tables.csv: preset,model,layers,split,accuracy; without training
/// sizes.
const std::string& publishedTables();
/// The text of resources/reference/relational_games.csv:
/// task,test,model,train_size,mean,sem,runs,commit,machine,date; measured with this program.
const std::string& referenceRelationalGames();
/// The program's version, "0.2.0".
const char* version();

}  // namespace relascope::core::builtin
