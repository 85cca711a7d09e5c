import type { ColumnKind } from '../tables/export-column.ts';

/** Values of one column, gathered from the binary format of COPY. */
export interface ColumnValues {
  /** @param length −1: null */
  add(source: Buffer, offset: number, length: number): void;
  /** Adds microseconds since 1970, or any other value of the kind. */
  addValue(value: bigint | null): void;
  /** Returns the values since the last call. They are valid until the next value is added. */
  take(): Values;
}

type Values = Int32Array | BigInt64Array | Float64Array | (bigint | number | boolean | Uint8Array | null)[];

/** Microseconds from 1970 to 2000, where times of Postgres begin. */
const POSTGRES_EPOCH_US = 946_684_800_000_000n;

/** @param capacity values between two calls of `take` */
export function createColumnValues(kind: ColumnKind, isNullable: boolean, capacity: number): ColumnValues {
  if (isNullable) return listOf(READERS[kind]);
  if (kind === 'int32') return numbers(new Int32Array(capacity), READERS.int32);
  if (kind === 'double') return numbers(new Float64Array(capacity), READERS.double);
  if (kind === 'int64' || kind === 'timestamp') return bigints(new BigInt64Array(capacity), READERS[kind]);
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

function numbers(values: Int32Array | Float64Array, read: Read<number>): ColumnValues {
  let count = 0;
  return {
    add(source, offset, length) {
      values[count++] = read(source, offset, length);
    },
    addValue(value) {
      values[count++] = Number(value);
    },
    take() {
      const taken = values.subarray(0, count);
      count = 0;
      return taken;
    },
  };
}

function bigints(values: BigInt64Array, read: Read<bigint>): ColumnValues {
  let count = 0;
  return {
    add(source, offset, length) {
      values[count++] = read(source, offset, length);
    },
    addValue(value) {
      values[count++] = value ?? 0n;
    },
    take() {
      const taken = values.subarray(0, count);
      count = 0;
      return taken;
    },
  };
}
