/** Chunks of COPY's binary format may end anywhere. */
export interface CopyRowsReader {
  push(chunk: Buffer): void;
  /** @throws RangeError if the data ended early */
  end(): void;
}

/** Fields of a row in `source`. Null has the length −1. */
export type OnRow = (source: Buffer, offsets: Int32Array, lengths: Int32Array) => void;

const HEADER_BYTES = 19;
const END = -1;

export function createCopyRowsReader(fields: number, onRow: OnRow): CopyRowsReader {
  const offsets = new Int32Array(fields);
  const lengths = new Int32Array(fields);
  let rest: Buffer = Buffer.alloc(0);
  let isBegun = false;
  let isEnded = false;

  const measure = (source: Buffer, start: number): number => {
    let at = start + 2;
    for (let field = 0; field < fields; field++) {
      if (at + 4 > source.length) return END;
      const length = source.readInt32BE(at);
      at += 4;
      offsets[field] = at;
      lengths[field] = length;
      if (length > 0) at += length;
    }
    return at > source.length ? END : at;
  };

  const readRows = (source: Buffer, begin: number): number => {
    let at = begin;
    while (at + 2 <= source.length) {
      const count = source.readInt16BE(at);
      if (count === END) {
        isEnded = true;
        return source.length;
      }
      if (count !== fields) throw new RangeError(`COPY returned ${count} fields, and not ${fields}`);
      const next = measure(source, at);
      if (next === END) break;
      onRow(source, offsets, lengths);
      at = next;
    }
    return at;
  };

  return {
    push(chunk) {
      const source = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (!isBegun && source.length < HEADER_BYTES) {
        rest = source;
        return;
      }
      const at = readRows(source, isBegun ? 0 : HEADER_BYTES);
      isBegun = true;
      rest = source.subarray(at);
    },
    end() {
      if (!isEnded) throw new RangeError('COPY ended before its last row');
    },
  };
}
