// SPDX-License-Identifier: GPL-3.0-or-later
// An analysis: one question to a trained model, described once. The commands, the tabs of the
// window Measure, saved options and files are made from this description. How it is computed:
// run_analysis.h. Does not include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "types/answer.h"
#include "types/edit_results.h"
#include "types/field.h"

namespace relascope::core {

struct Layout;  // answers/layout.h

/// What an analysis reads beside the model.
enum class AnalysisInput {
    Data,        ///< a split of the data
    Sentences,   ///< minimal pairs of sentences
    Pair,        ///< two inputs
    Sample,      ///< an input
    OwnText,     ///< an input; of a language model without one, text of its own
    OwnPrompts,  ///< prompts that the analysis makes of the tokens of a language model
    KeptSteps,   ///< an input and a cell of a map, at every kept step of a run
    Reference,   ///< the reference outputs beside a checkpoint
};

/// Where an analysis stands among the others: by what its answer is about.
enum class AnalysisGroup { Parts, Pairs, Text };
/// "Parts", in menus and above the tabs, and a sentence about the group.
std::string groupTitle(AnalysisGroup group);
std::string groupSummary(AnalysisGroup group);

/// The page of the window that shows it.
/// None: it is a command, and a question of programs and agents, alone.
enum class AnalysisPage { Measure, Atlas, Duel, None };

/// Values of options by their names; what is not there has its default.
using OptionValues = std::map<std::string, FieldValue>;

/// One option of an analysis.
struct AnalysisField {
    FieldSpec spec;  ///< its name as on the command line without "--", with "_" for "-"
    FieldValue initial;
    /// In the window: in the row of the tab, and not in its view or the inspector.
    bool inRow = true;
    std::string automatic = {};  ///< what 0 stands for; empty where 0 is an ordinary value
    /// In the window: in a line of its own above *Measure*, always shown, with completion of what
    /// the data know (hypothesis.h).
    bool above = false;
    /// A text that names an attribute of pairs: the window offers those of the data.
    bool attribute = false;
};

/// A file of a report: its name and its content.
struct ReportFile {
    std::string name, content;
};

struct Analysis {
    std::string name;     ///< name of the command, also in sessions: "lens"
    int place = 0;        ///< among the tabs, from 1; 0: it is none of analyses()
    std::string title;    ///< "Logit lens"
    std::string summary;  ///< in lists of commands: "shows what a model would answer after ..."
    /// Sentence shown before an analysis on demand is measured: what it measures and what one then
    /// knows.
    std::string purpose = {};
    std::string progressText;  ///< "Reading the answers after each layer"
    AnalysisGroup group = AnalysisGroup::Parts;
    AnalysisPage page = AnalysisPage::Measure;
    AnalysisInput input = AnalysisInput::Sample;
    /// Whether a model without data is analysed, too; for AnalysisInput::Data.
    bool dataOptional = false;
    /// The split that is measured on first, for AnalysisInput::Data.
    std::string split = "validation";
    bool twoModels = false;  ///< AnalysisSubject::other is compared with the subject
    /// Takes seconds to minutes: the window runs it on demand only, not when its tab is seen.
    bool onDemand = false;
    /// A cancelled one can be continued: by Watch::known or AnalysisSubject::kept.
    bool continues = false;
    /// The name of the one that answers the same question on minimal pairs; empty: there is none.
    std::string onPairs = {};
    /// Whether it reads minimal pairs, too (AnalysisSubject::pairs); for AnalysisInput::Data, Pair.
    bool readsPairs = false;
    /// Its results are kept beside the run and opened the next time (serve/kept_results.h).
    bool kept = false;
    /// Reads the features of models without classes, which are not given a head for it.
    bool readsFeatures = false;
    /// Reads the weights of the model, which programs that serve one do not send.
    bool needsWeights = false;
    /// Is also made of the captures of a run without a model (AnalysisSubject::captured).
    bool acceptsCaptures = false;
    std::vector<AnalysisField> fields = {};
    /// Its names in earlier versions, which are accepted in place of `name` and shown nowhere.
    std::vector<std::string> formerNames = {};
    /// Options of earlier versions that nothing is left of: they are passed over in view files and
    /// requests.
    std::vector<std::string> formerOptions = {};

