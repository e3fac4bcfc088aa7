// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/why_panel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <QHeaderView>
#include <QKeyEvent>
#include <QResizeEvent>
#include <QStackedLayout>
#include <QTimer>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "types/error.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/kit/grid_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kPointingMs = 120;
const QString kTimes = QStringLiteral(" \u00D7 ");

/// A head whose output is a sum over tokens, with or without one of its relations.
bool isHead(const QString& part) {
    static const QRegularExpression head(QStringLiteral("\\bhead \\d+"));
    return head.match(part).hasMatch();
}

/// The group of a part among the groups of the matrix of layers: a layer, or what is no layer's.
QString groupOfPart(const QString& part, const QStringList& groups) {
    QString rest;
    for (const QString& group : groups) {
        if (part.startsWith(group + u' ')) return group;
        // "encoder input" holds what is the encoder's, and "input" what has no other group.
        const auto space = group.lastIndexOf(u' ');
        const QString stack = space < 0 ? QString() : group.left(space + 1);
        const bool layer = group.contains(QStringLiteral("layer "));
        if (!layer && part.startsWith(stack) && stack.size() >= rest.size()) rest = group;
    }
    return rest;
}

/// A matrix of terms: names of the rows and columns in their order, and a value for each pair.
struct TermMatrix {
    QStringList rows, columns;
    std::vector<double> values;
    double at(int row, int column) const {
        return values[static_cast<std::size_t>(row * columns.size() + column)];
    }
};

TermMatrix matrixOf(const Table& table) {
    const auto &i = table.texts("i"), &j = table.texts("j");
    TermMatrix matrix;
    matrix.values = table.numbers("value");
    for (std::size_t k = 0; k < i.size() && i[k] == i[0]; ++k) matrix.columns << shownText(j[k]);
    const auto wide = static_cast<std::size_t>(matrix.columns.size());
    for (std::size_t k = 0; k < i.size(); k += wide) matrix.rows << shownText(i[k]);
    if (wide * static_cast<std::size_t>(matrix.rows.size()) != i.size())
        throw Error("the table 'matrix' of an answer is not one of rows and columns");
    return matrix;
}

/// The rows and columns at these places.
TermMatrix partOfMatrix(const TermMatrix& all, const std::vector<int>& rows,
                        const std::vector<int>& columns) {
    TermMatrix part;
    for (const int column : columns) part.columns << all.columns[column];
    for (const int row : rows) {
        part.rows << all.rows[row];
        for (const int column : columns) part.values.push_back(all.at(row, column));
    }
    return part;
}

/// With the sums of its rows and columns.
TermMatrix withSums(const TermMatrix& terms) {
    TermMatrix all;
    all.rows = terms.rows + QStringList{QStringLiteral("all")};
    all.columns = terms.columns + QStringList{QStringLiteral("all")};
    std::vector<double> below(static_cast<std::size_t>(all.columns.size()), 0.0);
    for (int row = 0; row < terms.rows.size(); ++row) {
        double sum = 0.0;
        for (int column = 0; column < terms.columns.size(); ++column) {
            const double value = terms.at(row, column);
            all.values.push_back(value);
            below[static_cast<std::size_t>(column)] += value;
            sum += value;
        }
        all.values.push_back(sum);
        below.back() += sum;
    }
    all.values.insert(all.values.end(), below.begin(), below.end());
    return all;
}

}  // namespace

