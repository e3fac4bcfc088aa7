// SPDX-License-Identifier: GPL-3.0-or-later
// One row of the options form: label, editor, and whether it may change live. Private to the form.
#pragma once

#include <functional>
#include <optional>

#include <QString>
#include <QTimer>
#include <QWidget>

#include "types/field.h"

class QCheckBox;
class QComboBox;
class QKeyEvent;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace relascope::widgets {

// Conversion of field values to text and back.

/// As typed short: integers plain, reals in the shortest exact form (1e-3), lists "0, 1", booleans
/// "on" or "off".
QString fieldText(const FieldValue& value);

/// The text in a form: empty for an automatic 0, which automaticText() describes.
QString shownText(const FieldValue& value, const FieldState& state);
/// "automatic (2)"; empty if 0 has no special meaning.
QString automaticText(const FieldState& state);

/// The preset's value: "0.10", "automatic (2)".
QString presetText(const FieldState& state);

/// The value that a text means; nothing if it is not valid, with a sentence in `problem`. Beside
/// what the command line reads, thousands may be separated and list items may have spaces between.
std::optional<FieldValue> parseField(const QString& text, const FieldSpec& spec, QString* problem);
/// The inverse of shownText().
std::optional<FieldValue> parseShown(const QString& text, const FieldState& state,
                                     QString* problem);

class FieldNote;

/// During a training, the text of a live field is applied on Enter, when the field loses focus or,
/// for the arrows, after a delay; Escape reverts it. Otherwise every valid text is applied
/// immediately.
class FieldRow : public QWidget {
    Q_OBJECT
public:
    explicit FieldRow(const FieldState& state, QWidget* parent = nullptr);

    void setState(const FieldState& state);  ///< does not change a text that is being edited
    const FieldState& state() const { return m_state; }
    void setRunning(bool running);
    void setOutsideProblem(const QString& sentence);  ///< empty: none
    /// Why a start was refused because of this field, with a button that offers what would mend it;
    /// for a path without an action, another file. Not a problem of its value. Empty: none.
    void setRefusal(const QString& sentence, const QString& action);
    /// What is known of the field here, shown below it where nothing else is. Empty: nothing.
    void setFact(const QString& sentence);
    bool valid() const { return m_typed.isEmpty() && m_outside.isEmpty(); }
    bool changed() const { return m_state.value != m_state.preset; }
    QString problem() const {
        return !m_typed.isEmpty() ? m_typed : !m_outside.isEmpty() ? m_outside : m_refusal;
    }
    void resetToPreset();
    QWidget* editor() const;
    /// The buttons of a path, and of a refusal; null: none.
    QToolButton* browseButton() const { return m_browse; }
    QPushButton* mendButton() const { return m_mend; }
    /// Asks for a file, or a folder, beginning at the path `from`; replaced by forms of runs that
    /// may train elsewhere, and in tests.
    std::function<QString(bool folder, const QString& from)> askPath;
    /// Whether a valid text has not been applied yet.
    bool pending() const { return m_pending.has_value(); }
    /// Applies a pending text.
    void commit();

Q_SIGNALS:
    void valueChanged(const FieldValue& value);
    /// The user finished editing the field.
    void editingEnded();
    void validityChanged();
    void focused();
    void mendRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void typed(const QString& text);
    bool key(QKeyEvent* event);
    void takeBack();
    void take(const FieldValue& value);
    void show(const FieldValue& value);
    void nudge(int steps);
    void restyle();
    void browse(bool folder);
    void popUpBrowse(QWidget* below);
    int fillChoices();  ///< px of the longest one

    FieldState m_state;
    bool m_running = false, m_quiet = false, m_asksFile = false;
    QString m_typed, m_outside, m_refusal, m_fact;
    std::optional<FieldValue> m_pending;
    QTimer m_rest;  ///< runs while the arrows of a live field are being pressed
    QLabel* m_label;
    FieldNote* m_sentence;
    QToolButton *m_kind, *m_browse = nullptr;
    QPushButton* m_mend = nullptr;
    QLineEdit* m_edit = nullptr;
    QComboBox* m_combo = nullptr;
    QCheckBox* m_check = nullptr;
    QWidget* m_spin = nullptr;
};

}  // namespace relascope::widgets
