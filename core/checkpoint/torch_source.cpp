// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint in a PyTorch archive.
#include "checkpoint/source_parts.h"
#include "checkpoint/torch_archive.h"

namespace relascope::core {
namespace {

class TorchSource : public CheckpointParts {
public:
    TorchSource(std::shared_ptr<const ByteSource> bytes) : m_archive(bytes) {
        m_form = "PyTorch archive";
        m_files = {bytes->path()};
        m_bytes = bytes->size();
        m_config = m_archive.config();
        m_configFrom = m_archive.configFrom();
        for (const auto& t : m_archive.tensors())
            m_tensors.push_back({"", t.name, t.dtype, t.shape, t.bytes, "", 0});
        cleanNames(m_tensors, bytes->path());
        for (std::size_t i = 0; i < m_tensors.size(); ++i)
            if (const auto first = m_archive.tensors()[i].sameAs; first != ArchiveTensor::kItself)
                m_tensors[i].sameAs = m_tensors[first].name;
        indexNames();
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        m_archive.readPart(m_archive.tensors()[indexOf(tensor)], at, out, std::move(stop));
    }

private:
    TorchArchive m_archive;
};

}  // namespace

std::unique_ptr<CheckpointParts> openTorchArchive(const std::string& path) {
    return std::make_unique<TorchSource>(openFileBytes(path));
}

}  // namespace relascope::core