WhyPanel::WhyPanel(QWidget* parent)
    : Box(&Theme::panel, false, parent),
      m_scale(std::make_shared<ColorScale>()),
      m_pointing(new QTimer(this)),
      m_against(new SegmentedControl(
          {QStringLiteral("Nothing"), QStringLiteral("Row"), QStringLiteral("Cell")}, this)),
      m_lists(new SegmentedControl(
          {QStringLiteral("Raises"), QStringLiteral("Lowers"), QStringLiteral("Of i"),
           QStringLiteral("Of j"), QStringLiteral("Tokens")},
          this)),
      m_back(
          iconButton("chevron-left", QStringLiteral("Back to the cell before (Backspace)"), this)),
      m_groups(iconButton("chevron-left", QStringLiteral("Back to the layers (Backspace)"), this)),
      m_trail(new ElidedLabel({}, this)),
      m_trailRow(new QWidget(this)),
      m_groupsRow(new QWidget(this)),
      m_groupsText(new ElidedLabel({}, this)),
      m_says(new QLabel(this)),
      m_matrix(new GridView(
          {.leastCell = 22, .mostCell = 64, .rowHeight = 19, .numbersFrom = 34, .mostUpright = 130},
          [scale = m_scale](double value) { return scale->color(float(value)); },
          QStringLiteral("Parts of i by parts of j"), this)),
      m_table(new TableView(QStringLiteral("Parts of the value"), this)) {
    setAccessibleName(QStringLiteral("Why this value"));
    auto* head = new PanelHead(QStringLiteral("Why"), this);
    m_againstText = mutedLabel(QStringLiteral("against"), head);
    head->addLeftControl(m_againstText);
    head->addLeftControl(m_against);
    m_against->setAccessibleName(QStringLiteral("What the value is held against"));
    m_against->setItemToolTip(0, QStringLiteral("The value itself"));
    m_against->setItemToolTip(
        1, QStringLiteral("The mean of the row: what lifts j above the others that i sees"));
    m_against->setItemToolTip(
        2, QStringLiteral("Another cell of the map: Ctrl with a click, or choose this while it is "
                          "the chosen one, and move on"));
    auto* more = iconButton("more", QStringLiteral("All tables, to copy and save"), head);
    auto* close = iconButton("close", QStringLiteral("Close (Esc)"), head);
    head->addControl(more);
    head->addControl(close);
    m_column = columnOf(this);
    m_column->addWidget(head);
    auto* trail = rowOf(m_trailRow, {8, 4, 12, 0}, 4);
    m_trail->setElideMode(Qt::ElideLeft);
    m_trail->setFont(smallFont());
    trail->addWidget(m_back);
    trail->addWidget(m_trail, 1);
    m_trailRow->hide();
    m_column->addWidget(m_trailRow);
    auto* below = new QWidget(this);
    m_stack = new QStackedLayout(below);
    m_column->addWidget(below, 1);
    m_empty = mutedLabel({}, below);
    m_empty->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setContentsMargins(24, 12, 24, 12);
    m_stack->addWidget(m_empty);

    auto* parts = new QWidget(below);
    m_body = new QBoxLayout(QBoxLayout::TopToBottom, parts);
    m_body->setContentsMargins(0, 0, 0, 0);
    m_body->setSpacing(0);
    auto* above = new QWidget(parts);
    auto* lines = columnOf(above);
    m_says->setFont(smallFont());
    m_says->setWordWrap(true);
    m_says->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_says->setContentsMargins(12, 6, 12, 2);
    lines->addWidget(m_says);
    auto* groups = rowOf(m_groupsRow, {8, 0, 12, 0}, 4);
    m_groupsText->setFont(smallFont());
    groups->addWidget(m_groups);
    groups->addWidget(m_groupsText, 1);
    m_groupsRow->hide();
    lines->addWidget(m_groupsRow);
    lines->addWidget(m_matrix, 1);
    m_body->addWidget(above);
    auto* list = new QWidget(parts);
    auto* listLines = columnOf(list);
    auto* choice = new QWidget(list);
    m_lists->setAccessibleName(QStringLiteral("List"));
    m_lists->setItemToolTip(Raises, QStringLiteral("The pairs of parts that raise the value most"));
    m_lists->setItemToolTip(Lowers, QStringLiteral("The pairs that lower it most"));
    m_lists->setItemToolTip(OfI, QStringLiteral("Each part of i, with all parts of j"));
    m_lists->setItemToolTip(OfJ, QStringLiteral("Each part of j, with all parts of i"));
    rowOf(choice, {12, 4, 12, 4})->addWidget(m_lists, 0, Qt::AlignLeft);
    listLines->addWidget(choice);
    listLines->addWidget(m_table, 1);
    m_body->addWidget(list, 1);
    m_stack->addWidget(parts);

    m_pointing->setSingleShot(true);
    m_pointing->setInterval(kPointingMs);
    m_table->setMouseTracking(true);
    m_table->horizontalHeader()->hide();
    connect(m_pointing, &QTimer::timeout, this, [this] { point(m_pointed); });
    const auto rest = [this](int row) {
        m_pointed = row;
        m_pointing->start();
    };
    connect(m_table, &TableView::currentRowChanged, this, rest);
    connect(m_table, &QTableView::entered, this, [this, rest](const QModelIndex& at) {
        rest(m_table->tableModel()->rowShownAt(at.row()));
    });
    connect(m_table, &TableView::rowChosen, this, &WhyPanel::chooseRow);
    connect(m_matrix, &GridView::chosen, this, &WhyPanel::openCell);
    connect(m_lists, &SegmentedControl::changed, this, [this](int list) {
        m_tokensOpened = list == Tokens;
        showList();
    });
    connect(m_against, &SegmentedControl::changed, this, [this](int at) {
        auto next = m_choice;
        const auto number = [this](const char* key) {
            return QString::number(indexOf(m_answer.number(key)));
        };
        next.against = at == 0   ? QStringLiteral("none")
                       : at == 1 ? QStringLiteral("row")
                                 : number("i") + u',' + number("j");
        change(next);
    });
    connect(m_back, &QToolButton::clicked, this, &WhyPanel::backRequested);
    connect(m_groups, &QToolButton::clicked, this, [this] {
        m_opened = {};
        auto next = m_choice;
        next.heads = false;
        change(next);
    });
    connect(more, &QToolButton::clicked, this, &WhyPanel::tablesRequested);
    connect(close, &QToolButton::clicked, this, &WhyPanel::closed);
    // From the top down.
    std::vector<QWidget*> order;
    for (int k = 0; k < m_against->count(); ++k) order.push_back(m_against->button(k));
    order.insert(order.end(), {m_back, m_groups, m_matrix});
    for (int k = 0; k < m_lists->count(); ++k) order.push_back(m_lists->button(k));
    order.insert(order.end(), {m_table, more, close});
    for (std::size_t k = 1; k < order.size(); ++k) setTabOrder(order[k - 1], order[k]);
    say(QStringLiteral("Click a cell of a map."));
}

