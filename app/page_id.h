// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the window.
#pragma once

#include <QString>
#include <array>
#include <optional>

namespace relascope::app {

/// In the order of the tabs.
enum class PageId { Workbench, Compare, Study, Data, Checkpoint };

inline constexpr std::array kPages{PageId::Workbench, PageId::Compare, PageId::Study, PageId::Data,
                                   PageId::Checkpoint};

inline QString pageTitle(PageId id) {
    static const char* const titles[] = {"Workbench", "Compare", "Study", "Data", "Checkpoint"};
    return QString::fromLatin1(titles[static_cast<int>(id)]);
}
/// By its title, in any case.
inline std::optional<PageId> pageNamed(const QString& title) {
    for (const PageId id : kPages)
        if (pageTitle(id).compare(title, Qt::CaseInsensitive) == 0) return id;
    return std::nullopt;
}

}  // namespace relascope::app
