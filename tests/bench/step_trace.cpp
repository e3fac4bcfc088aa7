// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/step_trace.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files/atomic_file.h"
#include "model/blocks/module_span.h"

namespace relascope::core {
namespace {

using TraceClock = std::chrono::steady_clock;

struct Span {
    std::string name, category, module;
    TraceClock::time_point begin, end;
    /// Of a module: the numbers that autograd gave to the operations in it, by which the backward
    /// pass knows them again.
    std::uint64_t firstNumber = 0, lastNumber = 0;
};

class StepTracer : public ModuleSpans {
public:
    explicit StepTracer(const ModelImpl& model) {
        for (const auto& item : model.named_modules("", false))
            m_names.emplace(item.value().get(), item.key());  // shared modules: the first name
    }

    void begin(const torch::nn::Module& module) override {
        const auto known = m_names.find(&module);
        Span span{known == m_names.end() ? module.name() : known->second, "module", {}, {}, {}};
        span.firstNumber = at::sequence_number::peek();
        open(std::move(span));
    }
    void end() override {
        m_spans[m_open.back()].lastNumber = at::sequence_number::peek();
        close();
    }

    void phase(const char* name, const std::function<void()>& work) {
        open({name, "step", {}, {}, {}});
        work();
        close();
    }

    void beginOperator(const at::RecordFunction& function) {
        Span span{function.name(), "operator", {}, {}, {}};
        if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
            span.category = "backward";
            span.module = moduleOf(function.seqNr());
        }
        open(std::move(span));
    }
    void endOperator() { close(); }

    std::string text() const {
        nlohmann::ordered_json events = nlohmann::ordered_json::array();
        const auto microseconds = [this](TraceClock::time_point time) {
            return std::chrono::duration<double, std::micro>(time - m_spans.front().begin).count();
        };
        for (const auto& span : m_spans) {
            nlohmann::ordered_json event = {
                {"name", span.module.empty() ? span.name : span.module},
                {"cat", span.category},
                {"ph", "X"},
                {"ts", microseconds(span.begin)},
                {"dur", microseconds(span.end) - microseconds(span.begin)},
                {"pid", 1},
                {"tid", 1}};
            if (!span.module.empty()) event["args"] = {{"of", span.name}};
            events.push_back(std::move(event));
        }
        return nlohmann::ordered_json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() +
               "\n";
    }

private:
    void open(Span span) {
        span.begin = TraceClock::now();
        m_open.push_back(m_spans.size());
        m_spans.push_back(std::move(span));
    }
    void close() {
        m_spans[m_open.back()].end = TraceClock::now();
        m_open.pop_back();
    }
    // The innermost module whose forward pass gave that number.
    std::string moduleOf(std::int64_t number) const {
        const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(0, number));
        for (auto span = m_spans.rbegin(); span != m_spans.rend(); ++span)
            if (span->category == "module" && span->firstNumber <= wanted &&
                wanted < span->lastNumber)
                return span->name;
        return {};
    }

    std::unordered_map<const void*, std::string> m_names;
    std::vector<Span> m_spans;
    std::vector<std::size_t> m_open;
};

thread_local StepTracer* t_tracer = nullptr;

// LibTorch tells of each operator while this exists.
class OperatorSpans {
public:
    explicit OperatorSpans(StepTracer& tracer) {
        t_tracer = &tracer;
        m_handle = at::addThreadLocalCallback(
            at::RecordFunctionCallback(
                [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
                    if (t_tracer) t_tracer->beginOperator(function);
                    return nullptr;
                },
                [](const at::RecordFunction&, at::ObserverContext*) {
                    if (t_tracer) t_tracer->endOperator();
                })
                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    }
    ~OperatorSpans() {
        at::removeCallback(m_handle);
        t_tracer = nullptr;
    }
    OperatorSpans(const OperatorSpans&) = delete;
    OperatorSpans& operator=(const OperatorSpans&) = delete;

private:
    at::CallbackHandle m_handle;
};

}  // namespace

void writeStepTrace(const ModelImpl& model, const TracedStep& step, const std::string& file) {
    StepTracer tracer(model);
    {
        const ModuleSpansScope modules(tracer);
        const OperatorSpans operators(tracer);
        tracer.phase("forward", step.forward);
        tracer.phase("backward", step.backward);
        tracer.phase("optimizer", step.optimize);
    }
    writeTextFile(file, tracer.text());
}

}  // namespace relascope::core