WhyPanel::~WhyPanel() = default;

void WhyPanel::addStrip(QWidget* strip) {
    m_column->insertWidget(1, strip);
}

QString WhyPanel::trail() const {
    return m_trail->text();
}

void WhyPanel::setPlace(bool sameMap) {
    m_pointing->stop();
    ++m_places;
    m_tokensOpened = false;
    m_choice.tokensOf.clear();
    if (sameMap) return;
    m_choice = {};
    m_opened = {};
}

void WhyPanel::setAgainst(const QString& against) {
    ++m_places;
    m_choice.against = against;
}

void WhyPanel::setTrail(const QString& trail) {
    m_trail->setText(trail);
    m_trailRow->setVisible(!trail.isEmpty());
}

void WhyPanel::say(const QString& sentence) {
    m_answer = {};
    m_empty->setText(sentence);
    m_stack->setCurrentIndex(0);
    m_against->setEnabled(false);
    Q_EMIT tinted({});
}

void WhyPanel::showAnswer(const Answer& answer) {
    try {
        for (const char* fact : {"summary", "against", "map"}) answer.text(fact);
        for (const char* fact : {"i", "j", "value"}) answer.number(fact);
        for (const char* table : {"pairs", "matrix"})
            answer.table(table).texts("i"), answer.table(table).texts("j");
        for (const char* table : {"parts_i", "parts_j"})
            answer.table(table).texts("part"), answer.table(table).numbers("value");
        matrixOf(answer.table("matrix"));
    } catch (const Error& error) {
        return say(QString::fromUtf8(error.what()));
    }
    m_answer = answer;
    m_stack->setCurrentIndex(1);
    m_against->setEnabled(true);
    m_says->setText(shownText(answer.text("summary")) + m_note);
    const auto against = QString::fromStdString(answer.text("against"));
    m_against->setCurrent(against == QLatin1String("none")  ? 0
                          : against == QLatin1String("row") ? 1
                                                            : 2);
    showMatrix();
    showList();
    showTint();
}

