// SPDX-License-Identifier: GPL-3.0-or-later
// The options of an analysis as labelled controls, made from their fields.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "app/pages/control_row.h"

class QComboBox;

namespace relascope::app {

class StatementLine;

class AnalysisOptions : public ControlRow {
    Q_OBJECT
public:
    explicit AnalysisOptions(QWidget* parent);
    /// Adds a control for each field that is offered in the row of the tab, or `above` it.
    void addFields(const core::Analysis& analysis, bool above = false);
    /// The words that statements may be made of, and the facts of pairs that masks of the data
    /// tell.
    void setWords(const std::vector<std::string>& words,
                  const std::vector<std::string>& maskFacts = {});
    /// Shows these values, of other options their defaults; emits nothing.
    void setValues(const core::OptionValues& values);
    bool isEmpty() const { return m_controls.empty(); }
    /// The length of windows of text; null: there is no such option.
    QWidget* ofText() const { return m_ofText; }

Q_SIGNALS:
    /// The user chose a value.
    void chosen(const std::string& name, const relascope::FieldValue& value);
    /// Enter was pressed in a field of text.
    void entered();

private:
    struct Control {
        const core::AnalysisField* field;
        std::function<void(const FieldValue&)> show;
    };
    void addControl(const core::AnalysisField& field);
    void addLine(const core::AnalysisField& field);

    std::vector<Control> m_controls;
    std::vector<StatementLine*> m_statements;
    std::vector<QComboBox*> m_attributes;  ///< names that are typed, or chosen from those known
    QWidget* m_ofText = nullptr;
};

}  // namespace relascope::app
