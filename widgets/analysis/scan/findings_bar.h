// SPDX-License-Identifier: GPL-3.0-or-later
// The findings of a scan, one at a time, above the map that they are about.
#pragma once

#include <QLabel>

#include "analysis/scan/scan.h"
#include "types/along.h"
#include "types/answer.h"
#include "widgets/theme/controls.h"

namespace relascope::widgets {

class FindingsBar : public Box {
    Q_OBJECT
public:
    explicit FindingsBar(QWidget* parent = nullptr);

    /// Hides the bar.
    void clear();
    /// A sentence in place of findings, such as why there are none.
    void setSentence(const QString& sentence);
    /// The result of a scan, which may be partial. `subject` names the weights, in the note.
    void setScan(const Answer& answer, bool finished, const QString& subject);
    const ModelScan& scan() const { return m_scan; }
    /// The finding that is shown, from 0; -1: none.
    int current() const { return m_current; }
    QString sentence() const { return m_sentence->text(); }  ///< as shown, elided
    QString text() const;                                    ///< whole
    /// In one row, for low pages.
    void setLow(bool low);
    /// Whether the page has room for the bar.
    void setAllowed(bool allowed);
    bool allowed() const { return m_allowed; }

public Q_SLOTS:
    void next();
    /// Shows the map of the finding at its best example.
    void showEvidence();

Q_SIGNALS:
    void exampleRequested(qint64 example, const relascope::MapCell& cell);
    void mapRequested(relascope::MapKind kind, int layer, int index);
    void moreRequested();

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void display();

    ModelScan m_scan;
    QString m_text, m_subject;
    int m_current = -1;
    bool m_low = false, m_allowed = true, m_finished = false;
    QLabel *m_sentence, *m_links;
};

}  // namespace relascope::widgets
