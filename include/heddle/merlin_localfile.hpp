/* SPDX-License-Identifier: Apache-2.0
 *
 * merlin_localfile.hpp - keys, values and scores in three local files, each an array without a header: the format of
 * HierarchicalKV's LocalKVFile.
 */
#ifndef HEDDLE_MERLIN_LOCALFILE_HPP
#define HEDDLE_MERLIN_LOCALFILE_HPP

#include <array>
#include <cstdio>
#include <string>

#include "merlin/types.cuh"

namespace nv
{
namespace merlin
{

template <class K, class V, class S> class LocalKVFile : public BaseKVFile<K, V, S>
{
  public:
    LocalKVFile() = default;
    LocalKVFile(const LocalKVFile &) = delete;
    LocalKVFile &operator=(const LocalKVFile &) = delete;
    ~LocalKVFile() override { close(); }

    /* `mode` is that of fopen. False: a file could not be opened, and none is open. */
    bool open(const std::string &keys_path, const std::string &values_path, const std::string &scores_path,
              const char *mode)
    {
        close();
        const std::array<const char *, 3> path = { keys_path.c_str(), values_path.c_str(), scores_path.c_str() };
        for (size_t i = 0; i < path.size(); i++) {
            file_[i] = std::fopen(path[i], mode);
            if (!file_[i]) return close(), false;
        }
        return true;
    }

    void close() noexcept
    {
        for (std::FILE *&f : file_) {
            if (f) std::fclose(f);
            f = nullptr;
        }
    }

    /* 0 if the files do not have the same number of rows left, of at most n. */
    size_t read(const size_t n, const size_t dim, K *keys, V *vectors, S *scores) override
    {
        return all_equal(std::fread(keys, sizeof(K), n, file_[0]), std::fread(vectors, sizeof(V) * dim, n, file_[1]),
                         std::fread(scores, sizeof(S), n, file_[2]));
    }

    /* 0 if a file could not take all rows. */
    size_t write(const size_t n, const size_t dim, const K *keys, const V *vectors, const S *scores) override
    {
        return all_equal(std::fwrite(keys, sizeof(K), n, file_[0]), std::fwrite(vectors, sizeof(V) * dim, n, file_[1]),
                         std::fwrite(scores, sizeof(S), n, file_[2]));
    }

  private:
    static size_t all_equal(size_t a, size_t b, size_t c) { return a == b && a == c ? a : 0; }

    std::array<std::FILE *, 3> file_ = {}; /* keys, values, scores */
};

} // namespace merlin
} // namespace nv

#endif
