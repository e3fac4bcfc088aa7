// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a scan, and its result as text.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "analysis/pairs/claims.h"
#include "analysis/pairs/hypothesis.h"
#include "analysis/scan/answer.h"
#include "analysis/scan/scan.h"
#include "answers/layout.h"
#include "types/metric.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<ScanOptions>& scanFields() {
    using O = ScanOptions;
    static const auto inTime = [](auto field) {
        field.automatic = [](const O&) { return std::string("as time allows"); };
        return field;
    };
    static const FieldTable<O> table = [] {
        FieldTable<O> all = {
            fields::integer(
                &O::seconds, "seconds", "Seconds",
                "about how long it may take: less time takes fewer examples, then fewer "
                "exact effects",
                1, 1e6),
            inTime(fields::integer(
                &O::examples, "examples", "Examples",
                "number of examples that effects are measured on, at most half of them; the others "
                "choose the parts; 0: as many as there is time for, at most 1,000, of text 32 "
                "windows",
                0, 1e6)),
            inTime(fields::integer(
                &O::exact, "exact", "Exact effects",
                "number of parts that are measured exactly; 0: groups and the strongest 5 %, "
                "at least 24, as far as there is time",
                0, 1e6)),
            fields::integer(
                &O::untrained, "untrained", "Untrained models",
                "models with the same options and fresh weights that findings are compared "
                "with; 0: none",
                0, 64),
            inTime(
                fields::integer(&O::tokens, "tokens", "Tokens",
                                "of text: tokens of a window, at most; 0: all of them, of models "
                                "with 50 million parameters or more 128",
                                0, 1e6)),
            fields::text(&O::attributes, "attributes", "Attributes",
                         "a CSV file of own attributes: columns example, i, j, and one for each "
                         "attribute")};
        for (auto& field : hypothesisFields<O>()) all.push_back(std::move(field));
        return all;
    }();
    return table;
}

std::string partTitle(const std::string& part) {
    // "abstractor.0.rca.hook_pattern head 1": the pattern of a head is a relation.
    if (const auto first = part.find('.');
        part.find(".hook_") != std::string::npos && first + 1 < part.size() &&
        std::isdigit(static_cast<unsigned char>(part[first + 1]))) {
        const auto words = part.find(' ');
        auto title = (part.starts_with("blocks.") ? std::string("layer") : part.substr(0, first)) +
                     " " + std::to_string(std::stoll(part.substr(first + 1)) + 1);
        if (words == std::string::npos) return title;
        const auto rest = part.substr(words + 1);
        if (!rest.starts_with("head ")) return title + ", " + rest;
        return title + ", relation " + std::to_string(std::stoll(rest.substr(5)) + 1);
    }
    // The part's own words follow the number of the layer.
    const auto first = part.find(' ');
    const auto second = first == std::string::npos ? first : part.find(' ', first + 1);
    if (second == std::string::npos ||
        std::isdigit(static_cast<unsigned char>(part[first + 1])) == 0)
        return part;
    return part.substr(0, second) + "," + part.substr(second);
}

namespace {

std::string scanText(const ModelScan& scan) {
    auto text = scan.heading + "\n";
    for (const auto& sentence : scan.atlas.hypotheses) text += "\n" + sentence + "\n";
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        const auto& finding = scan.findings[k];
        text += "\n" + std::to_string(k + 1) + ". " + finding.text + "\n";
        if (!finding.proof.empty()) text += "   " + finding.proof + "\n";
        if (!finding.confirm.empty()) text += "   " + finding.confirm + "\n";
    }
    if (!scan.notFound.empty()) text += "\nNot found:\n";
    for (const auto& sentence : scan.notFound) text += "- " + sentence + "\n";
    if (scan.comparisons > 0) text += "\n" + comparisonsText(scan) + "\n";
    return text;
}

