// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/declared_parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <QKeyEvent>
#include <QListWidget>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include "widgets/analysis/share_bars.h"
#include "widgets/kit/plot_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

using core::Layout;
using core::Seen;

namespace {

constexpr int kWidestSquare = 884;  // px

/// One of the stops, or between two of them; 0 for what is no number.
QColor probabilityTint(double probability) {
    const auto& stops = Theme::current().likelihood;
    const double x =
        std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) * (stops.size() - 1.0) : 0.0;
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + f * (b - a))); };
    const QColor &a = stops[k], &b = stops[k + 1];
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QColor alikeFill(double value) {
    const auto& stops = Theme::current().viridis;
    const auto count = static_cast<double>(stops.size());
    return stops[static_cast<std::size_t>(std::clamp(value * count, 0.0, count - 1.0))];
}

GridFill fillOf(Layout::Tint tint, const std::shared_ptr<ColorScale>& scale) {
    if (tint == Layout::Tint::Likelihood) return probabilityTint;
    if (tint == Layout::Tint::Alike) return alikeFill;
    return [scale](double value) { return scale->color(static_cast<float>(value)); };
}

/// The scale of the tint with its ends, right-aligned in `room`.
void drawProbabilityScale(QPainter& painter, const QRect& room) {
    constexpr int wide = 120, high = 10, number = 34;
    const Theme& t = Theme::current();
    const QRect bar(room.right() - wide - number, room.center().y() - high / 2, wide, high);
    for (int x = 0; x < wide; x += 4)
        painter.fillRect(QRect(bar.left() + x, bar.top(), 4, high),
                         probabilityTint((x + 2.0) / wide));
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(bar.left() - 206, room.top(), 200, room.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("probability   0"));
    painter.drawText(QRect(bar.right() + 6, room.top(), number, room.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("1"));
}

/// That scale in the head.
class TintScale : public QWidget {
public:
    explicit TintScale(QWidget* parent) : QWidget(parent) {
        setFixedSize(250, 24);
        setToolTip(
            QStringLiteral("Cells are tinted by the probability of their answer; bold: the "
                           "model's own answer"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        drawProbabilityScale(painter, rect());
    }
};

/// As high as its content; scrolls where there is no room for all of it.
class Area : public QScrollArea {
public:
    using QScrollArea::QScrollArea;
    void hold(QWidget* content, QLabel& says) {
        says.setWordWrap(true);
        says.setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        says.setContentsMargins(16, 8, 16, 8);
        setWidgetResizable(true);
        setFrameShape(QFrame::NoFrame);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
        setWidget(content);
    }
    QSize sizeHint() const override { return {width(), widget()->heightForWidth(width())}; }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QScrollArea::resizeEvent(event);
        updateGeometry();
    }
};

}  // namespace

class DeclaredView::Sentences : public Area, public Part {
public:
    Sentences(const Layout::Says& says, DeclaredView* view)
        : Area(view), Part(this), m_of(says), m_label(new QLabel(this)) {
        hold(m_label, *m_label);
        setMinimumHeight(says.least);
        m_label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    }
    bool fill(const Seen& seen, bool) override {
        m_label->setText(made(m_of.text, seen));
        m_label->setAccessibleName(made(m_of.name, seen));
        updateGeometry();
        return !m_label->text().isEmpty();
    }
    void draw(FigureLines& lines) const override {
        lines.sentences(m_label->text(), Theme::current().text);
    }

private:
    Layout::Says m_of;
    QLabel* m_label;
};

class DeclaredView::LineList : public QListWidget, public Part {
public:
    LineList(const Layout::List& list, DeclaredView* view)
        : QListWidget(view), Part(this), m_of(list) {
        setAccessibleName(shownText(list.name));
        layOutSentences(*this);
        setResizeMode(QListView::Adjust);
        const auto open = [this, view](QListWidgetItem* item) {
            if (const auto* line = lineAt(row(item))) view->ask(line->request);
        };
        connect(this, &QListWidget::itemClicked, view, open);
        connect(this, &QListWidget::itemActivated, view, open);
    }
    bool fill(const Seen& seen, bool) override {
        const int current = currentRow();
        clear();
        m_lines = made(m_of.lines, seen);
        m_rows.clear();
        const auto add = [&](const std::string& text, const std::string& tip, bool muted) {
            auto* item = new QListWidgetItem(shownText(text), this);
            item->setToolTip(shownText(tip));
            if (muted) item->setForeground(Theme::current().muted);
        };
        for (const auto& line : m_lines) {
            m_rows.push_back(count());
            add(line.text, line.tip, line.muted);
            if (line.number == 0) continue;
            // The numbers behind it, in a line of their own that folds.
            add(line.more, line.moreTip, true);
            fold(line, !m_open.contains(line.number));
        }
        if (current < count()) setCurrentRow(current);
        return true;
    }
    void draw(FigureLines& lines) const override {
        const Theme& t = Theme::current();
        for (const auto& line : m_lines) {
            const auto number = QStringLiteral("%1. ").arg(line.number);
            lines.wrapped((line.number > 0 ? number : QString()) + shownText(line.text),
                          smallFont(), line.muted ? t.muted : t.text);
            if (m_open.contains(line.number)) lines.sentences(shownText(line.more), t.muted);
        }
        lines.y += 8;
    }

protected:
    void keyPressEvent(QKeyEvent* event) override {
        const bool folded = event->key() == Qt::Key_Left;
        const auto* line = lineAt(currentRow());
        if (!line || line->number == 0 || (!folded && event->key() != Qt::Key_Right))
            return QListWidget::keyPressEvent(event);
        if (folded) setCurrentRow(rowOf(*line));
        fold(*line, folded);
    }
    void mouseReleaseEvent(QMouseEvent* event) override {
        const auto at = event->position().toPoint();
        const auto* item = itemAt(at);
        const auto* line = item ? lineAt(row(item)) : nullptr;
        const int arrow = 2 * fontMetrics().horizontalAdvance(QChar(0x25B8)) + 8;
        if (!line || line->number == 0 || row(item) != rowOf(*line) ||
            at.x() >= visualItemRect(item).x() + arrow)
            return QListWidget::mouseReleaseEvent(event);
        fold(*line, m_open.contains(line->number));
    }

private:
    const Layout::Line* lineAt(int row) const {
        const auto after = std::upper_bound(m_rows.begin(), m_rows.end(), row);
        return after == m_rows.begin() ? nullptr
                                       : &m_lines[std::size_t(after - m_rows.begin() - 1)];
    }
    int rowOf(const Layout::Line& line) const {
        return m_rows[std::size_t(&line - m_lines.data())];
    }
    void fold(const Layout::Line& line, bool folded) {
        folded ? void(m_open.erase(line.number)) : void(m_open.insert(line.number));
        const QChar arrow = line.more.empty() ? u'\u2002' : folded ? u'\u25B8' : u'\u25BE';
        item(rowOf(line))
            ->setText(
                QStringLiteral("%1 %2. %3").arg(arrow).arg(line.number).arg(shownText(line.text)));
        item(rowOf(line) + 1)->setHidden(folded || line.more.empty());
        doItemsLayout();
    }

    Layout::List m_of;
    std::vector<Layout::Line> m_lines;
    std::vector<int> m_rows;  ///< of the list, by line
    std::set<int> m_open;     ///< numbers of the lines that are unfolded
};

class DeclaredView::Cells : public GridView, public Part {
public:
    Cells(const Layout::Grid& grid, DeclaredView* view)
        : Cells(grid, std::make_shared<ColorScale>(), view) {}
    bool fill(const Seen& seen, bool anew) override {
        if (anew) setPanels({});
        auto shown = made(m_of.panels, seen);
        m_most = m_of.least;
        for (const auto& panel : shown)
            for (int row = 0; isSigned() && row < std::ssize(panel.rows); ++row)
                for (int column = 0; column < std::ssize(panel.columns); ++column)
                    if (const double value = panel.cell(row, column).value; std::isfinite(value))
                        m_most = std::max(m_most, std::abs(value));
        restyle();
        setPanels(std::move(shown));
        const bool any = !panels().empty(), texts = m_of.style.texts && m_of.height == 0;
        if (any && m_of.begins && current().panel < 0) setCurrent(m_of.begins(seen));
        if (texts) setMaximumHeight(sizeHint().height());
        if (m_range) m_range->setVisible(any);
        m_hint = made(m_of.hint, seen);
        if (m_footer) m_footer->setText(m_hint);
        return any || !texts;
    }
    void draw(FigureLines& lines) const override {
        if (panels().empty()) return;
        if (m_range) {
            const int below = std::exchange(lines.y, FigureLines::kMargin / 2);
            lines.part(0, [&](QPainter& painter) {
                drawProbabilityScale(painter, QRect(16, 0, lines.width - 32, 20));
            });
            lines.y = below;
        }
        lines.grid(laidOut());
        if (!m_of.below.empty()) {
            lines.y += 8;
            lines.wrapped(shownText(m_of.below), captionFont(), Theme::current().muted);
        }
        if (m_bar && m_of.height == 0) lines.bar(*m_scale, m_bar->caption());
    }
    void restyle() override {
        const auto limit = static_cast<float>(m_most > 0 ? m_most : 1.0);
        *m_scale = ColorScale(ColorScale::Kind::Signed, {-limit, limit}, Theme::current());
        if (m_bar) m_bar->setScale(*m_scale);
    }
    int figureWidth() const override { return m_of.widens ? laidOut().size().width() : 0; }
    GridPlace chosen() const override { return current(); }

private:
    Cells(const Layout::Grid& grid, const std::shared_ptr<ColorScale>& scale, DeclaredView* view)
        : GridView(grid.style, fillOf(grid.tint, scale), shownText(grid.name), view),
          Part(this),
          m_of(grid),
          m_scale(scale) {
        if (grid.height > 0) setFixedHeight(grid.height);
        if (grid.style.texts && !isSigned())
            view->head()->addLeftControl(m_range = new TintScale(view));
        if (!grid.caption.empty()) {
            m_bar = new ColorBar(view);
            m_bar->setCaption(shownText(grid.caption));
        }
        if (grid.hint) m_footer = view->addFooter(m_bar);
        if (grid.numbers) m_footer->setFont(numberFont(12));
        connect(this, &GridView::hovered, view, [this](const GridPlace& at) { point(at); });
        connect(this, &GridView::chosen, view, [this, view](const GridPlace& at) {
            point(at);
            view->choose(this, at);
            if (m_of.request) view->ask(m_of.request(view->seen()));
        });
    }
    bool isSigned() const { return m_of.tint == Layout::Tint::Signed; }
    void point(const GridPlace& at) {
        const QString said = text(at.panel < 0 ? current() : at);
        if (m_footer) m_footer->setText(said.isEmpty() ? m_hint : said);
        if (!m_bar) return;
        const auto panel = std::size_t(at.panel);
        m_bar->setMark(at.panel < 0 ? std::nanf("")
                                    : float(panels()[panel].cell(at.row, at.column).value));
    }
    /// As in a figure, which has texts in bands below each other.
    GridPicture laidOut() const {
        GridPicture laid = picture();
        const bool bands = m_of.style.texts && m_of.height == 0 && !panels().empty();
        laid.fit(bands ? 0 : m_of.widest);
        if (!bands) return laid;
        const auto& whole = panels().front();
        const auto cell = std::max(1, laid.cellRect({0, 0, 0}).width());
        const auto most = static_cast<std::size_t>(std::max(4, m_of.widest / cell));
        std::vector<GridPanel> all;
        for (std::size_t first = 0; first < whole.columns.size(); first += most)
            all.push_back(core::bandOf(whole, first, std::min(most, whole.columns.size() - first)));
        laid.setPanels(std::move(all));
        laid.fit(0);
        return laid;
    }

    Layout::Grid m_of;
    std::shared_ptr<ColorScale> m_scale;
    QWidget* m_range = nullptr;
    ColorBar* m_bar = nullptr;
    ElidedLabel* m_footer = nullptr;
    QString m_hint;
    double m_most = 0.0;  ///< the largest magnitude
};

class DeclaredView::TableChoice : public QWidget, public Part {
public:
    TableChoice(const Layout::Tables& tables, DeclaredView* view)
        : QWidget(view), Part(this), m_of(tables), m_view(view) {
        const QString name = tables.name.empty() ? view->accessibleName() : shownText(tables.name);
        m_table = new TableView(name, this);
        m_grid = new GridView(kSquare, fillOf(Layout::Tint::Signed, m_scale), name, this);
        m_choice->setAccessibleName(QStringLiteral("Table"));
        m_title->setContentsMargins(16, 8, 16, 0);
        m_title->setTextFormat(Qt::PlainText);
        m_title->setVisible(bool(tables.title));
        auto* lines = columnOf(this, {tables.inset, 0, tables.inset, 0});
        auto* above = new QWidget(this);
        rowOf(above, {8 - tables.inset, 6, 8 - tables.inset, 6})
            ->addWidget(m_choice, 0, Qt::AlignLeft);
        lines->addWidget(above);
        lines->addWidget(m_title);
        lines->addWidget(m_table, 1);
        lines->addWidget(m_grid, 1);
        connect(m_choice, &SegmentedControl::changed, this, &TableChoice::showOne);
        connect(m_table, &TableView::rowChosen, view, [this](int row) {
            m_view->choose(this, {0, row});
            m_view->ask(core::requestOf(m_table->table(), row));
        });
    }
    bool fill(const Seen& seen, bool) override {
        const auto before = std::exchange(m_tables, made(m_of.tables, seen));
        m_title->setText(made(m_of.title, seen));
        if (!std::equal(before.begin(), before.end(), m_tables.begin(), m_tables.end(),
                        [](const Table& a, const Table& b) { return a.key == b.key; })) {
            QStringList titles;
            for (const auto& table : m_tables)
                titles << shownText(table.title.empty() ? table.key : table.title);
            m_choice->setItems(titles);
            m_choice->setCurrent(0);
        }
        m_choice->parentWidget()->setVisible(m_tables.size() > 1);
        showOne();
        return !m_tables.empty();
    }
    int figureWidth() const override {
        int width = 0;
        for (const auto& of : drawnTables()) {
            if (core::isSquare(of)) continue;
            TableView table({});
            table.setTable(of, m_view->answer().pictures);
            width = std::max(width, table.figureWidth());
        }
        return width;
    }
    void draw(FigureLines& lines) const override {
        const Theme& t = Theme::current();
        if (m_of.title) lines.sentences(m_title->text(), t.text);
        const auto drawn = drawnTables();
        for (const auto& of : drawn) {
            if (drawn.size() > 1) lines.sentences(shownText(of.title), t.muted);
            if (core::isSquare(of)) {
                const auto scale = std::make_shared<ColorScale>();
                GridPicture grid(kSquare, fillOf(Layout::Tint::Signed, scale));
                grid.setPanels({core::squareOf(of)});
                grid.fit(kWidestSquare);
                lines.grid(grid);
            } else if (m_of.sorted && m_tables.size() == 1) {
                lines.table(*m_table, m_of.most);
            } else {
                TableView table({});
                table.setTable(of, m_view->answer().pictures);
                lines.table(table, m_of.most);
            }
            lines.y += 12;
        }
    }
    GridPlace chosen() const override {
        return {0, m_of.first && m_table->table().rows() > 0 ? 0 : -1};
    }

private:
    static constexpr GridStyle kSquare = {
        .leastCell = 14, .mostCell = 64, .rowHeight = 18, .numbersFrom = 52, .mostUpright = 130};
    std::vector<Table> drawnTables() const {
        auto drawn = m_tables;
        if (m_of.inFigure)
            std::erase_if(drawn, [&](const Table& one) { return !m_of.inFigure(one); });
        return drawn;
    }
    void showOne() {
        const auto at = static_cast<std::size_t>(std::max(0, m_choice->current()));
        const Table table = at < m_tables.size() ? m_tables[at] : Table();
        const bool square = core::isSquare(table);
        *m_scale = ColorScale();  // the theme may be another
        m_table->setVisible(!square);
        m_grid->setVisible(square);
        m_grid->setPanels(square ? std::vector{core::squareOf(table)} : std::vector<GridPanel>());
        m_table->setTable(square ? Table() : table, m_view->answer().pictures);
    }

    Layout::Tables m_of;
    DeclaredView* m_view;
    std::vector<Table> m_tables;
    SegmentedControl* m_choice = new SegmentedControl(this);
    QLabel* m_title = mutedLabel({}, this);
    TableView* m_table;
    GridView* m_grid;  ///< in place of the table where its columns are named as its rows
    std::shared_ptr<ColorScale> m_scale = std::make_shared<ColorScale>();
};

class DeclaredView::Bars : public Area, public Part {
public:
    Bars(const Layout::Shares& shares, DeclaredView* view)
        : Area(view),
          Part(this),
          m_of(shares),
          m_says(new QLabel(this)),
          m_bars(new ShareBars(this)) {
        auto* above = new QWidget(this);
        m_says->setFont(smallFont());
        auto* lines = columnOf(above);
        lines->addWidget(m_says);
        lines->addWidget(m_bars);
        lines->addStretch(1);
        paintOnPanelColour(above);
        hold(above, *m_says);
    }
    bool fill(const Seen& seen, bool) override {
        std::vector<ShareBar> bars;
        for (const auto& table : seen.answer.tables)
            if (table.find("share") && table.rows() > 0) bars.push_back(shareBarOf(table));
        m_says->setText(made(m_of.text, seen));
        m_bars->setBars(std::move(bars));
        updateGeometry();
        return true;
    }
    void draw(FigureLines& lines) const override {
        lines.part(m_bars->paint(nullptr, lines.width),
                   [&](QPainter& painter) { m_bars->paint(&painter, lines.width); });
    }

private:
    Layout::Shares m_of;
    QLabel* m_says;
    ShareBars* m_bars;
};

class DeclaredView::Curve : public PlotView, public Part {
public:
    Curve(const Layout::Curve& curve, DeclaredView* view)
        : PlotView(shownText(curve.name), view), Part(this), m_of(curve) {
        setMinimumHeight(curve.height);
        if (m_of.request) QWidget::setCursor(Qt::PointingHandCursor);
        connect(this, &PlotView::chosen, view, [this, view](int at) {
            setCursor(m_x[static_cast<std::size_t>(at)]);
            view->choose(this, {0, at});
            if (m_of.request) view->ask(m_of.request(view->seen(), at));
        });
    }
    bool fill(const Seen& seen, bool) override {
        auto shown = made<Layout::Curve::Shown>(m_of.curve, seen);
        PlotData data;
        data.x = m_x = shown.x;
        for (auto& line : shown.lines)
            data.lines.push_back(
                {std::move(line.y), shownText(line.name), line.dashed, line.muted});
        data.title = shownText(shown.title);
        data.yTitle = shownText(shown.yTitle), data.xTitle = shownText(shown.xTitle);
        data.range = shown.range;
        QStringList places;
        for (const auto& place : shown.places) places << shownText(place);
        data.description = places.join(QStringLiteral("; "));
        data.text = [places](int at) { return places.value(at); };
        setData(std::move(data));
        m_current = shown.current;
        setCursor(m_current < 0 ? std::nullopt
                                : std::optional(m_x[static_cast<std::size_t>(m_current)]));
        return m_x.size() > 1;
    }
    void draw(FigureLines& lines) const override {
        if (m_x.size() < 2) return;
        lines.part(m_of.height + 50, [&](QPainter& painter) {
            paintFigure(painter, 0, {lines.width, m_of.height + 42});
        });
    }
    GridPlace chosen() const override { return {0, m_current}; }

private:
    Layout::Curve m_of;
    std::vector<double> m_x;
    int m_current = -1;
};

DeclaredView::Part* DeclaredView::makePart(const Layout::Element& element) {
    struct Maker {
        DeclaredView* view;
        Part* operator()(const Layout::Says& of) const { return new Sentences(of, view); }
        Part* operator()(const Layout::List& of) const { return new LineList(of, view); }
        Part* operator()(const Layout::Grid& of) const { return new Cells(of, view); }
        Part* operator()(const Layout::Tables& of) const { return new TableChoice(of, view); }
        Part* operator()(const Layout::Shares& of) const { return new Bars(of, view); }
        Part* operator()(const Layout::Curve& of) const { return new Curve(of, view); }
    };
    return std::visit(Maker{this}, element.shows);
}

}  // namespace relascope::widgets
