// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a map along training as one picture a kept step, for a film.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include "types/along.h"

namespace relascope::widgets {

/// Writes one picture each time the window is idle, which takes some milliseconds. Deletes itself
/// at its end.
class FrameFiles : public QObject {
    Q_OBJECT
public:
    /// Names are FOLDER/NAME_step000096.png; pictures have the theme of figures (export.h).
    FrameFiles(AlongTraining along, const QString& folder, const QString& name, QObject* parent);

    int count() const { return static_cast<int>(m_along.steps.size()); }
    QString path(int at) const;

Q_SIGNALS:
    void written(int count);
    void finished(const QString& folder);
    void failed(const QString& sentence);

private:
    void next();

    AlongTraining m_along;
    QString m_folder, m_name;
    int m_at = 0;
    QTimer m_timer;
};

}  // namespace relascope::widgets
