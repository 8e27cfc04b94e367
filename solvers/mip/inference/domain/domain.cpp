// What Python calls of a domain's loops.
#include "propagate.h"

namespace {

using namespace mip::domain;
using mip::Matrix;
using native::check_length;

void sum_all_rows(const Matrix &matrix, const Box &box) {
    check_shapes(matrix, box);
    sum_all(matrix, box);
}

std::int64_t begin_level(const Box &box) {
    check_shapes(box);
    return mark(box);
}

void undo_to(const Matrix &matrix, const Box &box, std::int64_t place) {
    check_shapes(matrix, box);
    undo(matrix, box, place);
}

bool propagate_queue(const Matrix &matrix, const Box &box, std::int64_t cap, bool lenient) {
    check_shapes(matrix, box);
    return propagate(matrix, box, cap, lenient);
}

void wake_all_rows(const Box &box) {
    check_shapes(box);
    wake_all(box);
}

bool decide_column(const Matrix &matrix, const Box &box, std::int64_t j, double low, double high,
                   std::int64_t cap, bool lenient) {
    check_shapes(matrix, box);
    check_length("is_integer", matrix.is_integer.size(), j + 1);
    return decide(matrix, box, j, low, high, cap, lenient);
}

} // namespace

NATIVE_MODULE(mip_inference_domain) {
    native::expose(module, "sum_all", &sum_all_rows, "matrix", "box");
    native::expose(module, "mark", &begin_level, "box");
    native::expose(module, "undo", &undo_to, "matrix", "box", "place");
    native::expose(module, "propagate", &propagate_queue, "matrix", "box", "cap", "lenient");
    native::expose(module, "wake_all", &wake_all_rows, "box");
    native::expose(module, "decide", &decide_column, "matrix", "box", "j", "low", "high", "cap",
                   "lenient");
    native::constants(module, "solvers.mip.inference.domain",
                      {{"Count.QUEUE_HEAD", QUEUE_HEAD},
                       {"Count.QUEUE_SIZE", QUEUE_SIZE},
                       {"Count.TRAIL", TRAIL},
                       {"Count.LEVEL", LEVEL},
                       {"Count.INFEASIBLE", INFEASIBLE},
                       {"Count.CONFLICT", CONFLICT},
                       {"Count.WORK", WORK},
                       {"Count.CAPPED", CAPPED},
                       {"Part.SMALLEST", SMALLEST},
                       {"Part.LARGEST", LARGEST},
                       {"Part.INFINITE", INFINITE},
                       {"Part.UPPER", UPPER},
                       {"Part.LOWER", LOWER},
                       {"Part.WIDEST", WIDEST},
                       {"Part.NOISE", NOISE},
                       {"ROW_SIZE", ROW_SIZE}});
}
