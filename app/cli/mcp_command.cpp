// SPDX-License-Identifier: GPL-3.0-or-later
// mcp: answers questions of agents by the Model Context Protocol (versions 2024-11-05 to
// 2025-11-25) on standard input and output: JSON-RPC 2.0, a message a line. A tool is a command
// that is a question (mcp_tools.h). Nothing is written but results that are kept beside their run,
// as by a window, and what --write allows.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/mcp_resources.h"
#include "app/cli/mcp_tools.h"
#include "options/builtin_resources.h"
#include "train/devices.h"
#include "types/error.h"
#include "wire/served_link.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::chrono::milliseconds kBetweenProgress(250);
constexpr double kLeastProgress = 1e-6;
// Codes of JSON-RPC 2.0.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601,
              kInvalidParameters = -32602;
constexpr int kBusy = -32000, kUnknownResource = -32002;  // codes of servers, and of this protocol
constexpr int kDeepest = 64;
constexpr std::size_t kMostLine = 8U << 20U, kMostCalls = 64;
constexpr const char* kInstructions =
    "Measures trained relational Transformers and other Transformers: what their heads and "
    "relations "
    "answer, and what they are needed for. The example run and the runs of the user are resources; "
    "their descriptions name the path that tools take. A sentence about a model may claim what the "
    "numbers beside it show, and no more: quote it with its interval, with the range of untrained "
    "models beside it, and with the command that gives it again, which is the last line of an "
    "answer. 'Undecided' and 'cannot be said' are answers. Numbers of one run are of one seed.";

/// A request that cannot be answered.
struct RpcError {
    int code;
    std::string message;
};

struct McpArguments {
    std::string write, runs;
};

/// Whether a value can be the id of a request or the token of its progress.
bool isIdentifier(const Json& value) {
    return value.is_number_integer() ||
           (value.is_string() && value.get_ref<const std::string&>().size() < 1000);
}

/// Whether brackets outside of texts are nested deeper than kDeepest: who writes them out again
/// goes as deep.
bool isDeep(const std::string& line) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (quoted && c == '\\')
            ++k;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{') && ++depth > kDeepest)
            return true;
        else if (!quoted && (c == ']' || c == '}'))
            --depth;
    }
    return false;
}

/// The lines of a file descriptor, each with at most kMostLine bytes.
class LineReader {
public:
    explicit LineReader(int in) : m_in(in), m_buffer(1U << 16U) {}

    /// The next line; nothing at the end. `whole`: false for one that was longer, of which the rest
    /// is left out.
    std::optional<std::string> next(bool& whole) {
        std::string line;
        whole = true;
        for (;;) {
            while (m_at < m_end) {
                const auto* begin = m_buffer.data() + m_at;
                const auto* end = static_cast<const char*>(std::memchr(begin, '\n', m_end - m_at));
                const auto count = end ? static_cast<std::size_t>(end - begin) : m_end - m_at;
                if (line.size() + count > kMostLine)
                    whole = false;
                else
                    line.append(begin, count);
                m_at += count + (end ? 1 : 0);
                if (end) return line;
            }
            const auto got = ::read(m_in, m_buffer.data(), m_buffer.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return std::nullopt;  // half a line is no message
            m_at = 0, m_end = static_cast<std::size_t>(got);
        }
    }

private:
    int m_in;
    std::vector<char> m_buffer;
    std::size_t m_at = 0, m_end = 0;
};

/// One tool call, waiting or running.
struct ToolCall {
    Json id, progressToken;
    std::string tool;
    Json arguments;
    std::stop_source stop = {};
};

class McpServer {
public:
    McpServer(int out, const McpArguments& given)
        : m_tools(given.write), m_resources(given.runs), m_out(out), m_worker([this] { work(); }) {}
    ~McpServer() {
        {
            const std::lock_guard lock(m_mutex);
            m_ended = true;
            for (auto& call : m_calls) call->stop.request_stop();
            m_calls.resize(std::min<std::size_t>(m_calls.size(), m_running ? 1 : 0));
        }
        m_wake.notify_all();
        m_worker.join();
    }
    McpServer(const McpServer&) = delete;
    McpServer& operator=(const McpServer&) = delete;

