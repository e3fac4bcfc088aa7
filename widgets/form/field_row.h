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
class QHBoxLayout;
class QKeyEvent;
class QLabel;
class QLineEdit;
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
    bool valid() const { return m_typed.isEmpty() && m_outside.isEmpty(); }
    bool changed() const { return m_state.value != m_state.preset; }
    QString problem() const { return m_typed.isEmpty() ? m_outside : m_typed; }
    void resetToPreset();
    /// Adds a button that asks for a file or a folder, for a field whose text is a path. What `ask`
    /// returns is applied as if it had been typed; empty: cancelled.
    void addBrowse(const std::function<QString(bool folder)>& ask);
    QWidget* editor() const;
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
    int fillChoices();  ///< px of the longest one

    FieldState m_state;
    bool m_running = false, m_quiet = false;
    QString m_typed, m_outside;
    std::optional<FieldValue> m_pending;
    QTimer m_rest;  ///< runs while the arrows of a live field are being pressed
    QLabel* m_label;
    QHBoxLayout* m_line;  ///< label, editor and buttons
    FieldNote* m_sentence;
    QToolButton* m_kind;
    QLineEdit* m_edit = nullptr;
    QComboBox* m_combo = nullptr;
    QCheckBox* m_check = nullptr;
    QWidget* m_spin = nullptr;
    QToolButton* m_browse = nullptr;
};

}  // namespace relascope::widgets
