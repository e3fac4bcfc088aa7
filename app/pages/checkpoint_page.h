// A checkpoint: trust first (name, badge, problems), then what is inside, then what it computes.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "app/controllers/checkpoint_controller.h"

class QLabel;
class QMenu;
class QPushButton;
class QSplitter;
class QStackedLayout;
class QStackedWidget;

namespace relascope {

class ConfigView;
class ElidedLabel;
class EmptyState;
class ErrorStrip;
class GeneratePanel;
class HistogramView;
class Messages;
class OutlineView;
class PanelHead;
class ProblemsList;
class RelationInspector;
class SegmentedControl;
class StatisticsView;
class TensorTable;
class VerifyBadge;

class CheckpointPage : public QWidget {
    Q_OBJECT
public:
    CheckpointPage(CheckpointController& controller, Messages& messages, QWidget* parent = nullptr);

    /// Asks for a file (a folder) and opens it.
    void openFile();
    void openFolder();

    CheckpointController& controller() { return m_c; }
    TensorTable* table() const { return m_table; }
    HistogramView* histogram() const { return m_histogram; }
    OutlineView* outline() const { return m_outline; }
    ConfigView* config() const { return m_config; }
    ProblemsList* problems() const { return m_problems; }
    StatisticsView* evaluation() const { return m_evaluation; }
    VerifyBadge* badge() const { return m_badge; }
    RelationInspector* inspector() const { return m_inspector; }
    SegmentedControl* tabs() const { return m_tabs; }
    QPushButton* verifyButton() const { return m_verify; }
    QPushButton* evaluateButton() const { return m_evaluate; }
    QPushButton* inspectButton() const { return m_inspect; }
    QPushButton* openButton() const;
    QMenu* menu() const { return m_menu; }
    JobStrip* strip(CheckpointController::Strip strip) const;
    GeneratePanel* generatePanel() const { return m_generate; }
    SegmentedControl* side() const { return m_side; }
    QPushButton* tokenizerButton() const { return m_tokenizerButton; }
    /// Looks at a text file; false where no language model is loaded.
    bool takeText(const QString& path);
    QString title() const;
    QString files() const;
    QString errorSentence() const;

    /// Ask for paths and data; replaced in tests. Nothing chosen means never mind.
    std::function<QString()> askFile, askFolder, askPicture, askTokenizer;
    std::function<QString(const QString& suggested)> askConvert;
    std::function<std::optional<EvaluationWish>()> askEvaluation;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    enum Tab { Configuration, Outline, Numbers, EvaluationTab };
    void asking();
    QWidget* makeHead();
    QWidget* makeLeft();
    QWidget* makeTabs();
    QWidget* makeRight();
    void wire();
    void wireInspector();
    void opened();
    void refresh();
    void showProblems();
    void chooseTensor(const QString& name);
    void showProbe(const std::shared_ptr<const ProbeResult>& result, const InputWish& wish);
    void showEvaluation(const Evaluation& evaluation, const QString& name);
    void openDropped(const QString& path);
    void fail(const QString& sentence);
    void convert();
    // checkpoint_page_text.cpp: what language models have besides.
    QWidget* makeGenerate(QWidget* tensors);
    void wireGenerate();
    void refreshGenerate();
    void loadedText();
    void showNextTokens();
    void showLooked(const std::shared_ptr<const ProbeResult>& result, int first);
    void chooseToken(int index);
    void chooseTokenizer();

    CheckpointController& m_c;
    Messages& m_messages;
    QStackedLayout* m_stack = nullptr;
    EmptyState* m_empty;
    QLabel* m_title;
    ElidedLabel* m_files;
    VerifyBadge* m_badge;
    QPushButton *m_verify, *m_evaluate, *m_inspect;
    QMenu* m_menu;
    ErrorStrip* m_error;
    JobStrip *m_task, *m_numbers, *m_looking;
    QSplitter *m_split, *m_below;
    TensorTable* m_table;
    ProblemsList* m_problems;
    PanelHead* m_tabsHead;
    SegmentedControl* m_tabs;
    QStackedWidget* m_views;
    ConfigView* m_config;
    OutlineView* m_outline;
    HistogramView* m_histogram;
    StatisticsView* m_evaluation;
    RelationInspector* m_inspector;
    QWidget* m_sideRow = nullptr;
    SegmentedControl* m_side = nullptr;  ///< the tensors, or the text that is written
    QStackedWidget* m_sides = nullptr;
    GeneratePanel* m_generate = nullptr;
    QWidget* m_tokenizerRow = nullptr;
    QPushButton* m_tokenizerButton = nullptr;
    int m_lookedFirst = -1;  ///< token of the written text that the result shown begins with
    bool m_looked = false;   ///< the first view was chosen
};

}  // namespace relascope
