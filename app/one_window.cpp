// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <utility>

#include <QApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QGuiApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QStandardPaths>
#include <QThread>
#include <QWidget>
#include <QWindow>

#include "app/app_context.h"
#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/one_window.h"
#include "app/opener.h"
#include "types/error.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope::app {
namespace {

constexpr qsizetype kLongestPath = 16384, kLongestToken = 1024;

bool isToken(const QByteArray& token) {
    return token.size() <= kLongestToken &&
           std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool isPath(const QString& path) {
    return !path.isEmpty() && path.size() <= kLongestPath && QDir::isAbsolutePath(path) &&
           !path.startsWith(u':') && !path.contains(QChar(u'\0'));
}

}  // namespace

QByteArray encoded(const Handover& handover) {
    QJsonObject object{{"open", QJsonArray::fromStringList(handover.paths)}};
    if (isToken(handover.activation))
        object.insert("activation", QString::fromLatin1(handover.activation));
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

std::optional<Handover> decodedHandover(const QByteArray& line) {
    if (line.size() > kLongestHandover || !line.endsWith('\n')) return std::nullopt;
    const QJsonDocument document = QJsonDocument::fromJson(line);
    if (!document.isObject() || !document.object().value("open").isArray()) return std::nullopt;
    const QJsonArray open = document.object().value("open").toArray();
    if (open.size() > kMostPaths) return std::nullopt;
    Handover handover;
    for (const auto& path : open) {
        if (!isPath(path.toString())) return std::nullopt;
        handover.paths << path.toString();
    }
    const QByteArray token = document.object().value("activation").toString().toUtf8();
    if (isToken(token)) handover.activation = token;
    return handover;
}

namespace {

constexpr int kLookAgainMs = 200;

// While a dialog is open the pages must not change.
void openWithoutDialog(MainWindow& window, const QStringList& paths, bool said = false) {
    if (QApplication::activeModalWidget()) {
        if (!said)
            window.controllers().messages.info(
                QStringLiteral("The files of the second start are opened when the dialog is "
                               "closed"));
        later(kLookAgainMs, &window, [&window, paths] { openWithoutDialog(window, paths, true); });
        return;
    }
    // The tour covers the window.
    if (auto* tour = window.findChild<widgets::TourOverlay*>()) tour->end();
    window.opener().openAll(paths);
}

}  // namespace

void serveOtherStarts(MainWindow& window, OneWindow& others) {
    QObject::connect(&others, &OneWindow::asked, &window, [&window](const Handover& handover) {
        bringToFront(window, handover.activation);
        if (!handover.paths.isEmpty()) return openWithoutDialog(window, handover.paths);
        window.controllers().messages.info(QStringLiteral(
            "Relascope was open already: this is its window. --new-instance opens another one."));
    });
    QObject::connect(&window, &MainWindow::closing, &others, &OneWindow::close);
}

namespace {

constexpr int kMostGuests = 16;
constexpr int kGuestMs = 10000;  ///< a guest that sends nothing is disconnected after this time

/// Whether the process at the other end belongs to this user.
bool isOwn(const QLocalSocket& socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(static_cast<int>(socket.socketDescriptor()), SOL_SOCKET, SO_PEERCRED, &peer,
                        &size) == 0 &&
           peer.uid == ::getuid();
}

/// A line with its newline; empty if the line does not arrive in time.
QByteArray lineOf(QLocalSocket& socket, int milliseconds) {
    QElapsedTimer clock;
    clock.start();
    while (!socket.canReadLine()) {
        const int left = milliseconds - static_cast<int>(clock.elapsed());
        if (left <= 0 || !socket.waitForReadyRead(left)) {
            if (socket.canReadLine()) break;
            return {};
        }
    }
    return socket.readLine(256);
}

/// The name of the display without a screen: ":0.0" and ":0" are the same display.
QByteArray displayName() {
    const QString platform = QGuiApplication::platformName();
    if (platform.startsWith(QLatin1String("wayland"))) return qgetenv("WAYLAND_DISPLAY");
    if (platform != QLatin1String("xcb")) return {};
    QByteArray name = qgetenv("DISPLAY");
    const auto colon = name.lastIndexOf(':'), dot = name.lastIndexOf('.');
    return colon >= 0 && dot > colon ? name.left(dot) : name;
}

}  // namespace

OneWindow::OneWindow(const QString& place, QObject* parent) : QObject(parent), m_place(place) {
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    m_server.setMaxPendingConnections(kMostGuests);
    connect(&m_server, &QLocalServer::newConnection, this, &OneWindow::greet);
}

OneWindow::~OneWindow() {
    close();
}

OneWindow::Answer OneWindow::handOver(const Handover& handover,
                                      std::chrono::milliseconds patience) const {
    const int wait = static_cast<int>(patience.count());
    QLocalSocket socket;
    socket.connectToServer(socketPath());
    if (!socket.waitForConnected(wait)) return Answer::Nobody;
    if (!isOwn(socket)) return Answer::Nobody;
    // The window sends the first line, so that a hanging window receives no files that it would
    // open much later.
    if (lineOf(socket, wait) != kGreeting) return Answer::Silent;
    socket.write(encoded(handover));
    return lineOf(socket, wait) == kTaken ? Answer::Taken : Answer::Silent;
}

bool OneWindow::listen() {
    if (listening()) return true;
    try {
        core::FileLock lock(lockPath().toStdString());
        if (!lock.held()) return false;
        QLocalServer::removeServer(socketPath());
        if (!m_server.listen(socketPath())) return false;
        m_lock = std::move(lock);
        return true;
    } catch (const Error&) {
        return false;  // the folder is full or cannot be written: each start gets its own window
    }
}

void OneWindow::close() {
    m_server.close();
    m_lock = core::FileLock();
}

void OneWindow::greet() {
    while (QLocalSocket* guest = m_server.nextPendingConnection()) {
        connect(guest, &QLocalSocket::disconnected, guest, &QObject::deleteLater);
        if (!isOwn(*guest) || m_server.findChildren<QLocalSocket*>().size() > kMostGuests) {
            guest->abort();
            guest->deleteLater();
            continue;
        }
        guest->setReadBufferSize(kLongestHandover);
        connect(guest, &QLocalSocket::readyRead, this, [this, guest] { read(guest); });
        later(kGuestMs, guest, [guest] { guest->abort(); });
        guest->write(kGreeting);
    }
}

void OneWindow::read(QLocalSocket* guest) {
    const bool whole = guest->canReadLine();
    // The rest of the line has not arrived.
    if (!whole && guest->bytesAvailable() < kLongestHandover) return;
    const auto handover =
        whole ? decodedHandover(guest->readLine(kLongestHandover + 1)) : std::nullopt;
    // A guest can hand over only once.
    disconnect(guest, &QLocalSocket::readyRead, this, nullptr);
    guest->write(handover ? kTaken : kRefused);
    guest->disconnectFromServer();
    if (handover) Q_EMIT asked(*handover);
}

QString windowPlace() {
    const QByteArray display = displayName();
    if (display.isEmpty()) return {};
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation);
    const QFileInfo info(folder);
    const auto others = QFileDevice::ReadGroup | QFileDevice::WriteGroup | QFileDevice::ReadOther |
                        QFileDevice::WriteOther | QFileDevice::ExeOther | QFileDevice::ExeGroup;
    if (folder.isEmpty() || !info.isDir() || info.ownerId() != ::getuid() ||
        (info.permissions() & others))
        return {};
    // Starts with another folder of runs or other settings use another window.
    QCryptographicHash hash(QCryptographicHash::Sha256);
    for (const QByteArray& part : {display, qgetenv("RELASCOPE_RUNS"), qgetenv("RELASCOPE_STUDIES"),
                                   qgetenv("XDG_CONFIG_HOME"), qgetenv("HOME")}) {
        hash.addData(part);
        hash.addData(QByteArrayView("\0", 1));
    }
    return folder + QStringLiteral("/relascope-") +
           QString::fromLatin1(hash.result().toHex().left(16));
}

SecondStart handOverOrListen(OneWindow& window, const Handover& handover,
                             std::chrono::milliseconds patience) {
    QElapsedTimer clock;
    clock.start();
    for (;;) {
        const auto answer = window.handOver(handover, patience);
        if (answer == OneWindow::Answer::Taken) return {true, {}};
        if (answer == OneWindow::Answer::Nobody && window.listen()) return {};
        // A window that has just taken the lock will listen in a moment.
        if (answer == OneWindow::Answer::Nobody && clock.elapsed() < 1000 &&
            QFileInfo::exists(window.lockPath())) {
            QThread::msleep(20);
            continue;
        }
        if (answer == OneWindow::Answer::Silent)
            return {false, QStringLiteral("The window that is open does not answer; this is "
                                          "another one")};
        return {};
    }
}

void bringToFront(QWidget& window, const QByteArray& activation) {
    const QString platform = QGuiApplication::platformName();
    // Qt uses the token for the next activation, and removes it from the environment.
    if (platform.startsWith(QLatin1String("wayland")) && !activation.isEmpty())
        qputenv("XDG_ACTIVATION_TOKEN", activation);
    window.setWindowState(window.windowState() & ~Qt::WindowMinimized);
    window.show();
    window.raise();
    // Window managers on X11 let a window take the focus if its last event is newer than the
    // last input of the user. Setting any property of the window makes such an event.
    if (platform == QLatin1String("xcb") && window.windowHandle())
        window.windowHandle()->setTitle(window.windowHandle()->title());
    later(platform == QLatin1String("xcb") ? 50 : 0, &window,
          [&window] { window.activateWindow(); });
}

}  // namespace relascope::app
