# SPDX-License-Identifier: MIT
"""Kernels written for Taichi, which compiles them for Vulkan when they are first called.

usage: taichi_kernels.py FIRST LAST (numbers of kernels; beyond the last one: exit code 3)
"""
import sys

import taichi as ti


def elementwise(kind):
    x, y = ti.field(kind, 4096), ti.field(kind, 4096)

    @ti.kernel
    def axpy(a: kind):
        for i in x:
            y[i] += a * x[i]
    axpy(2)

    @ti.kernel
    def stencil():
        for i in x:
            y[i] = x[i] + x[ti.max(i - 1, 0)] - x[ti.min(i + 1, 4095)]
    stencil()

    @ti.kernel
    def total() -> kind:
        s = ti.cast(0, kind)
        for i in x:
            s += x[i]
        return s
    total()


def functions(kind):
    x = ti.field(kind, 1024)

    @ti.kernel
    def all_of_them():
        for i in x:
            v = ti.abs(x[i]) + 1
            x[i] = ti.sin(v) + ti.cos(v) * ti.exp(-v) + ti.log(v) + ti.sqrt(v) + ti.tanh(v) + \
                ti.atan2(v, v + 1) + ti.pow(v, 0.3) + ti.floor(v)
    all_of_them()

    @ti.kernel
    def series():
        for i in x:
            v, s, t = x[i], ti.cast(0, kind), ti.cast(1, kind)
            for k in range(1, 20):
                t *= v / k
                s += t
            x[i] = s
    series()


def mandelbrot():
    image = ti.field(ti.f32, (128, 64))

    @ti.kernel
    def paint(t: ti.f32):
        for i, j in image:
            c = ti.Vector([-0.8, ti.cos(t) * 0.2])
            z = ti.Vector([i / 64 - 1, j / 64 - 0.5]) * 2
            n = 0
            while z.norm() < 20 and n < 50:
                z = ti.Vector([z[0] ** 2 - z[1] ** 2, z[1] * z[0] * 2]) + c
                n += 1
            image[i, j] = 1 - n * 0.02
    paint(0.3)


