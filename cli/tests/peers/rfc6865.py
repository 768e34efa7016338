"""Another decoder of the Simple Reed-Solomon scheme, written from the text of RFC 6865 and RFC 5510 alone.

Reads what a sender put on the wire, a datagram a line ("media" or "repair", and its bytes in hexadecimal), drops source
packets of every block, as many as it has repair packets, computes them from the rest by inverting Vandermonde matrices
(RFC 5510 section 8), and compares them with the dropped ones byte for byte. Prints how many blocks and packets.
"""

import sys
from collections import defaultdict
from functools import cache

# GF(2^8) of RFC 5510 section 8.1: the primitive polynomial for m = 8 is x^8 + x^4 + x^3 + x^2 + 1, alpha = x.
EXP, LOG = [0] * 255, [0] * 256
value = 1
for power in range(255):
    EXP[power], LOG[value] = value, power
    value = value << 1 ^ (0x11D if value & 0x80 else 0)


def mul(a, b):
    return EXP[(LOG[a] + LOG[b]) % 255] if a and b else 0


TABLES = [bytes(mul(factor, byte) for byte in range(256)) for factor in range(256)]


def vandermonde(k, columns):
    """V with V[i][j] = alpha^(i j), of the given columns j (RFC 5510 section 8.2)."""
    return [[EXP[i * j % 255] for j in columns] for i in range(k)]


def added(a, b):
    """The sum of two symbols."""
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def combine(factors, symbols):
    """The sum of symbols, each multiplied by its factor."""
    total = bytes(len(symbols[0]))
    for factor, symbol in zip(factors, symbols):
        if factor:
            total = added(total, symbol.translate(TABLES[factor]))
    return total


def times(a, b):
    rows = [bytes(row) for row in b]
    return [combine(row, rows) for row in a]


def inverse(matrix):
    """Gauss and Jordan."""
    k = len(matrix)
    rows = [bytes(row) + bytes(int(i == j) for j in range(k)) for i, row in enumerate(matrix)]
    for i in range(k):
        pivot = next(j for j in range(i, k) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = rows[i].translate(TABLES[EXP[-LOG[rows[i][i]] % 255]])
        for j in range(k):
            if j != i and rows[j][i]:
                rows[j] = added(rows[j], rows[i].translate(TABLES[rows[j][i]]))
    return [row[k:] for row in rows]


@cache
def systematic(k):
    return inverse(vandermonde(k, range(k)))


def generator(k, columns):
    """Columns of GM = V[k,k]^-1 V[k,n] (RFC 5510 section 8.2)."""
    return times(systematic(k), vandermonde(k, columns))


def payload_id(data):
    """Source block number (24 bits), encoding symbol ID (8 bits), source block length (16 bits): RFC 6865 5.1.2, 5.1.3."""
    return int.from_bytes(data[:3], "big"), data[3], int.from_bytes(data[4:6], "big")


def adui(adu, size):
    """Flow 0, length, the ADU, zeros (RFC 6865 section 4.3)."""
    return (b"\0" + len(adu).to_bytes(2, "big") + adu).ljust(size, b"\0")


def rtp_payload(datagram):
    """Payload, and the data of the header extension (RFC 3550 section 5.1, 5.3.1)."""
    at, extension = 12 + 4 * (datagram[0] & 15), b""
    if datagram[0] & 0x10:
        words = int.from_bytes(datagram[at + 2 : at + 4], "big")
        extension = datagram[at + 4 : at + 4 + 4 * words]
        at += 4 + 4 * words
    return datagram[at:], extension


def read(lines, plain):
    """ADUs and repair symbols by block."""
    sources, repairs, numbered = defaultdict(dict), defaultdict(dict), {}
    bounds = {}
    for line in lines:
        kind, data = line.split()
        data = bytes.fromhex(data)
        if kind == "media" and 192 <= data[1] <= 223:
            continue  # RTCP
        if kind == "repair" or data[1] & 0x7F == 97:
            packet, extension = (data, b"") if kind == "repair" else rtp_payload(data)
            sbn, esi, k = payload_id(packet)
            repairs[sbn, k][esi] = packet[6:]
            if plain:
                assert extension[0] == 0x12, "element 1 of three bytes (RFC 8285 section 4.2)"
                bounds[sbn, k] = int.from_bytes(extension[1:3], "big"), extension[3]
        elif plain:
            numbered[int.from_bytes(data[2:4], "big")] = data
        else:
            sbn, esi, k = payload_id(data[-6:])
            sources[sbn, k][esi] = data[:-6]
    for block, (base, stride) in bounds.items():
        here = {esi: numbered.get((base + esi * stride) & 0xFFFF) for esi in range(block[1])}
        sources[block] = {esi: adu for esi, adu in here.items() if adu}
    return sources, repairs


def check(k, sources, repairs):
    """Recovers dropped packets of one block; returns how many."""
    size = len(next(iter(repairs.values())))
    assert size == 3 + max(map(len, sources.values())), "E is the length of the longest ADUI"
    symbols = {esi: adui(adu, size) for esi, adu in sources.items()}
    dropped = sorted(sources, key=lambda esi: esi * 7 % 31)[: len(repairs)]
    kept = [esi for esi in sources if esi not in dropped]
    received = (kept + sorted(repairs))[:k]
    values = [symbols[esi] if esi < k else repairs[esi] for esi in received]
    # e = s GM, so s = e GM'^-1 with the columns of GM that were received (RFC 5510 section 8.3).
    decoder = inverse(generator(k, received))
    for esi in dropped:
        symbol = combine([row[esi] for row in decoder], values)
        length = int.from_bytes(symbol[1:3], "big")
        assert symbol[0] == 0 and symbol[3 : 3 + length] == sources[esi], f"packet {esi} of {k}"
        assert not any(symbol[3 + length :]), "padding is zeros"
    return len(dropped)


def main(path, mode):
    with open(path, encoding="ascii") as lines:
        sources, repairs = read(lines, mode == "plain")
    blocks = packets = 0
    for (sbn, k), symbols in repairs.items():
        if len(sources[sbn, k]) == k:
            blocks, packets = blocks + 1, packets + check(k, sources[sbn, k], symbols)
    print(blocks, packets)


main(*sys.argv[1:])
