// SPDX-License-Identifier: GPL-3.0-or-later
// Fetches a model from the hub into its cache (hub/hub_cache.h), as the hub's Python client does:
// either finds what the other has fetched, and both may fetch at the same time.
//
// $HF_ENDPOINT is the address of the hub; $HF_TOKEN, $HUGGING_FACE_HUB_TOKEN, the file
// $HF_TOKEN_PATH or $HF_HOME/token give the token, which goes to that address alone; with
// $HF_HUB_OFFLINE=1 or $TRANSFORMERS_OFFLINE=1 no connection is made. Certificates: hub/http.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hub/hub_cache.h"
#include "types/error.h"

namespace relascope::core {

struct HubFile {
    std::string name;       ///< "model.safetensors"
    std::string etag;       ///< the name of its blob
    std::int64_t size = 0;  ///< bytes
    std::string address;    ///< where its bytes are fetched
};
struct HubListing {
    std::string commit;
    std::vector<HubFile> files;  ///< the files that this program reads
    std::int64_t bytes() const;
};
struct HubProgress {
    std::int64_t done = 0, total = 0;  ///< bytes of all files
    double rate = 0.0;                 ///< bytes a second, of the last seconds
};

/// The files of a model on the hub. `wanted` is asked several times a second. Throws Error with one
/// sentence that names the model and the way out, NoWeights, Cancelled.
HubListing listHubModel(const HubModel& model, const std::function<bool()>& wanted);

/// A revision that has no weights that this program reads.
class NoWeights : public Error {
public:
    using Error::Error;
};

/// The revisions of a model, branches first, in the order of the hub. Throws as listHubModel().
std::vector<HubRevision> listHubRevisions(const std::string& model,
                                          const std::function<bool()>& wanted);

/// Fetches missing files and returns the folder of the snapshot. `progress` is called from any
/// thread, one at a time; false cancels. An incomplete file stays as blobs/ETAG.incomplete, and the
/// next call continues from there. Throws as listHubModel(); DiskFull, FileError.
std::string fetchHubModel(const HubModel& model,
                          const std::function<bool(const HubProgress&)>& progress);

}  // namespace relascope::core
