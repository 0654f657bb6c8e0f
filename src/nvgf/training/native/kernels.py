r"""One job's training steps as one compiled loop over nodes: hidden layer, gradients and Adam stay in the cache.

It covers hidden features :math:`y_{nbf} = \rho(\sum_p \Phi_{bnp} C_{npf})` with coefficients C that are one bank for
all nodes (LSIGF and GCNN; GCN and SGC with a single term) or composed at each node (LearnNVGF).

The functions take whole matrices of a node and index them: a view of a row costs as much as a hundred products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

LINEAR, RECTIFIED, COMPOSED = 0, 1, 2
CROSS_ENTROPY, SMOOTH_L1 = 0, 1
ORDERS = 5
"""The most taps of filters that are composed, order + 1: the paper's largest order is 4."""

# Sums may be reordered; NaN and infinity keep their meaning, since they tell of divergence.
_compiled: Any = njit(fastmath={"contract", "nsz", "reassoc"}, nogil=True, cache=True, error_model="numpy")


@_compiled
def _mix(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@_compiled
def _draw(bits: Any, step_key: Any, node: Any) -> None:
    """Write the dropout bits ``(batch, bytes)`` of a node."""
    for b in range(bits.shape[0]):
        for w in range(bits.shape[1] // 8):
            place = (np.uint64(b) << np.uint64(40)) | (np.uint64(node) << np.uint64(16)) | np.uint64(w)
            word = _mix(step_key + place * np.uint64(0x9E3779B97F4A7C15))
            for i in range(8):
                bits[b, 8 * w + i] = np.uint8((word >> np.uint64(8 * i)) & np.uint64(255))


@_compiled
def _mask(values: Any, bits: Any, table: Any) -> None:
    """Multiply ``(batch, width)`` by the entries that the bits stand for."""
    width = values.shape[1]
    for b in range(bits.shape[0]):
        for j in range(width // 8):
            byte = bits[b, j]
            for i in range(8):
                values[b, 8 * j + i] *= table[byte, i]
        for i in range(width - width % 8, width):
            values[b, i] *= table[bits[b, i // 8], i % 8]


@_compiled
def _rows(factors: Any, matrix: Any, result: Any) -> None:
    """Write ``factors @ matrix``; the number of rows of the matrix is a multiple of four."""
    for b in range(result.shape[0]):
        for i in range(result.shape[1]):
            result[b, i] = 0
        for m in range(0, matrix.shape[0], 4):
            w, x, y, z = factors[b, m], factors[b, m + 1], factors[b, m + 2], factors[b, m + 3]
            for i in range(result.shape[1]):
                result[b, i] += w * matrix[m, i] + x * matrix[m + 1, i] + y * matrix[m + 2, i] + z * matrix[m + 3, i]


@_compiled
def _columns(factors: Any, matrix: Any, result: Any) -> None:
    """Write ``factors.T @ matrix``; the number of rows of the matrix is a multiple of four."""
    for m in range(result.shape[0]):
        for i in range(result.shape[1]):
            result[m, i] = 0
        for b in range(0, matrix.shape[0], 4):
            w, x, y, z = factors[b, m], factors[b + 1, m], factors[b + 2, m], factors[b + 3, m]
            for i in range(result.shape[1]):
                result[m, i] += w * matrix[b, i] + x * matrix[b + 1, i] + y * matrix[b + 2, i] + z * matrix[b + 3, i]


@_compiled
def _read(hidden: Any, readout: Any, z: Any) -> None:
    """Add what the readout makes of a node to the outputs ``(batch, outputs)``."""
    for b in range(z.shape[0]):
        for c in range(z.shape[1]):
            total = np.float32(0)
            for i in range(hidden.shape[1]):
                total += hidden[b, i] * readout[c, i]
            z[b, c] += total


@_compiled
def _unread(z: Any, readout: Any, back: Any) -> None:
    """Write ``z @ readout``."""
    for b in range(back.shape[0]):
        for i in range(back.shape[1]):
            back[b, i] = z[b, 0] * readout[0, i]
        for c in range(1, z.shape[1]):
            for i in range(back.shape[1]):
                back[b, i] += z[b, c] * readout[c, i]


@_compiled
def _compose(taps: Any, node_taps: Any, composed: Any) -> None:
    """Write a node's composed taps, one after another in a row, from its node-variant taps ``(width, order * width)``.

    Tap k of the first filter and tap l of the second make one of order k + l: in the row, k widths further on.
    """
    order, width = taps.shape
    size = order * width
    full = width // 4 * 4
    composed[:] = 0
    for f in range(0, full, 4):
        for k in range(order):
            w, x, y, z = taps[k, f], taps[k, f + 1], taps[k, f + 2], taps[k, f + 3]
            part = composed[k * width : k * width + size]
            for i in range(size):
                part[i] += (
                    w * node_taps[f, i] + x * node_taps[f + 1, i] + y * node_taps[f + 2, i] + z * node_taps[f + 3, i]
                )
    for f in range(full, width):
        for k in range(order):
            w = taps[k, f]
            part = composed[k * width : k * width + size]
            for i in range(size):
                part[i] += w * node_taps[f, i]


@_compiled
def _adam(p: Any, g: Any, m: Any, v: Any, rates: Any) -> None:
    size, scale, beta1, beta2, eps = rates
    for c in range(p.shape[0]):
        for i in range(p.shape[1]):
            mean = m[c, i] + (np.float32(1) - beta1) * (g[c, i] - m[c, i])
            square = beta2 * v[c, i] + (np.float32(1) - beta2) * g[c, i] * g[c, i]
            m[c, i] = mean
            v[c, i] = square
            p[c, i] -= size * mean / (np.sqrt(square) * scale + eps)


@_compiled
def _adam_of_products(p: Any, m: Any, v: Any, rates: Any, factors: Any, row: Any, dtaps: Any) -> None:
    """Take Adam's step for a node's taps, whose gradient is ``factors @ r``, and add ``r @ p.T`` to ``dtaps``.

    Row k of r is ``row``, the gradient of the composed taps, from its width k on. This is one pass over the memory of
    p, m and v, which is what a training step mostly waits for. There are always :data:`ORDERS` rows; the factors of
    those beyond the order are zero.
    """
    size, scale, beta1, beta2, eps = rates
    width = p.shape[0]
    for f in range(width):
        a, b, c, d, e = factors[f, 0], factors[f, 1], factors[f, 2], factors[f, 3], factors[f, 4]
        s0 = s1 = s2 = s3 = s4 = np.float32(0)
        for i in range(p.shape[1]):
            old = p[f, i]
            r0, r1, r2 = row[i], row[width + i], row[2 * width + i]
            r3, r4 = row[3 * width + i], row[4 * width + i]
            s0 += old * r0
            s1 += old * r1
            s2 += old * r2
            s3 += old * r3
            s4 += old * r4
            g = a * r0 + b * r1 + c * r2 + d * r3 + e * r4
            mean = m[f, i] + (np.float32(1) - beta1) * (g - m[f, i])
            square = beta2 * v[f, i] + (np.float32(1) - beta2) * g * g
            m[f, i] = mean
            v[f, i] = square
            p[f, i] = old - size * mean / (np.sqrt(square) * scale + eps)
        dtaps[0, f] += s0
        dtaps[1, f] += s1
        dtaps[2, f] += s2
        dtaps[3, f] += s3
        dtaps[4, f] += s4


@_compiled
def _loss(outputs: Any, targets: Any, rows: Any, weights: Any, kind: Any) -> Any:
    """Replace outputs ``(batch, outputs)`` by their gradient and return the loss."""
    batch, count = len(rows), outputs.shape[1]
    total = np.float32(0)
    for b in range(batch):
        weight = weights[b]
        if weight == 0:
            outputs[b, :] = 0
            continue
        row = rows[b]
        if kind == SMOOTH_L1:
            for c in range(count):
                off = outputs[b, c] - targets[row, c]
                size = abs(off)
                total += weight * (np.float32(0.5) * off * off if size < 1 else size - np.float32(0.5))
                outputs[b, c] = weight * min(max(off, np.float32(-1)), np.float32(1))
        else:
            top = outputs[b, 0]
            for c in range(1, count):
                top = max(top, outputs[b, c])
            mass = np.float32(0)
            for c in range(count):
                mass += np.exp(outputs[b, c] - top)
            for c in range(count):
                log = outputs[b, c] - top - np.log(mass)
                total -= weight * targets[row, c] * log
                outputs[b, c] = weight * (np.exp(log) - targets[row, c])
    return total


@_compiled
def train(
    kind: Any,
    loss: Any,
    features: Any,
    targets: Any,
    rows: Any,
    weights: Any,
    nodes: Any,
    key: Any,
    table: Any,
    drop: Any,
    taps: Any,
    node_taps: Any,
    readout: Any,
    bias: Any,
    rate: Any,
    betas: Any,
    first: Any,
) -> Any:
    """Run the steps of ``rows`` ``(steps, batch)`` for one job in place and return the sum of their losses.

    Parameters come as (weights, means, squares), a tuple each: ``taps`` ``(order, width)``, ``node_taps``
    ``(nodes, width, order * width)``, ``readout`` ``(nodes, outputs, width)``, ``bias`` ``(1, outputs)``.
    ``features`` are ``(samples, nodes, terms)``. ``first`` is the number of steps taken
    before.
    """
    steps, batch = rows.shape
    count, outputs, width = nodes.shape[0], readout[0].shape[1], readout[0].shape[2]
    terms, order = features.shape[2], taps[0].shape[0]
    words = (width + 63) // 64
    # Rows come in fours; those that are not there are zero.
    many, rest = (batch + 3) // 4 * 4, (terms + 3) // 4 * 4
    heard = np.zeros((count, many, rest), np.float32)
    hidden = np.zeros((count, many, width), np.float32)
    back = np.zeros((many, width), np.float32)
    bits = np.empty((count, batch, words * 8), np.uint8)
    coefficients = np.zeros((rest, width), np.float32)
    composed = coefficients[:terms].reshape(terms * width)
    most = max(ORDERS, order)
    factors = np.zeros((width, most), np.float32)
    z = np.zeros((many, outputs), np.float32)
    dcomposed = np.zeros((most - 1 + order) * width, np.float32)
    dc = dcomposed[: terms * width].reshape(terms, width)
    dw = np.empty((outputs, width), np.float32)
    dtaps = np.empty((most, width), np.float32)
    dbias = np.empty((1, outputs), np.float32)
    total = np.float64(0)
    for step in range(steps):
        for b in range(batch):
            for c in range(outputs):
                z[b, c] = bias[0][0, c]
            row = rows[step, b]
            for n in range(count):
                for m in range(terms):
                    heard[n, b, m] = features[row, n, m]
        step_key = _mix(key + np.uint64(first + step) * np.uint64(0x9E3779B97F4A7C15))
        if kind != COMPOSED:
            coefficients[:order] = taps[0]
        for n in range(count):
            if kind == COMPOSED:
                _compose(taps[0], node_taps[0][n], composed)
            own = hidden[n]
            _rows(heard[n], coefficients, own)
            if kind == RECTIFIED:
                for b in range(batch):
                    for f in range(width):
                        own[b, f] = max(own[b, f], np.float32(0))
            if drop:
                _draw(bits[n], step_key, nodes[n])
                _mask(own, bits[n], table)
            _read(own, readout[0][n], z)
        for b in range(batch, many):
            z[b, :] = 0
        total += _loss(z, targets, rows[step], weights[step], loss)

        taken = first + step + 1
        rates = (
            np.float32(rate / (1 - betas[0] ** taken)),
            np.float32(1 / math.sqrt(1 - betas[1] ** taken)),
            np.float32(betas[0]),
            np.float32(betas[1]),
            np.float32(betas[2]),
        )
        factors[:, :order] = taps[0].T
        dtaps[:] = 0
        for n in range(count):
            own = hidden[n]
            _unread(z, readout[0][n], back)
            _columns(z, own, dw)
            if drop:
                _mask(back, bits[n], table)
            if kind == RECTIFIED:
                for b in range(batch):
                    for f in range(width):
                        back[b, f] = back[b, f] if own[b, f] > 0 else np.float32(0)
            _columns(heard[n], back, dc)
            _adam(readout[0][n], dw, readout[1][n], readout[2][n], rates)
            if kind == COMPOSED:
                own_taps = node_taps[0][n], node_taps[1][n], node_taps[2][n]
                _adam_of_products(*own_taps, rates, factors, dcomposed, dtaps)
            else:
                for m in range(terms):
                    for f in range(width):
                        dtaps[m, f] += dc[m, f]
        _adam(taps[0], dtaps, taps[1], taps[2], rates)
        for c in range(outputs):
            dbias[0, c] = 0
            for b in range(batch):
                dbias[0, c] += z[b, c]
        _adam(bias[0], dbias, bias[1], bias[2], rates)
    return total
