import type { ColumnKind } from '../tables/export-table.ts';

export interface ColumnValues {
  add(source: Buffer, offset: number, length: number): void;
  /** Microseconds since 1970, or any other value of the kind. */
  addValue(value: bigint | null): void;
  /** Values since the last call, valid until the next is added. */
  take(): Values;
}

type Values = Int32Array | BigInt64Array | Float64Array | (bigint | number | boolean | Uint8Array | null)[];

const POSTGRES_EPOCH_US = 946_684_800_000_000n;

export function createColumnValues(kind: ColumnKind, isNullable: boolean, capacity: number): ColumnValues {
  if (isNullable) return listOf(READERS[kind]);
  if (kind === 'int32') return arrayOf(new Int32Array(capacity), READERS.int32, Number);
  if (kind === 'double') return arrayOf(new Float64Array(capacity), READERS.double, Number);
  if (kind === 'int64' || kind === 'timestamp')
    return arrayOf(new BigInt64Array(capacity), READERS[kind], (value) => value ?? 0n);
  return listOf(READERS[kind]);
}

type Read<T> = (source: Buffer, offset: number, length: number) => T;

const readBytes: Read<Uint8Array> = (source, offset, length) =>
  new Uint8Array(source.buffer, source.byteOffset + offset, length);

const READERS = {
  int32: (source: Buffer, offset: number) => source.readInt32BE(offset),
  int64: (source: Buffer, offset: number) => source.readBigInt64BE(offset),
  double: (source: Buffer, offset: number) => source.readDoubleBE(offset),
  boolean: (source: Buffer, offset: number) => source[offset] === 1,
  bytes: readBytes,
  text: readBytes,
  timestamp: (source: Buffer, offset: number) => source.readBigInt64BE(offset) + POSTGRES_EPOCH_US,
};

function listOf(read: Read<bigint | number | boolean | Uint8Array>): ColumnValues {
  let values: (bigint | number | boolean | Uint8Array | null)[] = [];
  return {
    add: (source, offset, length) => values.push(length < 0 ? null : read(source, offset, length)),
    addValue: (value) => values.push(value),
    take() {
      const taken = values;
      values = [];
      return taken;
    },
  };
}

function arrayOf<
  Value extends number | bigint,
  Store extends Exclude<Values, unknown[]> & { [index: number]: Value },
>(values: Store, read: Read<Value>, convert: (value: bigint | null) => Value): ColumnValues {
  const writable: { [index: number]: Value } = values;
  let count = 0;
  return {
    add(source, offset, length) {
      writable[count++] = read(source, offset, length);
    },
    addValue(value) {
      writable[count++] = convert(value);
    },
    take() {
      const taken = values.subarray(0, count);
      count = 0;
      return taken;
    },
  };
}