void WhyPanel::showMatrix() {
    auto terms = matrixOf(m_answer.table("matrix"));
    const bool opened = m_choice.heads && !m_opened.first.isEmpty();
    m_groupsRow->setVisible(opened);
    if (opened) {
        QStringList layers;
        for (const QString& name : terms.rows + terms.columns) {
            static const QRegularExpression layer(QStringLiteral("^((?:\\w+ )?layer \\d+) "));
            if (const auto match = layer.match(name); match.hasMatch()) layers << match.captured(1);
        }
        layers += {m_opened.first, m_opened.second};
        const auto places = [&](const QStringList& names, const QString& group) {
            std::vector<int> at;
            for (int k = 0; k < names.size(); ++k)
                if (groupOfPart(names[k], layers) == group) at.push_back(k);
            return at;
        };
        terms = partOfMatrix(terms, places(terms.rows, m_opened.first),
                             places(terms.columns, m_opened.second));
        m_groupsText->setText(QStringLiteral("i: %1, j: %2").arg(m_opened.first, m_opened.second));
    }
    const auto all = std::make_shared<TermMatrix>(withSums(terms));
    double most = 0.0;
    for (const double value : terms.values) most = std::max(most, std::abs(value));
    if (!(most > 0.0)) most = 1.0;
    *m_scale = ColorScale(ColorScale::Kind::Signed, {float(-most), float(most)}, Theme::current());
    GridPanel panel;
    panel.columnName = "i \u2193 j \u2192";
    panel.lastRowApart = true;
    // In an opened group each name begins with that of the group.
    const auto shortName = [&](const QString& name, const QString& group) {
        return shortPart(opened && name.startsWith(group + u' ') ? name.mid(group.size() + 1)
                                                                 : name);
    };
    for (const QString& name : all->rows)
        panel.rows.push_back(shortName(name, m_opened.first).toStdString());
    const QFontMetrics small(captionFont());
    int longest = 0;
    for (const QString& name : all->columns) {
        const QString text = shortName(name, m_opened.second);
        panel.columns.push_back(text.toStdString());
        longest = std::max(longest, small.horizontalAdvance(text));
    }
    if (longest > m_matrix->width() / (all->columns.size() + 2)) {
        panel.inputs = panel.columns;  // stand upright
        for (auto& name : panel.columns) name = "1";
    }
    const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(most))), 2, 6);
    panel.cell = [all, digits](int row, int column) {
        const double value = all->at(row, column);
        return GridCell{
            .value = value,
            .text = core::shownSigned(value, digits),
            .emphasised = row + 1 == all->rows.size() || column + 1 == all->columns.size()};
    };
    panel.text = [all](int row, int column) {
        return (all->rows[row] + kTimes + all->columns[column]).toStdString() + ": " +
               core::shownSigned(all->at(row, column), 4);
    };
    m_matrix->setPanels({panel});
    fitMatrix();
}

/// Above the lists the matrix has the height that it needs, and the lists have at least the half.
void WhyPanel::fitMatrix() {
    const bool above = m_body->direction() == QBoxLayout::TopToBottom;
    const int most = above ? m_body->parentWidget()->height() * 45 / 100 : QWIDGETSIZE_MAX;
    m_matrix->setMaximumHeight(std::max(80, std::min(m_matrix->picture().size().height(), most)));
    m_matrix->setMinimumHeight(above ? m_matrix->maximumHeight() : 60);
}

void WhyPanel::openCell(const GridPlace& place) {
    if (m_choice.heads || place.panel < 0) return;
    const auto terms = matrixOf(m_answer.table("matrix"));
    if (place.row >= terms.rows.size() || place.column >= terms.columns.size()) return;
    m_opened = {terms.rows[place.row], terms.columns[place.column]};
    auto next = m_choice;
    next.heads = true;
    change(next);
}

void WhyPanel::showList() {
    const auto* tokensI = m_answer.find("tokens_i");
    const auto* tokensJ = m_answer.find("tokens_j");
    m_lists->setItemEnabled(Tokens, tokensI || tokensJ,
                            QStringLiteral("Enter on a head in one of the lists opens its tokens"));
    m_lists->setItemToolTip(Tokens, QStringLiteral("Of ") + m_choice.tokensOf);
    if (m_tokensOpened && (tokensI || tokensJ))
        m_lists->setCurrent(Tokens);
    else if (m_lists->current() == Tokens)
        m_lists->setCurrent(Raises);
    if (m_answer.tables.empty()) return m_table->setTable({});
    const int list = m_lists->current();
    // The row that was current in another list, or in that of another cell, is not current here.
    Table shown{std::to_string(m_places) + ' ' + std::to_string(list)};
    shown.columns = {{"part", list == Tokens ? "Token" : "Part", {}, ColumnKind::Text},
                     {"value", "Adds", {}, ColumnKind::Number, {3, false, true, true}},
                     {"tip", {}, {}, ColumnKind::Text}};
    m_parts.clear();
    const auto add = [this, &shown](const QString& name, double value) {
        m_parts << name;
        shown.columns[0].texts.push_back(shortPart(name).toStdString());
        shown.columns[1].numbers.push_back(value);
        shown.columns[2].texts.push_back(
            (name + QStringLiteral(": ") + signedText(value, 6)).toStdString());
    };
    const auto byTable = [&](const Table& from, const auto& name) {
        const auto& values = from.numbers("value");
        std::vector<std::size_t> order(values.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::abs(values[a]) > std::abs(values[b]);
        });
        for (const auto k : order) {
            add(name(k), values[k]);
            if (k < from.links.size()) shown.links.push_back(from.links[k]);
        }
    };
    if (list == OfI || list == OfJ) {
        const auto& from = m_answer.table(list == OfI ? "parts_i" : "parts_j");
        byTable(from, [&](std::size_t k) { return shownText(from.texts("part")[k]); });
    } else if (list == Tokens) {
        for (const auto& [from, side] : {std::pair{tokensI, "i"}, {tokensJ, "j"}}) {
            if (!from) continue;
            const auto& positions = from->numbers("position");
            const auto& texts = from->texts("token");
            byTable(*from, [&](std::size_t k) {
                const auto at = static_cast<int>(indexOf(positions[k]));
                QString name = nameOf ? nameOf(at) : QString::number(at);
                if (!nameOf && !texts[k].empty()) name += u' ' + shownText(texts[k]);
                return QStringLiteral("%1 from %2").arg(QLatin1String(side), name);
            });
        }
    } else {
        const auto& from = m_answer.table("pairs");
        const auto& values = from.numbers("value");
        for (std::size_t k = 0; k < values.size(); ++k)
            if ((values[k] > 0) == (list == Raises))
                add(shownText(from.texts("i")[k]) + kTimes + shownText(from.texts("j")[k]),
                    values[k]);
    }
    m_table->setTable(shown);
}

