// SPDX-License-Identifier: GPL-3.0-or-later
// The controls above an analysis that say what it reads beside the subject: a split of the data, a
// file of sentences, or the second input of a pair.
#pragma once

#include <functional>
#include <optional>

#include <QObject>
#include <QString>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace relascope::app {

class ControlRow;
class Measurements;

/// What the tabs of a window are about.
struct About {
    std::optional<Subject> subject;
    QString whyNone;  ///< why there is no subject; empty: nothing is open
};

class AnalysisInputs : public QObject {
    Q_OBJECT
public:
    /// Adds the controls to `row`, which owns this object; `quick` looks for examples.
    /// `measurements` knows the data that a checkpoint is measured on.
    AnalysisInputs(const core::Analysis& analysis, const About& about, Looker& quick,
                   Measurements& measurements, ControlRow& row);

    /// Whether there are controls.
    bool any() const { return m_split || m_pairs; }
    /// Offers what the subject has; emits nothing.
    void subjectChanged();
    /// The split that is measured on, of a pair that of B; empty where the data are not known.
    QString split() const;
    /// The file or folder that is measured on where the subject has no data; empty: none is chosen.
    QString file() const;
    /// Whether a view of that split, which may be empty, can be shown.
    bool has(const QString& split) const;
    /// Takes what a view says. Returns why it cannot be shown; empty: it can.
    QString take(const View& view);
    /// Adds what is chosen to a question about the subject, which is there.
    void addTo(wire::Asked& asked) const;

    // Only for analyses of pairs:
    /// Sets an input that was dropped or typed as B, instead of an example of a split.
    void setSecond(std::optional<ProbeSample> sample, const QString& name);
    /// Why B cannot be patched into the subject's input: there is none, or it has another length.
    QString whyNoPair() const;
    QString nameOfSecond() const;
    /// Looks for an example with another label than the subject's, once for each subject, until the
    /// user has chosen one; makes it B if `wanted` then. Does nothing without labels.
    void offerOther(std::function<bool()> wanted);

Q_SIGNALS:
    void changed();
    /// Enter was pressed in a field of text.
    void entered();

private:
    struct PathField {
        QString title, empty, help;  ///< `empty`: what stands in an empty line
        QString button, action;      ///< its text, and its accessible name
    };
    QLineEdit* addPath(ControlRow& row, const PathField& of,
                       const std::function<QString(QWidget*, const QString&)>& ask,
                       const std::function<void(const QString&)>& take);
    void addPairs(ControlRow& row);
    void addData(ControlRow& row);
    void addSecond(ControlRow& row);
    void choose();
    void fitExamples();
    const wire::OpenedSplit* data() const;
    bool readsText() const;
    std::string path() const;
    void chooseData(const QString& file);

    const core::Analysis& m_analysis;
    const About& m_about;
    Looker& m_quick;
    Measurements& m_measurements;
    QComboBox* m_split = nullptr;
    QLineEdit* m_pairs = nullptr;  ///< a file or folder of minimal pairs
    QLineEdit* m_data = nullptr;   ///< a file or folder to measure a checkpoint on
    QWidget* m_dataBox = nullptr;  ///< that line with its label and button
    QLabel* m_clean = nullptr;
    QSpinBox* m_example = nullptr;
    QPushButton* m_other = nullptr;  ///< the name of the input that was set; a click removes it
    std::optional<ProbeSample> m_second;
    QString m_secondName;
    bool m_untouched = true;  ///< no example of a split was offered yet
    bool m_chosen = false;    ///< the user has chosen an example
    bool m_offers = true;     ///< an example with another answer is to be looked for
};

}  // namespace relascope::app