    void take(const std::string& line) {
        if (isDeep(line))
            return refuse(nullptr, {kParseError, "is nested deeper than " +
                                                     std::to_string(kDeepest) + " levels"});
        const auto message = Json::parse(line, nullptr, false);
        if (message.is_discarded()) return refuse(nullptr, {kParseError, "is no JSON"});
        auto id = message.is_object() ? message.value("id", Json()) : Json();
        if (!id.is_null() && !isIdentifier(id))
            return refuse(nullptr,
                          {kInvalidRequest, "the id is neither a text nor a whole number"});
        if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" ||
            !message.value("method", Json()).is_string())
            return refuse(id, {kInvalidRequest,
                               "a message is one object a line, with \"jsonrpc\": \"2.0\" and a "
                               "method"});
        const auto method = message["method"].get<std::string>();
        const auto parameters = message.value("params", Json::object());
        try {
            if (!parameters.is_object())
                throw RpcError{kInvalidParameters, "the parameters are no object"};
            if (id.is_null())
                notified(method, parameters);
            else if (method == "tools/call")
                call(id, parameters);
            else
                send({{"jsonrpc", "2.0"}, {"id", id}, {"result", answer(method, parameters)}});
        } catch (const RpcError& error) {
            if (!id.is_null()) refuse(id, error);
        }
    }

    void refuseLong() {
        refuse(nullptr,
               {kInvalidRequest, "is longer than " + std::to_string(kMostLine >> 20U) + " MiB"});
    }

private:
    void send(const Json& message) {
        const auto text = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        const std::lock_guard lock(m_writing);
        for (std::size_t at = 0; at < text.size();) {
            const auto written = ::write(m_out, text.data() + at, text.size() - at);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return;  // nobody reads: the input ends soon
            at += static_cast<std::size_t>(written);
        }
    }
    void refuse(const Json& id, const RpcError& error) {
        send({{"jsonrpc", "2.0"},
              {"id", id},
              {"error", {{"code", error.code}, {"message", error.message}}}});
    }

