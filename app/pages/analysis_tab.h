// SPDX-License-Identifier: GPL-3.0-or-later
// A tab of the window Measure: the options of an analysis, its progress and its view, made from the
// description of the analysis.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "app/controllers/asking.h"
#include "app/pages/analysis_inputs.h"

class QPushButton;

namespace relascope::widgets {
class AnalysisFrame;
class DialogBody;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisOptions;
class JobStrip;

/// Seconds of a scan that nobody has set up.
inline constexpr std::int64_t kQuickScan = 20;

class AnalysisTab : public QWidget {
    Q_OBJECT
public:
    /// `about` is of the window; `quick` and `measurements`: Asking.
    AnalysisTab(const core::Analysis& analysis, const About& about, Looker& quick,
                Measurements& measurements, QWidget* parent);

    const core::Analysis& analysis() const { return m_analysis; }
    /// What is asked; to be told of another subject before subjectChanged().
    Asking& asking() { return m_asking; }
    const Asking& asking() const { return m_asking; }
    /// Updates the tab where there is another subject than `before`.
    void subjectChanged(const std::optional<Subject>& before);
    /// Called when the tab becomes visible: computes its result, or only the cost if the analysis
    /// takes long.
    void activate();
    AnalysisInputs& inputs() { return *m_inputs; }

    /// The options that differ from their defaults.
    const core::OptionValues& values() const { return m_values; }
    /// Sets the options as if the user had chosen them in the controls.
    void setValues(const core::OptionValues& values);
    /// The options above the button by the path of the run that they are about.
    std::map<std::string, core::OptionValues> ofPaths() const;
    void setOfPaths(const std::map<std::string, core::OptionValues>& all);
    /// What run() asks of the subject, which is there.
    wire::Asked question() const;
    /// Measures with the options that are set, or continues a cancelled analysis.
    void run();
    /// Shows what was measured before in this window, of the same subject with the same options.
    /// Returns whether there was such a result.
    bool recall();
    /// As recall(), or what is stored beside the run, also by a scan of kQuickScan seconds.
    void findKept();
    /// Measures with options that the controls do not show.
    void run(wire::Asked asked);
    /// The split that is measured on; empty where the data are not known.
    QString split() const { return m_inputs->split(); }
    /// The sentence about what must be chosen before the analysis can run; empty: it can.
    QString missing() const;
    /// Sets what a view says of options and inputs, and measures. `file`: its name. Returns why it
    /// cannot be measured as it says; empty: it can.
    QString openView(const View& view, const QString& file);
    /// Shows an answer that was saved with a view, without weights.
    void showSaved(const Answer& answer, const QString& caption);

    widgets::AnalysisFrame* view() const { return m_view; }
    JobStrip* strip() const { return m_strip; }
    /// Runs the analysis, or continues a cancelled one. Quick analyses have this button only after
    /// they were cancelled.
    QPushButton* runButton() const { return m_run; }
    /// Whether the options are shown; those of quick analyses always are.
    bool isUnfolded() const;
    void setUnfolded(bool unfolded);
    /// Shows and hides the options; null for quick analyses.
    QPushButton* foldButton() const { return m_fold; }

Q_SIGNALS:
    /// The user changed the option of that name; `before`: all values until then.
    void valuesChanged(const QString& name, const relascope::core::OptionValues& before);

protected:
    /// Watches the strip: hands the focus of the run button to Cancel.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void keepAbove(const std::string& before);
    core::OptionValues above() const;
    /// The user chose a value.
    void choose(const std::string& name, FieldValue value);
    void take(const std::string& name, FieldValue value);
    void optionsChanged();
    void inputsChanged();
    /// A result of this question is about to be reported: names what it is of.
    void prepare(const wire::Asked& asked);
    void show(const Answer& result, bool finished);
    void refuse(const QString& sentence);
    /// Shows a sentence if there is no result; a result stays until the next one.
    void describe();
    void updateButton();
    QString caption() const;
    std::optional<View> described() const;
    bool reads(core::AnalysisInput input) const { return m_analysis.input == input; }

    const core::Analysis& m_analysis;
    const About& m_about;
    Asking m_asking;
    core::OptionValues m_values;
    std::map<std::string, core::OptionValues> m_ofPath;
    widgets::DialogBody* m_options;  ///< all rows of controls
    AnalysisOptions* m_controls;
    AnalysisOptions* m_above = nullptr;  ///< fields above the button; null: there are none
    QPushButton* m_fold = nullptr;       ///< analyses on demand: shows and hides their options
    AnalysisInputs* m_inputs;
    QPushButton* m_run;
    JobStrip* m_strip;
    widgets::AnalysisFrame* m_view;
    /// How the run button got the focus. After a click no focus ring is shown, and Space still
    /// controls the training.
    Qt::FocusReason m_reason = Qt::OtherFocusReason;
    QPointer<QWidget> m_passedTo;  ///< has the focus of the run button until Cancel is visible
    bool m_returns = false;        ///< Cancel had the focus when it was hidden
    std::optional<AnalysisCost> m_cost;
    /// The last question, and that of the result shown.
    std::optional<wire::Asked> m_asked, m_shown;
    QString m_refusal;
    QString m_caption;       ///< caption of the last question
    QString m_viewFile;      ///< file of the view that is being opened
    QTimer m_start;          ///< delay, as typed or dragged values change many times a second
    bool m_running = false;  ///< the analysis, not only its cost
    bool m_read = false;     ///< the result was or is being computed for this subject
    bool m_valid = false;    ///< the result shown belongs to this subject
};

}  // namespace relascope::app
