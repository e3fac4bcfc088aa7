// SPDX-License-Identifier: GPL-3.0-or-later
// A configuration as a grid of names and values, read down the columns.
#pragma once

#include <QScrollArea>
#include <utility>
#include <vector>

namespace relascope::widgets {

class ConfigView : public QScrollArea {
    Q_OBJECT
public:
    explicit ConfigView(QWidget* parent = nullptr);

    /// A JSON object; nested ones become "decoder.n_heads". Other text is shown as one line.
    void setConfig(const QString& json);
    const std::vector<std::pair<QString, QString>>& rows() const;
    QString csv() const;
    QWidget* canvas() const;

private:
    class Canvas;
    Canvas* m_canvas;
};

}  // namespace relascope::widgets