    /// What a run with given options would take: "36 parts x 3 ways on 2,000 images: about 2 min".
    /// Null for analyses that are quick, which have no AnalysisRunner::cost either.
    std::string (*costText)(const AnalysisCost&, const OptionValues&) = nullptr;
    /// About how long it takes where the options alone say so: "about 1 min". Null: costText says
    /// it, or the purpose.
    std::string (*timeText)(const OptionValues&) = nullptr;

    /// Throws Error for an answer that is not one of this analysis, beyond what its columns say of
    /// themselves (answer.h). Empty: there is no more to say.
    std::function<void(const Answer&)> check = {};

    /// How the window and figures arrange the answer. Null: tablesLayout().
    Layout (*layout)() = nullptr;

    // The result as text. Numbers that are not there are empty fields of CSV.
    using Text = std::function<std::string(const Answer&)>;
    Text csv;          ///< with a line of column names
    Text latex = {};   ///< a tabular; empty: none
    Text terminal;     ///< for people, ends with a newline
    Text remark = {};  ///< a sentence beside it; may be empty
    std::function<nlohmann::ordered_json(const Answer&)> json;  ///< an object
    /// `name`.html, which stands alone, and `name`.md with the pictures beside it; `subject`: what
    /// was analysed, "occurs, step 250, validation"; `command`: the words of what repeats it.
    /// Empty: none.
    std::function<std::vector<ReportFile>(const Answer&, const std::string& name,
                                          const std::string& subject,
                                          const std::vector<std::string>& command)>
        report = {};

    const AnalysisField* field(const std::string& name) const {
        for (const auto& one : fields)
            if (one.spec.name == name) return &one;
        return nullptr;
    }
    bool operator==(const Analysis& other) const { return name == other.name; }
};

/// Adds an analysis, as a static object in the file that describes it. `describe` is called once,
/// after static initialisation.
struct RegisterAnalysis {
    explicit RegisterAnalysis(Analysis (*describe)());
};

/// The analyses that have a tab, in the order of Analysis::place: those of a group stand together.
const std::vector<const Analysis*>& analyses();
std::vector<const Analysis*> analysesOf(AnalysisPage page);
/// The name of the analysis that had this one in an earlier version; any other name as it is.
std::string currentName(const std::string& name);
/// One that is registered, also by a former name; null for an unknown name.
const Analysis* findAnalysis(const std::string& name);
/// The analysis of that name, or former name; throws Error for an unknown one.
const Analysis& analysisNamed(const std::string& name);

/// Throws OptionError(name, ...) for a value that is out of bounds, of another kind, or of no
/// field.
void checkOptions(const std::vector<AnalysisField>& fields, const OptionValues& values);
/// Whether it is one of Analysis::formerOptions of that analysis, also by a former name.
bool isFormerOption(const std::string& analysis, const std::string& option);
/// {"top": 5, ...}: the values that are not the defaults; and back. Throws OptionError.
nlohmann::ordered_json optionsToJson(const Analysis& analysis, const OptionValues& values);
OptionValues optionsFromJson(const Analysis& analysis, const nlohmann::ordered_json& json);

/// Options as the struct that their fields belong to.
template <class Options>
Options structOf(const FieldTable<Options>& table, const OptionValues& values) {
    Options options;
    for (const auto& field : table)
        if (const auto at = values.find(field.spec.name); at != values.end())
            field.set(options, at->second);
    return options;
}

/// Where an analysis' options are offered in the window.
enum class OfferedIn { Row, View };

/// The fields of a table as those of an analysis.
template <class Options>
std::vector<AnalysisField> fieldsOf(const FieldTable<Options>& table, OfferedIn place) {
    std::vector<AnalysisField> fields;
    for (const auto& field : table)
        fields.push_back({field.spec, field.get(Options()), place == OfferedIn::Row,
                          field.automatic ? field.automatic(Options()) : std::string()});
    return fields;
}

/// Completes the description of an analysis: all forms of its answer are made from its tables
/// (answers/answer_text.h).
void makeForms(Analysis& analysis);
template <class Options>
Analysis answering(Analysis analysis, const FieldTable<Options>& table, OfferedIn place) {
    analysis.fields = fieldsOf(table, place);
    makeForms(analysis);
    return analysis;
}

/// Shows the field of that name in the window by AnalysisField::above.
inline void showAbove(Analysis& analysis, const std::string& name) {
    for (auto& field : analysis.fields)
        if (field.spec.name == name) field.above = true;
}

}  // namespace relascope::core
