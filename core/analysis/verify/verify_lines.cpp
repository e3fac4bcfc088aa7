// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_lines.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

namespace relascope::core {

VerifyLine comparedTensors(const std::string& name, const torch::Tensor& ours,
                           const torch::Tensor& theirs, double tolerance) {
    VerifyLine line{name};
    if (!ours.defined()) return line.note = "not computed by this model", line;
    if (ours.sizes() != theirs.sizes()) {
        line.note = "different shape";
        return line;
    }
    const auto a = ours.detach().to(torch::kCPU, torch::kDouble), b = theirs.to(torch::kDouble);
    if (a.numel() == 0) return line.ok = true, line;
    const auto difference = (a - b).abs();
    line.absolute = difference.max().item<double>();
    line.relative = (difference / b.abs().clamp_min(1e-12)).max().item<double>();
    line.ok = (difference <= tolerance + tolerance * b.abs()).all().item<bool>();
    if (!std::isfinite(line.absolute)) line.note = "not finite";
    return line;
}

void addLine(VerifyReport& report, VerifyLine line) {
    report.ok = report.ok && line.ok;
    report.worst =
        std::isfinite(line.absolute) ? std::max(report.worst, line.absolute) : line.absolute;
    report.lines.push_back(std::move(line));
}

}  // namespace relascope::core
