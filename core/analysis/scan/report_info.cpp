// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a scan: an HTML file with its pictures inline, and the same text as Markdown.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "analysis/ablate/answer.h"
#include "analysis/atlas/labels.h"
#include "analysis/scan/report_figures.h"
#include "analysis/scan/scan.h"
#include "analysis/svg_picture.h"
#include "files/command_line.h"
#include "types/metric.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Relation = RelationAtlas::Relation;

constexpr std::size_t kRows = 200;

// Text
// -------------------------------------------------------------------------------------------------

/// A sentence of a finding: what stands between asterisks is emphasised.
std::string emphasised(const std::string& sentence) {
    std::string out;
    bool open = false;
    for (const char c : escapedXml(sentence)) {
        if (c == '*')
            out += (open = !open) ? "<em>" : "</em>";
        else
            out += c;
    }
    return open ? out + "</em>" : out;
}

/// A sentence of Markdown, in which no name is a tag of HTML.
std::string plainMarkdown(const std::string& sentence) {
    std::string out;
    for (const char c : plainName(sentence))
        out += c == '<' ? std::string("&lt;") : std::string(1, c);
    return out;
}

/// A command as code of Markdown: between more backquotes than stand in it.
std::string codeSpan(const std::string& command) {
    std::size_t longest = 0, run = 0;
    for (const char c : command) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string mark(longest + 1, '`'), space = longest > 0 ? " " : "";
    return mark + space + command + space + mark;
}

/// A cell of a table of Markdown.
std::string cell(std::string text) {
    text = plainMarkdown(text);
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.replace(at, 1, "\\|");
    return text;
}

std::string changeText(const ReportNumbers& numbers, const AblationRow::Way* way) {
    if (!way) return {};
    return numbers.change(way->change.change) + " [" + numbers.change(way->change.low) + ",\u00A0" +
           numbers.change(way->change.high) + "]";
}

const Relation* mapNamed(const ModelScan& scan, const std::string& name) {
    for (const auto& map : scan.atlas.relations)
        if (map.name == name) return &map;
    return nullptr;
}

struct ReportTable {
    std::vector<std::string> heads;
    std::vector<std::vector<std::string>> rows;
    std::size_t left = 0;  ///< rows that are not shown
};