std::vector<Layout::Line> scanLines(const Seen& seen) {
    const auto scan = modelScanOf(seen.answer);
    std::vector<Layout::Line> lines;
    for (const auto& text : scan.atlas.hypotheses) lines.push_back({findingText(text)});
    for (const auto& finding : scan.findings) {
        Layout::Line line{findingText(finding.text)};
        if (finding.layer >= 0) line.tip = "A click shows this map in the inspector";
        if (!finding.confirm.empty()) line.tip += (line.tip.empty() ? "" : "\n") + finding.confirm;
        line.request = requestOf(finding);
        line.number = static_cast<int>(&finding - scan.findings.data()) + 1;
        line.more = findingText(finding.proof);
        if (finding.proof.find("within places") != std::string::npos)
            line.moreTip =
                "AUC within places: how often the map is larger on a pair i \u2190 j that has the "
                "attribute than on one that has not, at the same places i and j; 0.5 is chance";
        lines.push_back(std::move(line));
    }
    for (const auto& text : scan.notFound) lines.push_back({findingText(text), {}, true});
    return lines;
}

std::string scanAbout(const Seen& seen) {
    const auto scan = modelScanOf(seen.answer);
    auto text = !scan.heading.empty()
                    ? scan.heading
                    : groupedNumber(scan.estimated) + " " + scan.noun + " of " + scan.data;
    if (scan.passes < 3)
        text += scan.passes == 2   ? "; third pass: attributes"
                : scan.passes == 1 ? "; second pass: exact effects"
                                   : "; first pass: estimates";
    else if (scan.comparisons > 0)
        text += "; " + groupedNumber(scan.comparisons) + " parts measured";
    return text + (scan.remark.empty() ? "" : "; " + scan.remark);
}

Layout scanLayout() {
    const auto parts = [](const Seen& seen) { return std::vector{seen.answer.table("parts")}; };
    Layout layout{scanAbout,
                  {{Layout::List{"Findings", scanLines}, 3}, {Layout::Tables{"Parts", parts}, 2}}};
    layout.split = Layout::Down;
    return layout;
}

}  // namespace

std::string scanHeading(const ModelScan& scan) {
    const MetricWords words(scan.metric);
    const auto examples = scan.measured;
    std::string text = groupedNumber(examples) + " " + scan.noun;
    const bool copies = scan.different > 0 && scan.different < scan.measured;
    if (copies || scan.trainedOn > 0) {
        text += " (" + (copies ? groupedNumber(scan.different) + " different" : std::string());
        if (scan.trainedOn > 0)
            text += std::string(copies ? ", " : "") + groupedNumber(scan.trainedOn) +
                    " of them trained on";
        text += ")";
    }
    text += " of " + scan.data + ", " + words.name() + " " + words.number(scan.base) + words.unit();
    const auto& fresh = scan.atlas.untrainedScores;
    if (fresh.empty()) return text;
    const auto [low, high] = std::minmax_element(fresh.begin(), fresh.end());
    return text + ", beside " + std::to_string(fresh.size()) + " untrained models (" +
           words.number(*low) + " to " + words.number(*high) + words.unit() + ")";
}

std::string comparisonsText(const ModelScan& scan) {
    return "Of " + groupedNumber(scan.comparisons) + " parts that were measured, at most " +
           fixedField(scan.expectedFalsePositives, 1) +
           " would count as needed by chance if each were taken by itself; the words are corrected "
           "for that (Holm).";
}

const RegisterAnalysis kScan([] {
    Analysis a;
    a.name = "scan";
    a.place = 10;
    a.title = "Scan";
    a.summary = "examines a whole model and says in sentences what its parts do";
    a.purpose =
        "A scan looks for the relations and heads that the model needs, and says in sentences "
        "what each of them tells of the objects.";
    a.progressText = "Scanning";
    a.layout = scanLayout;
    a.page = AnalysisPage::Atlas;
    a.input = AnalysisInput::Data;
    a.onDemand = a.continues = a.kept = true;
    a.onPairs = "phenomena";
    a.timeText = [](const OptionValues& values) {
        return "about " +
               roughDuration(static_cast<double>(structOf(scanFields(), values).seconds));
    };
    a.remark = [](const Answer& result) { return result.text("remark"); };
    a.report = [](const Answer& result, const std::string& name, const std::string& subject,
                  const std::vector<std::string>& command) {
        return scanReport(modelScanOf(result), name, subject, command);
    };
    a = answering(a, scanFields(), OfferedIn::Row);
    showAbove(a, "hypothesis");
    a.latex = {};
    a.terminal = [](const Answer& result) { return scanText(modelScanOf(result)); };
    return a;
});

}  // namespace relascope::core
