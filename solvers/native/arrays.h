// Views of NumPy arrays: a pointer and a shape, without ownership and without Python.
//
// Span<const double> is read-only, Span<double> may be written to. With NATIVE_CHECKED every access
// is compared with the shape, which tests can be run with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifdef NATIVE_CHECKED
#include <stdexcept>
#include <string>
#endif

namespace native {

inline void check_index([[maybe_unused]] std::int64_t at, [[maybe_unused]] std::int64_t size) {
#ifdef NATIVE_CHECKED
    if (at < 0 || at >= size)
        throw std::out_of_range("index " + std::to_string(at) + " of an array of " +
                                std::to_string(size));
#endif
}

/// A contiguous vector.
template <class T> class Span {
  public:
    using Element = T;
    static constexpr int dimensions = 1;

    Span() = default;
    Span(T *data, std::int64_t size) : data_(data), shape_{size} {}
    Span(T *data, const std::array<std::int64_t, 1> &shape) : data_(data), shape_(shape) {}

    /// A vector that may be written to can be read.
    operator Span<const T>() const { return {data_, size()}; }

    T &operator[](std::int64_t i) const {
        check_index(i, size());
        return data_[i];
    }
    std::int64_t size() const { return shape_[0]; }
    std::int64_t shape(int) const { return shape_[0]; }
    T *data() const { return data_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size(); }

    /// The entries from ``first`` on, before ``last``.
    Span part(std::int64_t first, std::int64_t last) const { return {data_ + first, last - first}; }

  private:
    T *data_ = nullptr;
    std::array<std::int64_t, 1> shape_{0};
};

/// A contiguous matrix, row after row.
template <class T> class Grid {
  public:
    using Element = T;
    static constexpr int dimensions = 2;

    Grid() = default;
    Grid(T *data, const std::array<std::int64_t, 2> &shape) : data_(data), shape_(shape) {}

    operator Grid<const T>() const { return {data_, shape_}; }

    T &operator()(std::int64_t i, std::int64_t j) const {
        check_index(i, shape_[0]);
        check_index(j, shape_[1]);
        return data_[i * shape_[1] + j];
    }
    /// Row i.
    Span<T> operator[](std::int64_t i) const {
        check_index(i, shape_[0]);
        return {data_ + i * shape_[1], shape_[1]};
    }
    std::int64_t size() const { return shape_[0] * shape_[1]; }
    std::int64_t shape(int axis) const { return shape_[axis]; }
    T *data() const { return data_; }

  private:
    T *data_ = nullptr;
    std::array<std::int64_t, 2> shape_{0, 0};
};

/// A sparse matrix by rows, as solvers/core/linear_algebra.py has it: entries of row i stand from
/// indptr[i] on, before indptr[i + 1].
template <class Index> struct SparseRows {
    Span<const Index> indptr, indices;
    Span<const double> data;

    Index length(std::int64_t i) const { return indptr[i + 1] - indptr[i]; }
};

/// A contiguous array of three dimensions.
template <class T> class Cube {
  public:
    using Element = T;
    static constexpr int dimensions = 3;

    Cube() = default;
    Cube(T *data, const std::array<std::int64_t, 3> &shape) : data_(data), shape_(shape) {}

    operator Cube<const T>() const { return {data_, shape_}; }

    T &operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
        check_index(i, shape_[0]);
        check_index(j, shape_[1]);
        check_index(k, shape_[2]);
        return data_[(i * shape_[1] + j) * shape_[2] + k];
    }
    /// Layer i.
    Grid<T> operator[](std::int64_t i) const {
        check_index(i, shape_[0]);
        return {data_ + i * shape_[1] * shape_[2], {shape_[1], shape_[2]}};
    }
    std::int64_t size() const { return shape_[0] * shape_[1] * shape_[2]; }
    std::int64_t shape(int axis) const { return shape_[axis]; }
    T *data() const { return data_; }

  private:
    T *data_ = nullptr;
    std::array<std::int64_t, 3> shape_{0, 0, 0};
};

} // namespace native