QString WhyPanel::headOf(int row) const {
    if (row < 0 || m_lists->current() == Tokens) return {};
    for (const QString& part : m_parts.value(row).split(kTimes))
        if (isHead(part)) return part;
    return {};
}

void WhyPanel::point(int row) {
    const QString head = headOf(row);
    if (head.isEmpty() || head == m_choice.tokensOf) return;
    auto next = m_choice;
    next.tokensOf = head;
    change(next);
}

void WhyPanel::chooseRow(int row) {
    if (m_lists->current() == Tokens) {
        const auto& links = m_table->table().links;
        if (row < 0 || row >= static_cast<int>(links.size())) return;
        const auto& link = links[static_cast<std::size_t>(row)];
        if (link.layer >= 0) Q_EMIT cellRequested(link);
        return;
    }
    const QString head = headOf(row);
    if (head.isEmpty()) return;
    m_pointing->stop();
    m_tokensOpened = true;
    if (head == m_choice.tokensOf) return showList();
    auto next = m_choice;
    next.tokensOf = head;
    change(next);
}

/// The source shows what the part got from each object, at i, or where i lacks it at j.
void WhyPanel::showTint() {
    std::vector<float> values;
    for (const char* key : {"tokens_i", "tokens_j"})
        if (const auto* tokens = m_answer.find(key); tokens && values.empty())
            for (const double value : tokens->numbers("value"))
                values.push_back(static_cast<float>(value));
    Q_EMIT tinted(values);
}

void WhyPanel::change(const WhyChoice& choice) {
    if (choice == m_choice) return;
    m_choice = choice;
    Q_EMIT choiceChanged();
}

/// Puts the lists beside the matrix if the panel is wide and low.
void WhyPanel::resizeEvent(QResizeEvent* event) {
    Box::resizeEvent(event);
    constexpr int room = 330;  // px that the head needs with all of its words
    m_againstText->setVisible(width() >= room);
    m_body->setDirection(width() >= 480 && 2 * width() > 3 * height() ? QBoxLayout::LeftToRight
                                                                      : QBoxLayout::TopToBottom);
    fitMatrix();
}

bool WhyPanel::event(QEvent* event) {
    // Keys of the panel are not those of the window: Escape there leaves a text, for one.
    if (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress) {
        auto* key = static_cast<QKeyEvent*>(event);
        const bool back = key->key() == Qt::Key_Backspace && key->modifiers() == Qt::NoModifier;
        const bool escape = key->key() == Qt::Key_Escape && key->modifiers() == Qt::NoModifier;
        if (back || escape) {
            event->accept();
            if (event->type() == QEvent::ShortcutOverride) return true;
            if (escape)
                Q_EMIT closed();
            else if (m_groupsRow->isVisibleTo(this))
                m_groups->click();
            else if (m_trailRow->isVisibleTo(this))
                Q_EMIT backRequested();
            return true;
        }
    }
    return Box::event(event);
}

}  // namespace relascope::widgets