    Json answer(const std::string& method, const Json& parameters) const {
        if (method == "ping") return Json::object();
        if (method == "initialize") return begun(parameters);
        if (method == "tools/list") return m_tools.list();
        if (method == "resources/list") {
            auto page = m_resources.list(textOf(parameters, "cursor"));
            if (!page) throw RpcError{kInvalidParameters, "the cursor is none of this server"};
            return std::move(*page);
        }
        if (method == "resources/templates/list") return {{"resourceTemplates", Json::array()}};
        if (method == "resources/read") try {
                auto contents = m_resources.read(textOf(parameters, "uri"));
                if (!contents)
                    throw RpcError{kUnknownResource,
                                   "there is no such resource; resources/list names all"};
                return std::move(*contents);
            } catch (const Error& error) {
                throw RpcError{kUnknownResource, error.what()};
            }
        throw RpcError{kUnknownMethod, "there is no method '" + method.substr(0, 100) + "'"};
    }
    /// A member that is a text; empty where it is not there.
    static std::string textOf(const Json& parameters, const char* name) {
        const auto at = parameters.find(name);
        if (at == parameters.end()) return {};
        if (!at->is_string()) throw RpcError{kInvalidParameters, std::string(name) + " is no text"};
        return at->get<std::string>();
    }
    static Json begun(const Json& parameters) {
        const auto wanted = parameters.value("protocolVersion", Json());
        const bool known = std::any_of(std::begin(kVersions), std::end(kVersions),
                                       [&](const char* one) { return wanted == one; });
        return {{"protocolVersion", known ? wanted : Json(kVersions[0])},
                {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
                {"serverInfo", {{"name", "relascope"}, {"version", core::builtin::version()}}},
                {"instructions", kInstructions}};
    }

    void notified(const std::string& method, const Json& parameters) {
        if (method != "notifications/cancelled") return;
        const auto id = parameters.value("requestId", Json());
        const std::lock_guard lock(m_mutex);
        for (auto& call : m_calls)
            if (call->id == id) call->stop.request_stop();
    }

    void call(const Json& id, const Json& parameters) {
        const auto tool = textOf(parameters, "name");
        if (!m_tools.has(tool))
            throw RpcError{kInvalidParameters, "there is no tool '" + tool.substr(0, 100) + "'"};
        const auto meta = parameters.value("_meta", Json::object());
        auto call = std::make_shared<ToolCall>();
        call->id = id, call->tool = tool;
        call->arguments = parameters.value("arguments", Json::object());
        if (meta.is_object()) call->progressToken = meta.value("progressToken", Json());
        if (!isIdentifier(call->progressToken)) call->progressToken = nullptr;
        {
            const std::lock_guard lock(m_mutex);
            if (m_calls.size() >= kMostCalls)
                throw RpcError{kBusy, std::to_string(kMostCalls) + " calls wait already"};
            if (std::ranges::any_of(m_calls, [&](const auto& one) { return one->id == id; }))
                throw RpcError{kInvalidRequest, "a call of the same id waits or runs"};
            m_calls.push_back(std::move(call));
        }
        m_wake.notify_all();
    }

    /// Answers one call after another: models and their threads are of one at a time.
    void work() {
        for (;;) {
            std::shared_ptr<ToolCall> call;
            {
                std::unique_lock lock(m_mutex);
                m_wake.wait(lock, [this] { return m_ended || !m_calls.empty(); });
                if (m_ended) return;
                call = m_calls.front();
                m_running = true;
            }
            const auto result = call->stop.stop_requested() ? Json() : answered(*call);
            {
                const std::lock_guard lock(m_mutex);
                m_calls.pop_front();
                m_running = false;
            }
            // Who has cancelled a request wants no answer.
            if (!call->stop.stop_requested())
                send({{"jsonrpc", "2.0"}, {"id", call->id}, {"result", result}});
        }
    }
    Json answered(const ToolCall& call) {
        auto last = std::chrono::steady_clock::now();
        double done = 0.0;
        const auto notify = [&](double fraction, const std::string& message) {
            if (call.progressToken.is_null()) return;
            done = std::max(done, fraction);
            Json parameters = {
                {"progressToken", call.progressToken}, {"progress", done}, {"total", 1.0}};
            if (!message.empty()) parameters["message"] = message;
            send({{"jsonrpc", "2.0"},
                  {"method", "notifications/progress"},
                  {"params", std::move(parameters)}});
        };
        std::string said;
        const wire::ServedWaitScope wait([&](const std::string& text) {
            // The protocol wants a progress that rises with every message.
            if (!text.empty() && text != said) notify(done + kLeastProgress, text);
            said = text;
            return !call.stop.stop_requested();
        });
        return m_tools.call(call.tool, call.arguments, call.stop.get_token(), [&](double fraction) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last < kBetweenProgress) return;
            last = now;
            notify(fraction, {});
        });
    }

    const McpTools m_tools;
    const McpResources m_resources;
    const int m_out;
    std::mutex m_writing, m_mutex;
    std::condition_variable m_wake;
    std::deque<std::shared_ptr<ToolCall>> m_calls;  ///< the first one may run
    bool m_running = false, m_ended = false;
    std::thread m_worker;
};

int runMcp(const McpArguments& given, const Call&) {
    // What commands print must not get between the messages.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_IGN);
    core::initDevices(0);
    McpServer server(out, given);
    LineReader lines(STDIN_FILENO);
    for (bool whole = true; const auto line = lines.next(whole);)
        if (!whole)
            server.refuseLong();
        else if (line->find_first_not_of(" \t\r") != std::string::npos)
            server.take(*line);
    return 0;
}

void mcpOptions(CLI::App& command, McpArguments& given) {
    command.add_option("--write", given.write,
                       "a folder that train, draw, export and files of answers may be written "
                       "into; without it nothing is");
    command.add_option("--runs", given.runs, "the folder whose runs are listed as resources");
}

}  // namespace

Command mcpCommand() {
    return commandOf<McpArguments>(
        "mcp", "answers questions of agents (Model Context Protocol) on the standard input",
        mcpOptions, runMcp);
}

}  // namespace relascope::cli
