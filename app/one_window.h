// SPDX-License-Identifier: GPL-3.0-or-later
// One window a user and display: a second start hands its files to the window that is open.
#pragma once

#include <chrono>
#include <optional>

#include <QByteArray>
#include <QLocalServer>
#include <QObject>
#include <QString>
#include <QStringList>

#include "files/file_lock.h"

namespace relascope::app {

// What a second start of the program says to the window that is open: one line of JSON, after the
// window has greeted it with the version that it understands.

struct Handover {
    QStringList paths;      ///< absolute; none: the window is only shown
    QByteArray activation;  ///< XDG_ACTIVATION_TOKEN or DESKTOP_STARTUP_ID; may be empty

    bool operator==(const Handover&) const = default;
};

/// The window's first line, and its answers to a handover.
inline constexpr char kGreeting[] = "relascope-window 1\n";
inline constexpr char kTaken[] = "taken\n";
inline constexpr char kRefused[] = "refused\n";

constexpr qsizetype kLongestHandover = 1 << 20;  ///< bytes with the line's end
constexpr qsizetype kMostPaths = 1000;

/// One line that ends with '\n'.
QByteArray encoded(const Handover& handover);
/// Nothing for a line that is no handover: too long, not JSON, paths that are not absolute, hold a
/// NUL or are too many.
std::optional<Handover> decodedHandover(const QByteArray& line);

// What the window does when the program is started again.

class MainWindow;
class OneWindow;

/// Comes to the front and opens the files, once no dialog asks for an answer. A window that closes
/// takes no more.
void serveOtherStarts(MainWindow& window, OneWindow& others);

}  // namespace relascope::app

class QLocalSocket;
class QWidget;

namespace relascope::app {

class OneWindow : public QObject {
    Q_OBJECT
public:
    /// `place`: the path of the socket, without its ending; see windowPlace().
    explicit OneWindow(const QString& place, QObject* parent = nullptr);
    ~OneWindow() override;

    enum class Answer {
        Taken,   ///< the window opens them
        Nobody,  ///< there is no window
        Silent,  ///< there is one, which did not answer or is of another version
    };
    /// Hands over to the window that is open; waits for its answers, each no longer than
    /// `patience`.
    Answer handOver(const Handover& handover, std::chrono::milliseconds patience) const;

    /// Becomes the window that others hand their files to, unless another process is. What a killed
    /// process has left does not count.
    bool listen();
    /// Others start a window of their own from now on.
    void close();
    bool listening() const { return m_server.isListening(); }

    QString socketPath() const { return m_place + QStringLiteral(".socket"); }
    QString lockPath() const { return m_place + QStringLiteral(".lock"); }

Q_SIGNALS:
    void asked(const relascope::app::Handover& handover);

private:
    void greet();
    void read(QLocalSocket* socket);

    QString m_place;
    QLocalServer m_server;
    core::FileLock m_lock;
};

/// Where the windows of this user, this display and these folders of runs meet; empty where none
/// can meet: without a display, or without a folder that only this user may enter.
QString windowPlace();

/// What OneWindow::handOver() and listen() make of a start.
struct SecondStart {
    bool ends = false;  ///< the files have been taken
    QString complaint;  ///< a sentence if a window is open but does not answer
};
/// Hands over, or makes `window` the one that others hand to.
SecondStart handOverOrListen(OneWindow& window, const Handover& handover,
                             std::chrono::milliseconds patience = std::chrono::seconds(4));

/// Brings a window to the front, also from being minimised. `activation` lets it take the focus
/// where the desktop asks for a reason.
void bringToFront(QWidget& window, const QByteArray& activation);

}  // namespace relascope::app
