// Numbers in a narrower type, a thread for each.

extern "C" __global__ void narrow(
    INDEX count, const INDEX* __restrict__ wide, VALUES_T* __restrict__ values) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = (VALUES_T)wide[i];
}
