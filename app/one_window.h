// SPDX-License-Identifier: GPL-3.0-or-later
// One window per user and display: a second start hands its files to the window that is open.
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

// The message of a second start of the program to the window that is open: one line of JSON, sent
// after the greeting of the window, which says the version that it understands.

struct Handover {
    QStringList paths;      ///< absolute; none: the window is only shown
    QByteArray activation;  ///< XDG_ACTIVATION_TOKEN or DESKTOP_STARTUP_ID; may be empty

    bool operator==(const Handover&) const = default;
};

/// The window's first line, and its answers to a handover.
inline constexpr char kGreeting[] = "relascope-window 1\n";
inline constexpr char kTaken[] = "taken\n";
inline constexpr char kRefused[] = "refused\n";

constexpr qsizetype kLongestHandover = 1 << 20;  ///< bytes, with the newline
constexpr qsizetype kMostPaths = 1000;

/// The handover as a line that ends with '\n'.
QByteArray encoded(const Handover& handover);
/// Parses a line. Returns nullopt if it is no handover: too long, not JSON, or with paths that are
/// not absolute, contain a NUL or are too many.
std::optional<Handover> decodedHandover(const QByteArray& line);

// What the window does when the program is started again.

class MainWindow;
class OneWindow;

/// Brings the window to the front and opens the files that other starts hand over, once no dialog
/// is open. A window that closes takes no more files.
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
        Taken,   ///< the window opens the files
        Nobody,  ///< there is no window
        Silent,  ///< there is a window, which did not answer or has another version
    };
    /// Hands over to the window that is open; waits for each of its answers for at most `patience`.
    Answer handOver(const Handover& handover, std::chrono::milliseconds patience) const;

    /// Becomes the window that other starts hand their files to. Returns false if another process
    /// is that window, or on an error. Files that a killed process has left are replaced.
    bool listen();
    /// Stops listening: other starts open a window of their own from now on.
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

/// The path of the socket, without its ending, for this user, this display and these folders of
/// runs. Empty without a display, or without a folder that only this user may enter.
QString windowPlace();

/// The outcome of OneWindow::handOver() and listen() for a start of the program.
struct SecondStart {
    bool ends = false;  ///< this start ends, as the open window has taken the files
    QString complaint;  ///< a sentence if a window is open but does not answer
};
/// Hands over to an open window, or makes `window` the one that other starts hand their files to.
SecondStart handOverOrListen(OneWindow& window, const Handover& handover,
                             std::chrono::milliseconds patience = std::chrono::seconds(4));

/// Brings a window to the front, also from being minimised. `activation` lets it take the focus
/// where the desktop asks for a reason.
void bringToFront(QWidget& window, const QByteArray& activation);

}  // namespace relascope::app
