// SPDX-License-Identifier: GPL-3.0-or-later
// The data of runs that another program recorded: the descriptor. There is nothing to open; the
// inputs of such a run are those of its captures.
#include "datasets/kinds/kind_parts.h"
#include "model/recorded/recorded_options.h"

namespace relascope::datasets {
namespace {

DataKind recorded() {
    DataKind k;
    k.name = core::kRecorded;
    k.title = "Recorded by another program";
    k.help = "The data of another program, of which the captured inputs are known.";
    k.family = "Other programs";
    k.order = 900;
    k.input = InputKind::Objects;
    k.unit = {"example", "examples"};
    k.trains = k.generated = false;
    return k;
}

const DataKindRegistrar registered(recorded);

}  // namespace
}  // namespace relascope::datasets
