// SPDX-License-Identifier: GPL-3.0-or-later
// What the measuring views have in common: a head with the menu of the view, and below it the
// results or, as long as there are none, one sentence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <QString>
#include <QStringList>
#include <QWidget>

#include "analysis/analysis.h"
#include "types/along.h"
#include "types/edit_results.h"
#include "types/relation_map.h"
#include "widgets/kit/signed_bar.h"

class QColor;
class QPainter;
class QRect;
class QStackedLayout;
class QListWidget;
class QVBoxLayout;

namespace relascope::widgets {

// The words and numbers of the measuring views.

/// How values of a metric are written: fractions in percent, their changes in points.
struct MetricText {
    explicit MetricText(std::string_view metric);
    QString value(double value) const;   ///< "95.7 %", "0.513"
    QString change(double value) const;  ///< "−45.7", "+0.021"; "0.0" without a sign
    QString interval(double low, double high) const;
    bool percent = false;
    QString title;  ///< "Accuracy"
    QString unit;   ///< unit of changes: "points", or empty
};

/// With a true sign and `digits` decimals; what rounds to zero has no sign. A dash for NaN.
QString signedText(double value, int digits);
/// A probability in percent: "42 %", "0.3 %".
QString probabilityText(double probability);
/// A class or token in one line: a leading space and line ends as symbols.
QString answerText(const std::string& name);
/// The words of an operation: "zero", "mean", "another example".
QString wayText(EditOp way);
/// The name of a part of a stream where there is little room: "layer 1 rel. head 1".
QString shortPart(QString part);

/// The kind of a map by its name, "layer 2 relational head 1", and whether it is of a head.
MapKind kindOfMap(const std::string& name, bool head);

/// A list of sentences, which are wrapped.
void layOutSentences(QListWidget& list);

class EmptyState;
class AnalysisFrame;
class PanelHead;
class ViewMenu;

/// Adds the view of an analysis that declares no layout, as a static object in the file of the
/// view.
struct RegisterView {
    using Make = AnalysisFrame* (*)(QWidget* parent);
    RegisterView(const char* analysis, Make make);
    template <class View>
    static RegisterView of(const char* analysis) {
        return {analysis, [](QWidget* parent) -> AnalysisFrame* { return new View(parent); }};
    }
};
/// The view of an analysis, without a result.
AnalysisFrame* makeAnalysisView(const core::Analysis& analysis, QWidget* parent = nullptr);

/// Writes the view of a result to .png (300 dpi), .svg or .pdf with `caption` below it. Returns
/// false with a message in `error` on failure. Needs a QApplication (on the offscreen platform,
/// too).
bool renderAnalysis(const core::Analysis& analysis, const Answer& result, const QString& caption,
                    const QString& path, QString* error);

/// What a view shows beside its result.
struct AnalysisPlace {
    QString run;                  ///< name of the run or checkpoint
    std::optional<MapCell> cell;  ///< that the inspector shows
    QString cellName;             ///< "i = patch (0, 1), j = patch (2, 1)"; empty: its numbers
    std::optional<qint64> step;   ///< that is inspected; of no run without one
};

class AnalysisFrame : public QWidget {
    Q_OBJECT
public:
    /// `title` is that of the head, `name` the suggested name of files.
    AnalysisFrame(const QString& title, const QString& name, QWidget* parent);

    /// Removes the results and shows a sentence in their place.
    virtual void clear(const QString& sentence);
    bool isEmpty() const;
    QString sentence() const { return m_sentence; }
    QString headText() const;
    ViewMenu* menu() const { return m_menu; }
    /// Run, step and sample, below figures.
    void setCaption(const QString& caption) { m_caption = caption; }
    /// What repeats the result on a command line, for reports.
    void setCommand(std::vector<std::string> words) { m_command = std::move(words); }

    /// Whose tables are copied and saved; without it there are pictures only.
    void setAnalysis(const core::Analysis& analysis);

    /// Shows a result of the view's analysis, or what is there of it so far. False if it is of
    /// another place than the one that was set.
    virtual bool showResult(const Answer& result) = 0;
    virtual Answer shown() const = 0;
    /// False if what is shown is of another place.
    virtual bool setPlace(const AnalysisPlace&) { return true; }
    /// The values of the options that the view itself offers; emits no signal.
    virtual void setOptions(const core::OptionValues&) {}
    /// Says why there is no result for the present options.
    virtual void refuse(const QString& sentence) { clear(sentence); }

    /// The whole of the results as a figure, of figureSize(), in the colours of the current theme.
    virtual QSize figureSize() const = 0;
    virtual void paintFigure(QPainter& painter) = 0;
    QString csv() const;  ///< what is shown, as CSV; empty without results

    /// Adds a control to the head.
    void addControl(QWidget* control);

Q_SIGNALS:
    /// An option that the view offers was changed by the user.
    void optionChosen(const QString& name, const relascope::FieldValue& value);
    /// Parts are to be taken out in the inspector, in one step; `what` says so in its history, and
    /// may be empty.
    void editsRequested(const std::vector<relascope::Edit>& edits, const QString& what);
    /// An example of the split is to be shown in the inspector, with that cell of a map.
    void exampleRequested(qint64 example, const relascope::MapCell& cell);
    /// A head, or another map, is to be shown in the inspector.
    void mapRequested(relascope::MapKind kind, int layer, int index);
    void stepRequested(qint64 step);
    /// A text is to be shown in the inspector, another one is its second input.
    void textsRequested(const QString& text, const QString& second);
    /// A position of the input was chosen.
    void positionRequested(std::int64_t position);

protected:
    PanelHead* head() const { return m_head; }
    QVBoxLayout* content() const { return m_content; }
    void leaveEmpty();  ///< the results take the place of the sentence
    void paintEvent(QPaintEvent* event) override;

private:
    PanelHead* m_head;
    QStackedLayout* m_stack;
    EmptyState* m_empty;
    QWidget* m_results;
    QVBoxLayout* m_content;
    ViewMenu* m_menu;
    void saveReport();

    QString m_sentence, m_caption;
    std::vector<std::string> m_command;
    decltype(core::Analysis::report) m_report;
    std::function<std::string(const Answer&)> m_csv;
};

}  // namespace relascope::widgets
