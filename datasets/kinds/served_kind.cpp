// SPDX-License-Identifier: GPL-3.0-or-later
// The data of models that other programs serve: the descriptor.
#include "datasets/kinds/kind_parts.h"
#include "model/served/served_options.h"

namespace relascope::datasets {
namespace {

DataKind served() {
    DataKind k;
    k.name = core::kServedData;
    k.title = "Served by another program";
    k.help = "The examples of a program that serves its model, which stay there.";
    k.family = "Other programs";
    k.order = 910;
    k.input = InputKind::Objects;
    k.unit = {"example", "examples"};
    k.trains = k.generated = false;
    return k;
}

const DataKindRegistrar registered(served);

}  // namespace
}  // namespace relascope::datasets
