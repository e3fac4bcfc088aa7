// SPDX-License-Identifier: GPL-3.0-or-later
// The heads that questions give to models of images whose answer are features (Model::head), and
// the labelled pictures that they are fitted and measured on.
#pragma once

#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "app/serve/data.h"
#include "wire/requests.h"

namespace relascope::serve {

/// Labelled pictures as such a model reads them. No picture is in both parts.
struct HeadPictures {
    core::DatasetPtr fitting;   ///< null: there are none
    core::DatasetPtr measured;  ///< null: no data are measured on
    std::string split;          ///< the name of what is measured
    std::string key;            ///< tells them from others
};

/// The pictures of --data, or those in memory (wire::Asked::data), with the split that is measured;
/// of a folder or file without parts two thirds are for fitting. All that are there where nothing
/// is fitted. Throws OptionError("--split", ...) for the pictures that a head is fitted on.
HeadPictures headPictures(const wire::Asked& asked, const core::OpenedModel& model,
                          OpenedDataSets& sets);

/// Gives a model its head: that of the word, else means where there are pictures. Does nothing to
/// other models, but throws OptionError where one is named for them.
void giveHead(core::OpenedModel& model, const std::string& head, const HeadPictures& pictures,
              OpenedDataSets& sets);
/// Gives a model its head for a question of one input: by the pictures in memory, which are not
/// read again for a head that is there.
void giveHead(core::OpenedModel& model, const wire::Asked& asked, OpenedDataSets& sets);

/// What is to be said beside a result of such a model; empty for others: "the answers are those of
/// a head of nearest means that was fitted on 900 pictures, not of the model alone".
std::string headRemark(const core::OpenedModel& model);

}  // namespace relascope::serve
