// SPDX-License-Identifier: GPL-3.0-or-later
// The window Measure: ablation, patching, logit lens, attribution and head measures of what the
// inspector shows, and its values along training.
#pragma once

#include <memory>
#include <optional>

#include <QString>
#include <QWidget>

#include "app/controllers/measure_controller.h"
#include "widgets/theme/controls.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSpinBox;
class QStackedWidget;
class QTabBar;

namespace relascope::widgets {
class PanelHead;
}  // namespace relascope::widgets

namespace relascope::app {

// Rows of controls above the views of the window Measure; private to its tabs.

struct MeasuredSubject;

/// A row of labelled controls, left-aligned.
class ControlRow : public widgets::Box {
public:
    explicit ControlRow(QWidget* parent);
    /// A control after a muted label, which becomes its accessible name unless it has one.
    void add(const QString& label, QWidget* control);
    void add(QWidget* control);
    void addGap();
    void addRight(QWidget* control);

private:
    QHBoxLayout* m_row;
    bool m_stretched = false;
};

QComboBox* choiceBox(const QString& name, QWidget* parent);
QSpinBox* numberBox(const QString& name, int low, int high, QWidget* parent);
/// Fills the list with the splits of the subject's data and keeps the choice; validation is the
/// first choice.
void fillSplits(QComboBox& box, const MeasuredSubject* subject);
/// ", edited: layer 2 relation 3 zero"; empty without enabled edits.
QString editedText(const MeasuredSubject& subject);
/// "occurs, step 500, validation 12", with the edits.
QString captionOf(const MeasuredSubject& subject);

class AblationTab;
class AlongTab;
class AttributionTab;
class HeadsTab;
class LensTab;
class MeasureController;
class PatchingTab;

/// Not modal; owns its controller, and with it a thread and a model.
class MeasureWindow : public QWidget {
    Q_OBJECT
public:
    enum class Tab { Ablation, Patching, Lens, Attribution, Along, Heads };

    explicit MeasureWindow(QWidget* parent = nullptr);
    ~MeasureWindow() override;

    /// What the inspector shows; nullopt: nothing. Cancels what runs for an earlier subject, and
    /// keeps what does not depend on what is changed.
    void setSubject(std::optional<MeasuredSubject> subject);
    /// The input B of patching.
    void setSecond(ProbeSample sample, const QString& name);
    /// Shows the window with that tab.
    void showTab(Tab tab);
    Tab tab() const;

    MeasureController& controller() { return *m_c; }
    AblationTab* ablation() const { return m_ablation; }
    PatchingTab* patching() const { return m_patching; }
    LensTab* lens() const { return m_lens; }
    AttributionTab* attribution() const { return m_attribution; }
    AlongTab* along() const { return m_along; }
    HeadsTab* heads() const { return m_heads; }

Q_SIGNALS:
    /// A part is to be taken out in the inspector.
    void editRequested(const relascope::Edit& edit);
    /// A step along training was chosen.
    void stepRequested(qint64 step);
    /// A head is to be shown in the inspector.
    void mapRequested(relascope::MapKind kind, int layer, int index);

protected:
    void showEvent(QShowEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void activate();
    void showNote();

    std::unique_ptr<MeasureController> m_c;
    widgets::PanelHead* m_head;
    QLabel* m_note;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    AblationTab* m_ablation;
    PatchingTab* m_patching;
    LensTab* m_lens;
    AttributionTab* m_attribution;
    AlongTab* m_along;
    HeadsTab* m_heads;
};

}  // namespace relascope::app
