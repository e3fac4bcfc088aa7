// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/dataset_list.h"

#include "types/data_kind.h"

namespace relascope::datasets {

std::vector<DatasetEntry> listDatasets() {
    std::vector<DatasetEntry> entries;
    for (const auto* kind : dataKinds()) {
        if (!kind->generated && kind->imports.empty()) continue;  // known to other programs alone
        for (const auto& task : kind->tasks)
            entries.push_back(
                {kind->name, task.name, task.title, task.help, kind->families, task.classNames});
        if (kind->tasks.empty())
            entries.push_back({kind->name, "", kind->title, kind->help, kind->families, {}});
    }
    return entries;
}

}  // namespace relascope::datasets
