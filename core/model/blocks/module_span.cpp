// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/module_span.h"

namespace relascope::core {
namespace {

thread_local ModuleSpans* t_spans = nullptr;

}  // namespace

ModuleSpansScope::ModuleSpansScope(ModuleSpans& spans) : m_previous(t_spans) {
    t_spans = &spans;
}
ModuleSpansScope::~ModuleSpansScope() {
    t_spans = m_previous;
}

ModuleSpan::ModuleSpan(const torch::nn::Module& module) : m_spans(t_spans) {
    if (m_spans) m_spans->begin(module);
}
ModuleSpan::~ModuleSpan() {
    if (m_spans) m_spans->end();
}

}  // namespace relascope::core