ReportTable partTable(const ModelScan& scan) {
    const ReportNumbers numbers(scan.metric);
    ReportTable table{{"Part", "Estimate", "Zero", "Mean in its place", "Another example's",
                       useHeading(scan.metric, scan.least), "What it tells", "AUC", "Untrained"},
                      {},
                      scan.parts.size() - std::min(kRows, scan.parts.size())};
    for (std::size_t k = 0; k < std::min(kRows, scan.parts.size()); ++k) {
        const auto& part = scan.parts[k];
        std::vector<std::string> row = {
            part.title,
            std::isnan(part.estimate) ? "" : numberWithMinus(part.estimate, 4),
            changeText(numbers, wayOf(part, EditOp::Zero)),
            changeText(numbers, wayOf(part, EditOp::Mean)),
            changeText(numbers, wayOf(part, EditOp::Resample)),
            part.use};
        const auto* map = mapNamed(scan, part.row.part);
        row.push_back(map ? map->label : "");
        if (map && map->attribute >= 0) {
            const auto named = namedAttribute(scan.atlas, *map, map->attribute);
            row.push_back(aucText(named.auc));
            row.push_back(std::isfinite(named.untrainedLow)
                              ? fixedField(named.untrainedLow, 2) + " to " +
                                    fixedField(named.untrainedHigh, 2)
                              : "");
        } else {
            row.insert(row.end(), 2, "");
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// How each number was made.
std::vector<std::string> methods(const ModelScan& scan) {
    const ReportNumbers numbers(scan.metric);
    const std::string examples = groupedNumber(scan.wanted) + " " + scan.noun;
    std::vector<std::string> all = {
        "Estimate: the sum of (mean \u2212 value) times the gradient of the loss, over " +
            groupedNumber(scan.estimated) + " " + scan.noun +
            ", with one forward and one backward pass a batch; what the loss rises by without the "
            "part, to first order. Parts are ordered by its absolute values of each example, which "
            "do not cancel; its sign means little.",
        "Exact: " + metricLabel(scan.metric) +
            " with the part replaced, minus that without, on the same " +
            groupedNumber(scan.measured) + " " + scan.noun +
            "; by zero, by its mean over training examples, and by that of another example. 95 % "
            "intervals by bootstrap over different examples (2,000 draws); where fewer than 25 "
            "change, exact ones. Of a relation it is r that is replaced, for all heads.",
        "Use: needed, if the mildest replacement costs at least " + numbers.change(scan.least) +
            (numbers.percent ? " points" : "") +
            ", counting the attention of the layer at zero, which takes the part out, too; "
            "misleading, if only another example's values cost as much; harmful, if the mildest "
            "one "
            "gains; not used, if none costs or gains as much; used, if all cost something; else "
            "undecided. Each by its whole interval. Needed together: its group is needed, and "
            "without the others of the group the model answers better with it than without it.",
        comparisonsText(scan)};
    if (!scan.atlas.relations.empty()) {
        all.push_back(
            "AUC: how often the map is larger on a pair that has the attribute than on one that "
            "has "
            "not, at the same places i, j (of texts at the same distance); over " +
            groupedNumber(scan.atlas.examples) + " " + scan.atlas.noun + " with " +
            std::to_string(scan.atlas.objects) +
            " objects each. 95 % intervals by bootstrap over examples.");
        all.push_back(
            "Label: an attribute with p < 0.01 by " + std::to_string(scan.atlas.permutations) +
            " permutations of examples (the largest of all maps and attributes counts), "
            "an AUC at least 0.1 from 0.5, and not explained by another attribute; with "
            "it all that do as well, or hold their own given the first. Conjunctions are asked, "
            "too (" +
            groupedNumber(scan.atlas.conjunctions) +
            " of each map), and are a label where they beat each of their members. Before that, "
            "what distance, place, one side or emptiness alone explain. Numbers are those of the "
            "words: of \"not\" and of opposites one minus the AUC.");
        if (scan.untrained > 0)
            all.push_back("Untrained: the same maps of " + std::to_string(scan.untrained) +
                          " models with the same options and fresh weights, on " +
                          groupedNumber(scan.otherExamples) +
                          " examples; all relations of a layer, or all its heads, count together.");
    }
    if (!scan.explanations.empty())
        all.push_back(
            "Shares: the mean difference of a map between pairs with the attribute and pairs "
            "without, split exactly by facts of the objects, and by parts of the streams, as in "
            "contrast; 95 % intervals by bootstrap over examples. Without a part: AUC of the score "
            "less the term of that part on both sides, and where it is measured the metric with "
            "that term taken off the score of every pair.");
    all.push_back(
        "Findings are ranked by effect times selectivity: what the metric loses, times how much of "
        "what untrained models miss of the attribute the map has.");
    return all;
}

// The files
// -------------------------------------------------------------------------------------------------

const char* const kPage =
    ":root{color-scheme:light dark}body{max-width:760px;margin:2em auto;padding:0 1em;"
    "font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}li{margin:.5em 0}"
    "figure{margin:1.5em 0}figure svg{max-width:100%;height:auto}"
    "figcaption,.small{color:#6b6b6b;font-size:.85em}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.8em}"
    "th,td{padding:.2em .5em;text-align:right;vertical-align:top;border-bottom:1px solid #e3e3e3}"
    "th:first-child,td:first-child,td:nth-child(6),th:nth-child(6),td:nth-child(7),"
    "th:nth-child(7){text-align:left}"
    "pre{background:#f4f4f4;padding:.7em;overflow-x:auto;font-size:.85em}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1c1c1e}"
    "figcaption,.small{color:#a0a0a0}th,td{border-color:#3a3a3c}pre{background:#2c2c2e}}";

std::string introduction(const ModelScan& scan) {
    std::int64_t exact = 0;
    for (const auto& part : scan.parts) exact += !part.row.ways.empty();
    return scan.heading + ". " + groupedNumber(std::ssize(scan.parts)) + " parts estimated, " +
           groupedNumber(exact) + " measured exactly, " +
           groupedNumber(std::ssize(scan.described)) + " maps compared with " +
           groupedNumber(std::ssize(scan.atlas.attributes)) + " attributes and " +
           std::to_string(scan.untrained) +
           " untrained models. One run, one seed: whether other seeds learn the same is not "
           "measured.";
}

/// What the sentences do not explain.
const char* const kTerms =
    "AUC within places: how often a map is larger on a pair i \u2190 j (i receives from j) that "
    "has "
    "the attribute than on one that has not, both at the same places i and j; 0.5 is chance.";

/// The commands that confirm a finding, made from the words of the scan, and what each gives. The
/// edits of a scan are below those that take parts out, which a command cannot say.
std::vector<std::pair<std::string, std::string>> checksOf(const ModelScan& scan,
                                                          const ModelScan::Finding& finding,
                                                          const std::vector<std::string>& command) {
    using Words = std::vector<std::string>;
    const auto isOneOf = [](const Words& options) {
        return [options](const std::string& word) {
            return std::find(options.begin(), options.end(), word) != options.end();
        };
    };
    if (command.empty() || command[0] != "scan" ||
        std::any_of(command.begin(), command.end(), isOneOf({"--edit"})))
        return {};
    const Words subject(command.begin() + 1,
                        std::find_if(command.begin(), command.end(),
                                     isOneOf({"--seconds", "--examples", "--exact", "--untrained",
                                              "--attributes", "--tokens"})));
    std::vector<std::pair<std::string, std::string>> checks;
    Words eval = {"eval"}, contrast = {"contrast"};
    eval.insert(eval.end(), subject.begin(), subject.end());
    contrast.insert(contrast.end(), subject.begin(), subject.end());
    std::replace(eval.begin(), eval.end(), std::string("--text"), std::string("--data"));
    addWords(eval, "--examples", std::to_string(scan.measured));
    if (scan.tokens > 0) addWords(eval, "--tokens", std::to_string(scan.tokens));
    for (const auto& check : finding.checks) {
        auto words = eval;
        addWords(words, "--edit", check.edit);
        checks.emplace_back(commandLine(words),
                            "gives " + ReportNumbers(scan.metric).value(check.value));
    }
    if (const auto* why = explanationOf(scan, finding))
        checks.emplace_back(commandLine(contrast) + " " + why->command, "gives the shares");
    return checks;
}

std::string htmlOf(const ModelScan& scan, const std::string& subject,
                   const std::vector<std::string>& words,
                   const std::vector<ReportFigure>& figures) {
    const auto command = commandLine(words);
    const std::string title = "Scan of " + escapedXml(subject);
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<meta name=\"generator\" content=\"Relascope\"><meta name=\"command\" content=\"" +
        escapedXml(command) + "\"><title>" + title + "</title><style>" + kPage +
        "</style></head><body>\n<h1>" + title + "</h1>\n<p>" + escapedXml(introduction(scan)) +
        "</p>\n";
    for (const auto& sentence : scan.atlas.hypotheses)
        page += "<p>" + emphasised(sentence) + "</p>\n";
    page += "<h2>Findings</h2>\n";
    if (scan.findings.empty()) page += "<p>There are none.</p>\n";
    page += "<ol>\n";
    for (const auto& finding : scan.findings) {
        page += "<li><details><summary>" + emphasised(finding.text) + "</summary>";
        if (!finding.proof.empty())
            page += "<div class=\"small\">" + emphasised(finding.proof) + "</div>";
        for (const auto& [check, gives] : checksOf(scan, finding, words))
            page += "<div class=\"small\"><code>" + escapedXml(check) + "</code> " +
                    escapedXml(gives) + "</div>";
        page += "</details></li>\n";
    }
    page += "</ol>\n";
    if (!scan.atlas.relations.empty())
        page += "<p class=\"small\">" + escapedXml(kTerms) + "</p>\n";
    for (const auto& figure : figures)
        page += "<figure>" + figure.svg + "<figcaption>" + escapedXml(figure.caption) +
                "</figcaption></figure>\n";
    if (!scan.notFound.empty()) page += "<h2>What was not found</h2>\n<ul>\n";
    for (const auto& sentence : scan.notFound) page += "<li>" + emphasised(sentence) + "</li>\n";
    if (!scan.notFound.empty()) page += "</ul>\n";
    if (!scan.remark.empty()) page += "<p>" + escapedXml(scan.remark) + "</p>\n";
    const auto table = partTable(scan);
    page += "<h2>Parts</h2>\n<div class=\"wide\"><table><tr>";
    for (const auto& head : table.heads) page += "<th>" + escapedXml(head) + "</th>";
    page += "</tr>\n";
    for (const auto& row : table.rows) {
        page += "<tr>";
        for (const auto& one : row) page += "<td>" + escapedXml(one) + "</td>";
        page += "</tr>\n";
    }
    page += "</table></div>\n";
    if (table.left > 0)
        page += "<p class=\"small\">and " + groupedNumber(static_cast<std::int64_t>(table.left)) +
                " weaker parts.</p>\n";
    page += "<h2>How each number was made</h2>\n<ul class=\"small\">\n";
    for (const auto& method : methods(scan)) page += "<li>" + escapedXml(method) + "</li>\n";
    return page + "</ul>\n<h2>Again</h2>\n<pre>" + escapedXml(command) + "</pre>\n</body></html>\n";
}

std::string markdownOf(const ModelScan& scan, const std::string& subject,
                       const std::vector<std::string>& words,
                       const std::vector<ReportFigure>& figures, const std::string& name) {
    std::string page =
        "# Scan of " + plainMarkdown(subject) + "\n\n" + plainMarkdown(introduction(scan)) + "\n\n";
    for (const auto& sentence : scan.atlas.hypotheses) page += plainMarkdown(sentence) + "\n\n";
    page += "## Findings\n\n";
    if (scan.findings.empty()) page += "There are none.\n";
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        page += std::to_string(k + 1) + ". " + plainMarkdown(scan.findings[k].text) + "\n";
        if (!scan.findings[k].proof.empty())
            page += "   - " + plainMarkdown(scan.findings[k].proof) + "\n";
        for (const auto& [check, gives] : checksOf(scan, scan.findings[k], words))
            page += "   - " + codeSpan(check) + " " + gives + "\n";
    }
    if (!scan.atlas.relations.empty()) page += "\n" + std::string(kTerms) + "\n";
    page += "\n";
    for (const auto& figure : figures)
        page +=
            "![" + plainMarkdown(figure.caption) + "](" + name + "-" + figure.name + ".svg)\n\n";
    if (!scan.notFound.empty()) page += "## What was not found\n\n";
    for (const auto& sentence : scan.notFound) page += "- " + plainMarkdown(sentence) + "\n";
    if (!scan.remark.empty()) page += "\n" + plainMarkdown(scan.remark) + "\n";
    page += "\n";
    const auto table = partTable(scan);
    page += "## Parts\n\n|";
    for (const auto& head : table.heads) page += " " + head + " |";
    page += "\n|";
    for (std::size_t c = 0; c < table.heads.size(); ++c)
        page += c == 0 || c == 5 || c == 6 ? "---|" : "---:|";
    page += "\n";
    for (const auto& row : table.rows) {
        page += "|";
        for (const auto& one : row) page += " " + cell(one) + " |";
        page += "\n";
    }
    if (table.left > 0)
        page +=
            "\nand " + groupedNumber(static_cast<std::int64_t>(table.left)) + " weaker parts.\n";
    page += "\n## How each number was made\n\n";
    for (const auto& method : methods(scan)) page += "- " + plainMarkdown(method) + "\n";
    return page + "\n## Again\n\n```\n" + commandLine(words) + "\n```\n";
}

}  // namespace

std::vector<ReportFile> scanReport(const ModelScan& scan, const std::string& name,
                                   const std::string& subject,
                                   const std::vector<std::string>& command) {
    auto figures = reportFigures(scan);
    // The command names the options that the time decided, so that it gives the same numbers.
    auto again = command;
    for (const auto& [option, count] :
         {std::pair("--examples", scan.wanted), std::pair("--exact", scan.exact),
          std::pair("--untrained", scan.untrained), std::pair("--tokens", scan.tokens)})
        if (!command.empty() &&
            std::find(command.begin(), command.end(), option) == command.end() &&
            (count > 0 || !scan.text))
            addWords(again, option, std::to_string(count));
    std::vector<ReportFile> files = {
        {name + ".html", htmlOf(scan, subject, again, figures)},
        {name + ".md", markdownOf(scan, subject, again, figures, name)}};
    for (auto& figure : figures)
        files.push_back({name + "-" + figure.name + ".svg", std::move(figure.svg)});
    return files;
}

}  // namespace relascope::core
