// SPDX-License-Identifier: GPL-3.0-or-later
// The Checkpoint page: name, verification and problems, then the tensors, then the maps.
#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "app/controllers/checkpoint_controller.h"

class QPushButton;
class QSplitter;
class QStackedLayout;
class QStackedWidget;

namespace relascope::widgets {
class EmptyState;
class ProblemsList;
class RelationInspector;
class SegmentedControl;
class TensorTable;
}  // namespace relascope::widgets

namespace relascope::app {

class CheckpointDetails;
class CheckpointHead;
class CheckpointText;
class ErrorStrip;
class JobStrip;
class Messages;

class CheckpointPage : public QWidget {
    Q_OBJECT
public:
    CheckpointPage(CheckpointController& controller, Messages& messages, QWidget* parent = nullptr);

    /// Files of weights, for dialogs.
    static constexpr const char* kFiles =
        "Checkpoints (*.safetensors *.pt *.pth *.ckpt *.bin config.json *.index.json);;"
        "All files (*)";

    /// Asks for a file of weights or a folder with them, in one dialog; empty if it is cancelled.
    static QString chooseWeights(QWidget* parent, const QString& title, const QString& start);

    /// Asks for a file or a folder and opens it.
    void openFile();
    void openOn(const QString& host);
    void openFromHub();
    /// Opens a model that another program serves.
    void openServed();

    CheckpointHead* head() const { return m_head; }
    CheckpointDetails* details() const { return m_details; }
    CheckpointText* text() const { return m_text; }
    widgets::TensorTable* table() const { return m_table; }
    widgets::ProblemsList* problems() const { return m_problems; }
    widgets::RelationInspector* inspector() const { return m_inspector; }
    QPushButton* openButton() const;
    /// Progress of the current task, of reading values and of the inspector.
    JobStrip* inspectorStrip() const { return m_inspecting; }
    /// The switch between the tensors and the generated text.
    widgets::SegmentedControl* side() const { return m_side; }
    /// What a command says of the files of a checkpoint: `info` of its path, or `verify` of its
    /// folder. nullopt for one on another machine.
    static std::optional<View> describeFiles(const std::string& command, const std::string& path);
    /// Inspects a text file; returns false if no language model is loaded.
    bool takeText(const QString& path);
    QString title() const;
    QString errorSentence() const;

    /// Ask for paths and data; replaced in tests. An empty result means cancelled.
    std::function<QString()> askFile, askPicture, askTokenizer, askHead, askAdapter;
    std::function<QString(const QString& suggested)> askConvert;
    std::function<std::optional<NamedEvaluation>()> askEvaluation;
    /// Asks for a checkpoint on a machine; replaced in tests.
    std::function<QString(const QString& host)> askOnHost;
    /// The machines whose checkpoints can be opened.
    std::function<QStringList()> hosts = [] { return QStringList(); };

Q_SIGNALS:
    void opening();  ///< a file was chosen, maybe while another page is shown
    /// What was fetched from the hub is a run.
    void runChosen(const QString& path);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void open(const QString& path);
    void describeViews();
    void setQuestions();
    void layOut();
    QWidget* makeLeft();
    QWidget* makeRight();
    void wire();
    void wireInspector();
    void opened();
    void refresh();
    void loadedChanged();
    void showSide(int side);
    void showProblems();
    void chooseTensor(const QString& name);
    void chooseTokenizer();
    void chooseHead();
    void showProbe(const widgets::Inspected& inspected);
    void openDropped(const QString& path);
    void fail(const QString& sentence);
    void convert();
    void openWithAdapter();

    CheckpointController& m_c;
    Messages& m_messages;
    QStackedLayout* m_stack = nullptr;
    widgets::EmptyState* m_empty;
    CheckpointHead* m_head;
    ErrorStrip* m_error;
    JobStrip *m_task, *m_numbers, *m_inspecting;
    widgets::TensorTable* m_table;
    widgets::ProblemsList* m_problems;
    CheckpointDetails* m_details;
    widgets::RelationInspector* m_inspector;
    CheckpointText* m_text;
    QWidget* m_left = nullptr;  ///< the side of the tensors
    QWidget* m_sideRow;
    widgets::SegmentedControl* m_side;
    QStackedWidget* m_sides;
    bool m_viewChosen = false;  ///< the first view of this checkpoint was chosen
};

}  // namespace relascope::app
