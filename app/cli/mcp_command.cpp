// SPDX-License-Identifier: GPL-3.0-or-later
// mcp: answers questions of agents by the Model Context Protocol (versions 2024-11-05 to
// 2025-11-25) on standard input and output: JSON-RPC 2.0, a message a line. A tool is a command
// that is a question; what it takes is made from the table of its fields
// (question/question_json.h). Nothing is written but results that are kept beside their run, as by
// a window.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "app/cli/commands.h"
#include "options/builtin_resources.h"
#include "question/question_fields.h"
#include "question/question_json.h"
#include "question/question_words.h"
#include "train/devices.h"
#include "types/error.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::chrono::milliseconds kBetweenProgress(250);
// Codes of JSON-RPC 2.0.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601,
              kInvalidParameters = -32602;

/// A request that cannot be answered.
struct RpcError {
    int code;
    std::string message;
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
    explicit McpServer(int out) : m_out(out), m_worker([this] { work(); }) {}
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
        const auto message = Json::parse(line, nullptr, false);
        if (message.is_discarded()) return refuse(nullptr, {kParseError, "is no JSON"});
        const auto id = message.is_object() ? message.value("id", Json()) : Json();
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

    static Json answer(const std::string& method, const Json& parameters) {
        if (method == "ping") return Json::object();
        if (method == "initialize") return begun(parameters);
        if (method == "tools/list") return {{"tools", tools()}};
        throw RpcError{kUnknownMethod, "there is no method '" + method + "'"};
    }
    static Json begun(const Json& parameters) {
        const auto wanted = parameters.value("protocolVersion", Json());
        const bool known = std::any_of(std::begin(kVersions), std::end(kVersions),
                                       [&](const char* one) { return wanted == one; });
        return {{"protocolVersion", known ? wanted : Json(kVersions[0])},
                {"capabilities", {{"tools", Json::object()}}},
                {"serverInfo", {{"name", "relascope"}, {"version", core::builtin::version()}}},
                {"instructions",
                 "Measures trained relational Transformers and other Transformers. Sentences in "
                 "an answer say only what their intervals allow; quote them with their numbers."}};
    }
    static Json tools() {
        Json all = Json::array();
        for (const auto& command : core::questionCommands())
            all.push_back({{"name", command},
                           {"description", core::summaryOf(command)},
                           {"inputSchema", core::schemaOf(command)}});
        return all;
    }

    void notified(const std::string& method, const Json& parameters) {
        if (method != "notifications/cancelled") return;
        const auto id = parameters.value("requestId", Json());
        const std::lock_guard lock(m_mutex);
        for (auto& call : m_calls)
            if (call->id == id) call->stop.request_stop();
    }

    void call(const Json& id, const Json& parameters) {
        const auto tool = parameters.value("name", Json());
        if (!tool.is_string() || !core::isQuestion(tool.get<std::string>()))
            throw RpcError{kInvalidParameters, "there is no tool " + tool.dump()};
        const auto meta = parameters.value("_meta", Json::object());
        auto call = std::make_shared<ToolCall>();
        call->id = id, call->tool = tool.get<std::string>();
        call->arguments = parameters.value("arguments", Json::object());
        if (meta.is_object()) call->progressToken = meta.value("progressToken", Json());
        {
            const std::lock_guard lock(m_mutex);
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
            const auto result = answered(*call);
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
        const auto text = [](const std::string& words, bool error) {
            return Json{{"content", {{{"type", "text"}, {"text", words}}}}, {"isError", error}};
        };
        try {
            const auto words = core::wordsOf(core::questionOf(call.tool, call.arguments));
            auto last = std::chrono::steady_clock::now();
            const auto answer = answerCommand(words, call.stop.get_token(), [&](double fraction) {
                const auto now = std::chrono::steady_clock::now();
                if (call.progressToken.is_null() || now - last < kBetweenProgress) return;
                last = now;
                send({{"jsonrpc", "2.0"},
                      {"method", "notifications/progress"},
                      {"params",
                       {{"progressToken", call.progressToken},
                        {"progress", fraction},
                        {"total", 1.0}}}});
            });
            auto result = text(answer.text, answer.code != 0);
            if (!answer.said.empty())
                result["content"].push_back({{"type", "text"}, {"text", answer.said}});
            if (auto json = Json::parse(answer.text, nullptr, false); json.is_object())
                result["structuredContent"] = std::move(json);
            return result;
        } catch (const std::exception& error) {
            return text(userMessage(error), true);
        }
    }

    const int m_out;
    std::mutex m_writing, m_mutex;
    std::condition_variable m_wake;
    std::deque<std::shared_ptr<ToolCall>> m_calls;  ///< the first one may run
    bool m_running = false, m_ended = false;
    std::thread m_worker;
};

struct McpArguments {};

int runMcp(const McpArguments&, const Call&) {
    // What commands print must not get between the messages.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_IGN);
    core::initDevices(0);
    McpServer server(out);
    for (std::string line; std::getline(std::cin, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos) server.take(line);
    return 0;
}

}  // namespace

Command mcpCommand() {
    return commandOf<McpArguments>(
        "mcp", "answers questions of agents (Model Context Protocol) on the standard input",
        [](CLI::App&, McpArguments&) {}, runMcp);
}

}  // namespace relascope::cli
