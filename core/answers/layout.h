// SPDX-License-Identifier: GPL-3.0-or-later
// How an answer is arranged in the window and in figures: elements from the top down, each a widget
// of widgets/kit that shows what its functions make of the answer. An analysis declares its layout
// (Analysis::layout), and widgets/analysis/declared_view builds itself from it. Names and texts may
// be any bytes, sizes are in px. The functions throw Error for an answer that lacks what they show,
// and are not called for one without tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "types/along.h"
#include "types/answer.h"
#include "types/edit.h"
#include "types/field.h"
#include "types/grid.h"

namespace relascope::core {

/// An answer, and what is chosen in the elements.
struct Seen {
    const Answer& answer;
    std::vector<GridPlace> chosen = {};  ///< chosen cells, by the number of the element
};
template <class What>
using Of = std::function<What(const Seen&)>;

// What a click, Enter or a button asks the window for: a map, or one of these.
struct ExampleRequest {
    std::int64_t example = -1;
    MapCell cell = {};
};
struct TextsRequest {
    std::string text, second;
};
struct PositionRequest {
    std::int64_t position = 0;
};
/// Edits that join those of the inspector; `what` says so in its history.
struct EditsRequest {
    std::vector<Edit> edits;
    std::string what;
};
/// An option of the analysis, for the next time that it is asked.
struct OptionRequest {
    std::string name;
    FieldValue value;
};
using Request = std::variant<std::monostate, MapLink, ExampleRequest, TextsRequest, PositionRequest,
                             EditsRequest, OptionRequest>;

/// What a row of a table leads to: the example of its column "example", where it has a cell or a
/// column "position", else its map.
Request requestOf(const Table& table, int row);

struct Layout {
    /// Sentences in a label, one a line. Hidden without any.
    struct Says {
        Of<std::string> text;
        Of<std::string> name = {};  ///< name for screen readers, as in the others
        int least = 40;             ///< least height, px
    };
    struct Line {
        std::string text, tip = {};
        bool muted = false;
        Request request = {};
        int number = 0;                       ///< number before the text; 0: none
        std::string more = {}, moreTip = {};  ///< text that folds below a numbered line
    };
    struct List {
        std::string name;
        Of<std::vector<Line>> lines;
    };
    enum class Tint {
        Signed,      ///< around zero, to the largest magnitude
        Likelihood,  ///< 0 to 1, as likely tokens
        Alike        ///< 0 to 1, as maps from zero
    };
    struct Grid {
        std::string name;
        Of<std::vector<GridPanel>> panels;
        GridStyle style = {};
        Tint tint = Tint::Signed;
        double least = 0.0;        ///< Tint::Signed: the least end of the colours
        std::string caption = {};  ///< caption of a colour bar; empty: no bar
        /// Text in a line below all, as long as the pointer is on no cell. Empty: there is no line.
        Of<std::string> hint = {};
        bool numbers = false;       ///< the hint is about numbers
        Of<GridPlace> begins = {};  ///< the cell that is current at first
        Of<Request> request = {};   ///< request of the chosen cell
        int height = 0;             ///< 0: as much as there is room for
        int widest = 900;           ///< greatest width in figures
        bool widens = false;        ///< figures are as wide as it is
        std::string below = {};     ///< a sentence below it in figures
    };
    /// Tables, one at a time. One whose columns are named as its rows is a grid of tinted cells.
    struct Tables {
        std::string name;  ///< empty: the title of the analysis
        Of<std::vector<Table>> tables;
        Of<std::string> title = {};  ///< a muted line above
        bool first = false;          ///< the first row counts as chosen until another one is
        int inset = 0;               ///< space at its sides
        int most = 40;               ///< most rows in figures
        bool sorted = true;          ///< figures have the rows as the user has sorted them
        /// Which tables figures have, with titles if they are many. Null: all.
        bool (*inFigure)(const Table&) = nullptr;
    };
    /// Bars of the shares of each table with a column "share", below a text.
    struct Shares {
        Of<std::string> text;
    };
    /// Lines over common places on an axis. Hidden with fewer than two places.
    struct Curve {
        struct Line {
            std::string name;       ///< name in the legend; empty: not named
            std::vector<double> y;  ///< one for each place; NaN: nothing is there
            bool dashed = false, muted = false;
        };
        struct Shown {
            std::string title, xTitle, yTitle;  ///< the last two in figures
            std::vector<double> x;              ///< the places, rising
            std::vector<std::string> places;    ///< the places, each in a sentence
            std::vector<Line> lines;
            int current = -1;  ///< the place with the cursor at first; -1: none
            std::optional<std::pair<double, double>> range = {};  ///< values always inside
        };
        std::string name;
        Of<Shown> curve;
        std::function<Request(const Seen&, int place)> request = {};  ///< request of a click or key
        int height = 180;
    };
    enum class Place { Everywhere, Window, Figure };
    struct Element {
        std::variant<Says, List, Grid, Tables, Shares, Curve> shows;
        int stretch = 0;
        Place place = Place::Everywhere;
    };
    /// A line at the top of figures.
    struct Heading {
        enum { Title, Text, Note } kind = Title;
        std::string text;
    };
    /// A button in the head of the view, shown as long as it has a request.
    struct Button {
        std::string text, tip;
        Of<Request> request;
    };

    Of<std::string> about;  ///< muted text behind the title
    std::vector<Element> elements = {};
    std::string empty = "Not measured.";  ///< text without an answer
    std::string file = {};  ///< name that is suggested for files; empty: the analysis'
    Of<std::vector<Heading>> heads = {};  ///< lines above figures; empty: the title, and `about`
    int figureWidth = 1000;
    enum { Below, Across, Down } split = Below;  ///< in the last two the user divides the room
    bool ruled = true;                           ///< a line between two elements
    Button button = {};
};

/// The layout of an analysis that declares none: the answer's values, sentences and tables.
Layout tablesLayout();
/// The sentences of an answer: of its tables of one column of texts.
Layout::Says shownSentences();
/// The other tables that people see.
std::vector<Table> shownTables(const Seen& seen);
/// Whether a table is a square of numbers, and its panel.
bool isSquare(const Table& table);
GridPanel squareOf(const Table& table);
/// Columns `first` to `first + count` of a panel, without its texts.
GridPanel bandOf(const GridPanel& whole, std::size_t first, std::size_t count);

}  // namespace relascope::core
