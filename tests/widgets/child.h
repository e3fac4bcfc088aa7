// SPDX-License-Identifier: GPL-3.0-or-later
// Finds controls as a user or a screen reader does: by accessible name or text.
#pragma once

#include <gtest/gtest.h>

#include <QString>
#include <QVariant>
#include <QWidget>

namespace relascope {

/// The first T inside `parent` with that accessible name or text (empty: any). `parent` is an
/// object or any pointer to one.
template <class T, class Parent>
T* child(const Parent& parent, const QString& name = {}) {
    const QObject* object = nullptr;
    if constexpr (requires { *parent; })
        object = &*parent;
    else
        object = &parent;
    for (T* found : object->findChildren<T*>())
        if (name.isEmpty() || found->accessibleName() == name ||
            found->property("text").toString() == name)
            return found;
    ADD_FAILURE() << "no " << T::staticMetaObject.className() << " \"" << name.toStdString()
                  << "\"";
    return nullptr;
}

}  // namespace relascope