def particles(dimension):
    n, grid = 512, 32
    x = ti.Vector.field(dimension, ti.f32, n)
    v = ti.Vector.field(dimension, ti.f32, n)
    c = ti.Matrix.field(dimension, dimension, ti.f32, n)
    j = ti.field(ti.f32, n)
    grid_v = ti.Vector.field(dimension, ti.f32, (grid,) * dimension)
    grid_m = ti.field(ti.f32, (grid,) * dimension)

    @ti.kernel
    def to_grid():
        for p in x:
            base = (x[p] * grid - 0.5).cast(int)
            fx = x[p] * grid - base.cast(float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            stress = -4e-4 * (j[p] - 1)
            affine = ti.Matrix.identity(ti.f32, dimension) * stress + c[p]
            for offset in ti.static(ti.grouped(ti.ndrange(*((3,) * dimension)))):
                weight = 1.0
                for d in ti.static(range(dimension)):
                    weight *= w[offset[d]][d]
                dpos = (offset.cast(float) - fx) / grid
                grid_v[base + offset] += weight * (v[p] + affine @ dpos)
                grid_m[base + offset] += weight

    @ti.kernel
    def on_grid():
        for cell in ti.grouped(grid_m):
            if grid_m[cell] > 0:
                grid_v[cell] /= grid_m[cell]
            grid_v[cell][1] -= 2e-3
            for d in ti.static(range(dimension)):
                if cell[d] < 3 and grid_v[cell][d] < 0:
                    grid_v[cell][d] = 0
                if cell[d] > grid - 3 and grid_v[cell][d] > 0:
                    grid_v[cell][d] = 0

    @ti.kernel
    def from_grid():
        for p in x:
            base = (x[p] * grid - 0.5).cast(int)
            fx = x[p] * grid - base.cast(float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            new_v = ti.Vector.zero(ti.f32, dimension)
            new_c = ti.Matrix.zero(ti.f32, dimension, dimension)
            for offset in ti.static(ti.grouped(ti.ndrange(*((3,) * dimension)))):
                weight = 1.0
                for d in ti.static(range(dimension)):
                    weight *= w[offset[d]][d]
                g = grid_v[base + offset]
                new_v += weight * g
                new_c += 4 * grid * weight * g.outer_product((offset.cast(float) - fx) / grid)
            v[p], c[p] = new_v, new_c
            x[p] += 1e-3 * v[p]
            j[p] *= 1 + 1e-3 * new_c.trace()
    to_grid()
    on_grid()
    from_grid()


def bodies():
    n = 256
    x, v = ti.Vector.field(3, ti.f32, n), ti.Vector.field(3, ti.f32, n)

    @ti.kernel
    def step():
        for i in x:
            a = ti.Vector([0.0, 0.0, 0.0])
            for k in range(n):
                d = x[k] - x[i]
                a += d / (d.norm_sqr() + 1e-3) ** 1.5
            v[i] += 1e-3 * a
    step()


def matrices(size):
    a = ti.Matrix.field(size, size, ti.f32, 128)
    r = ti.field(ti.f32, 128)

    @ti.kernel
    def invert():
        for i in a:
            a[i] = (a[i] + ti.Matrix.identity(ti.f32, size)).inverse() @ a[i].transpose()
            r[i] = a[i].determinant()
    invert()
    if size > 3:
        return

    @ti.kernel
    def decompose():
        for i in a:
            u, s, v = ti.svd(a[i])
            a[i] = u @ s @ v.transpose()
    decompose()

    @ti.kernel
    def polar():
        for i in a:
            u, s = ti.polar_decompose(a[i])
            a[i] = u + s
    polar()


def heat(kind):
    a, b = ti.field(kind, (64, 64)), ti.field(kind, (64, 64))

    @ti.kernel
    def step():
        for i, k in ti.ndrange((1, 63), (1, 63)):
            b[i, k] = a[i, k] + 0.1 * (a[i - 1, k] + a[i + 1, k] + a[i, k - 1] + a[i, k + 1] -
                                       4 * a[i, k])
    step()

    @ti.kernel
    def residual() -> kind:
        worst = ti.cast(0, kind)
        for i, k in a:
            ti.atomic_max(worst, ti.abs(a[i, k] - b[i, k]))
        return worst
    residual()


def integers(kind):
    x, h = ti.field(kind, 4096), ti.field(ti.i32, 64)

    @ti.kernel
    def histogram():
        for i in x:
            h[ti.cast(x[i], ti.i32) & 63] += 1
    histogram()

    @ti.kernel
    def mix():
        for i in x:
            v = x[i]
            for _ in range(8):
                v ^= v << 13
                v ^= v >> 17
                v ^= v << 5
            x[i] = v % 1000
    mix()

    @ti.kernel
    def gcd():
        for i in x:
            p, q = x[i], ti.cast(i + 1, kind)
            while q != 0:
                p, q = q, p % q
            x[i] = p
    gcd()

    @ti.kernel
    def primes() -> ti.i32:
        count = 0
        for i in range(2, 2000):
            is_prime, k = 1, 2
            while k * k <= i and is_prime == 1:
                if i % k == 0:
                    is_prime = 0
                k += 1
            count += is_prime
        return count
    primes()


def fluid():
    v = ti.Vector.field(2, ti.f32, (64, 64))
    w = ti.Vector.field(2, ti.f32, (64, 64))
    p, q = ti.field(ti.f32, (64, 64)), ti.field(ti.f32, (64, 64))

    @ti.func
    def sample(field: ti.template(), at):
        cell = ti.floor(at).cast(int)
        f = at - cell
        a = ti.max(ti.min(cell, 62), 0)
        return (field[a] * (1 - f[0]) + field[a + ti.Vector([1, 0])] * f[0]) * (1 - f[1]) + \
            (field[a + ti.Vector([0, 1])] * (1 - f[0]) + field[a + ti.Vector([1, 1])] * f[0]) * f[1]

    @ti.kernel
    def advect():
        for cell in ti.grouped(v):
            at = cell.cast(float) - v[cell] * 0.03
            at = cell.cast(float) - sample(v, at) * 0.03
            w[cell] = sample(v, at)

    @ti.kernel
    def jacobi():
        for i, k in ti.ndrange((1, 63), (1, 63)):
            q[i, k] = (p[i - 1, k] + p[i + 1, k] + p[i, k - 1] + p[i, k + 1]) * 0.25

    @ti.kernel
    def vorticity():
        for i, k in ti.ndrange((1, 63), (1, 63)):
            p[i, k] = v[i + 1, k][1] - v[i - 1, k][1] - v[i, k + 1][0] + v[i, k - 1][0]
    advect()
    jacobi()
    vorticity()


def rays():
    image = ti.Vector.field(3, ti.f32, (64, 64))

    @ti.func
    def distance(p):
        d = p[1] + 1
        for i in ti.static(range(4)):
            d = ti.min(d, (p - ti.Vector([i - 1.5, 0.2 * i, 3.0])).norm() - 0.5)
        return d

    @ti.kernel
    def paint():
        for i, k in image:
            at, t = ti.Vector([0.0, 0.0, 0.0]), 0.0
            to = ti.Vector([i / 32 - 1, k / 32 - 1, 1.0]).normalized()
            for _ in range(64):
                d = distance(at + to * t)
                if d < 1e-3 or t > 20:
                    break
                t += d
            hit = at + to * t
            e = 1e-3
            n = ti.Vector([distance(hit + ti.Vector([e, 0, 0])) - distance(hit),
                           distance(hit + ti.Vector([0, e, 0])) - distance(hit),
                           distance(hit + ti.Vector([0, 0, e])) - distance(hit)]).normalized()
            image[i, k] = ti.max(n.dot(ti.Vector([0.5, 0.7, -0.5])), 0) * ti.Vector([1, 0.8, 0.6])
    paint()


def noise():
    x = ti.field(ti.f32, (64, 64))

    @ti.kernel
    def random():
        for i, k in x:
            x[i, k] = ti.random() + ti.randn()
    random()


def sorting():
    x = ti.field(ti.i32, 1024)

    @ti.kernel
    def bitonic(k: ti.i32, j: ti.i32):
        for i in x:
            other = i ^ j
            if other > i:
                if ((i & k) == 0) == (x[i] > x[other]):
                    x[i], x[other] = x[other], x[i]
    bitonic(8, 2)


def shared():
    x, y = ti.field(ti.f32, 1024), ti.field(ti.f32, 1024)

    @ti.kernel
    def windows():
        ti.loop_config(block_dim=64)
        for i in range(1024):
            pad = ti.simt.block.SharedArray((64,), ti.f32)
            pad[i % 64] = x[i]
            ti.simt.block.sync()
            s = 0.0
            for k in range(64):
                s += pad[k] * pad[(i + k) % 64]
            y[i] = s
    windows()


def multiply(kind):
    a, b, c = (ti.field(kind, (64, 64)) for _ in range(3))

    @ti.kernel
    def product():
        for i, k in c:
            s = ti.cast(0, kind)
            for m in range(64):
                s += a[i, m] * b[m, k]
            c[i, k] = s
    product()


def quantised():
    x, scale = ti.field(ti.u8, 4096), ti.field(ti.f16, 128)
    y = ti.field(ti.f32, 128)

    @ti.kernel
    def rows():
        for i in y:
            s = 0.0
            for k in range(32):
                byte = x[i * 32 + k]
                s += ti.cast(byte & 15, ti.f32) - 8 + (ti.cast(byte >> 4, ti.f32) - 8) * 0.5
            y[i] = s * ti.cast(scale[i], ti.f32)
    rows()


ALL = [lambda f=f, k=k: f(k) for f, kinds in (
    (elementwise, (ti.f32, ti.f16, ti.i32, ti.u32, ti.i16, ti.u8)), (functions, (ti.f32, ti.f16)),
    (particles, (2, 3)), (matrices, (2, 3, 4)), (heat, (ti.f32, ti.f16)),
    (integers, (ti.i32, ti.u32)), (multiply, (ti.f32, ti.f16, ti.i32))) for k in kinds]
ALL += [mandelbrot, bodies, fluid, rays, noise, sorting, shared, quantised]


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for run in ALL[first:last]:
        ti.init(arch=ti.vulkan, log_level=ti.ERROR, offline_cache=False)
        try:
            run()
            ti.sync()
        except Exception as error:  # one kernel's refusal is not the others'
            print(f"taichi: {str(error)[:200]}", file=sys.stderr)
    return 3 if last >= len(ALL) else 0


if __name__ == "__main__":
    sys.exit(main())
