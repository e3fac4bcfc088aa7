// SPDX-License-Identifier: GPL-3.0-or-later
// The model of a checkpoint as a tree of modules with descriptions and parameter counts.
#pragma once

#include <QWidget>

#include "types/checkpoint_info.h"

class QTreeWidget;
class QTreeWidgetItem;

namespace relascope::widgets {

class OutlineView : public QWidget {
    Q_OBJECT
public:
    explicit OutlineView(QWidget* parent = nullptr);

    void setOutline(const OutlineNode& outline);
    QString csv() const;
    QTreeWidget* tree() const { return m_tree; }

Q_SIGNALS:
    /// Prefix of the tensor names, ending with a dot; empty for the whole model.
    void prefixChosen(const QString& prefix);

protected:
    void changeEvent(QEvent* event) override;

private:
    void add(const OutlineNode& node, QTreeWidgetItem* parent, int depth);
    QTreeWidget* m_tree;
};

}  // namespace relascope::widgets
