// SPDX-License-Identifier: GPL-3.0-or-later
// The panel below the tensors: configuration, outline, the values of one tensor, the last
// evaluation.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include <QList>
#include <QStringList>
#include <QWidget>

#include "analysis/open_model.h"
#include "types/checkpoint_info.h"
#include "types/relation_map.h"

class QAction;
class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace relascope::widgets {
class TextOutcome;
class ConfigView;
class ElidedLabel;
class GeneratePanel;
class HistogramView;
class OutlineView;
class PanelHead;
class RelationInspector;
class SegmentedControl;
class StatisticsView;
class ViewMenu;
class VerifyBadge;
}  // namespace relascope::widgets

namespace relascope::app {

/// Shows the likeliest next tokens after a text in `result`, with their probabilities. If `other`
/// is not null, the likeliest of both are shown, with their probabilities in both. `hidden`: the
/// model reads in both directions, and the words are those of the first mask.
void showNextTokens(widgets::TextOutcome& outcome, const ProbeResult& result,
                    const ProbeResult* other, bool hidden = false);

/// What an evaluation was of.
enum class EvaluatedData { Images, Text, HiddenWords };

// Head of the Checkpoint page: name, files, verification, and buttons.

class CheckpointController;

class CheckpointHead : public QWidget {
    Q_OBJECT
public:
    /// `figure` is the widget that the menu copies and saves as a picture.
    CheckpointHead(CheckpointController& controller, QWidget* figure, QWidget* parent = nullptr);

    /// Updates the head for another checkpoint.
    void opened();
    /// Updates which buttons and entries are enabled, with the reason if not.
    void refresh();
    /// Hides the progress after the job was cancelled or failed.
    void verifyEnded();

    QString title() const;
    QString files() const;
    widgets::VerifyBadge* badge() const { return m_badge; }
    QPushButton* verifyButton() const { return m_verify; }
    QMenu* menu() const { return m_menu; }

    /// The machines whose checkpoints can be opened.
    std::function<QStringList()> hosts = [] { return QStringList(); };

Q_SIGNALS:
    void fileRequested();
    void hostRequested(const QString& host);
    void hubRequested();
    void servedRequested();
    void tokenizerRequested();
    void headRequested();
    void adapterRequested();
    void convertRequested();
    void evaluationRequested();
    void noFileManager(const QString& sentence);

private:
    void fillMenu();
    void showFolder();

    CheckpointController& m_c;
    QLabel* m_title;
    widgets::ElidedLabel* m_files;
    widgets::VerifyBadge* m_badge;
    QPushButton *m_verify, *m_evaluate, *m_inspect;
    QMenu* m_menu;
    QList<QAction*> m_onHosts;
    QAction *m_tokenizer = nullptr, *m_givenHead = nullptr, *m_adapter = nullptr,
            *m_convert = nullptr, *m_show = nullptr;
};

class CheckpointDetails : public QWidget {
    Q_OBJECT
public:
    enum Tab { Configuration, Outline, Values, Evaluated };

    explicit CheckpointDetails(QWidget* parent = nullptr);

    void setCheckpoint(const CheckpointInfo& info);
    void showTab(Tab tab);
    /// Shows the tab with the results; `language`: the model was evaluated on text, not images.
    void setEvaluation(const Evaluation& evaluation, const QString& data, EvaluatedData of);
    /// "loss 0.123, accuracy 98.0 %"
    static QString evaluationText(const Evaluation& evaluation, EvaluatedData of);

    widgets::HistogramView* histogram() const { return m_histogram; }
    widgets::OutlineView* outline() const { return m_outline; }
    /// The menu of a tab other than Values, whose view has its own.
    widgets::ViewMenu* menu(Tab tab) const { return m_menus.at(tab); }

private:
    void makeMenus();

    widgets::PanelHead* m_head;
    widgets::SegmentedControl* m_tabs;
    QStackedWidget* m_views;
    widgets::ConfigView* m_config;
    widgets::OutlineView* m_outline;
    widgets::HistogramView* m_histogram;
    widgets::StatisticsView* m_evaluation;
    std::map<Tab, widgets::ViewMenu*> m_menus;
};

// Text generation on the Checkpoint page, next to the inspector.

/// The inspector follows the text while it is generated, and the token chosen in it.
class CheckpointText : public QWidget {
    Q_OBJECT
public:
    CheckpointText(CheckpointController& controller, widgets::RelationInspector& inspector,
                   QWidget* parent = nullptr);

    /// Updates whether a text can be generated, with the reason if not.
    void refresh();
    /// Updates the panel after other weights were loaded, or the weights were removed.
    void loaded();
    /// The inspector shows an input other than the generated text.
    void leave() { m_resultFirst = -1; }
    /// Shows the likeliest tokens after the text in the inspector.
    void showNextTokens();

    widgets::GeneratePanel* panel() const { return m_panel; }
    QPushButton* tokenizerButton() const { return m_tokenizer; }

Q_SIGNALS:
    void exported(const QString& path);
    void failed(const QString& sentence);

private:
    void wire();
    void showResult(const std::shared_ptr<const ProbeResult>& result, int first);
    void chooseToken(int index);

    CheckpointController& m_c;
    widgets::RelationInspector& m_inspector;
    QWidget* m_tokenizerRow;
    widgets::ElidedLabel* m_needed = nullptr;
    QPushButton* m_tokenizer;
    widgets::GeneratePanel* m_panel;
    int m_resultFirst = -1;  ///< index of the generated token that the result shown begins with
};

}  // namespace relascope::app
