/**
 * COPY's binary format takes two thirds of the time of text. One character per byte: rows sort like
 * lines. Postgres checks nothing, so methods throw TypeError for a wrong value.
 * @see https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
 */
export interface RowWriter {
  begin(fields: number): void;
  nothing(): void;
  boolean(value: boolean): void;
  smallint(value: number): void;
  integer(value: number): void;
  /** @param value a safe integer, or a signed 64-bit one in decimal */
  bigint(value: number | string): void;
  /** @param text digits, optional sign and fraction */
  numeric(text: string): void;
  /** @param hex `0x` and digits */
  bytea(hex: string): void;
  /** Removes NUL, which Postgres can't store; unpaired surrogates become U+FFFD. */
  text(value: string): void;
  /** @param value JSON without NUL */
  jsonb(value: string): void;
  /** @param value ISO 8601 with a time zone */
  timestamp(value: string): void;
  array(type: ArrayElement, values: readonly (number | string)[]): void;
  end(): string;
}

export type ArrayElement = 'smallint' | 'integer' | 'bigint' | 'numeric';

/** Begins with the number of fields, whose first byte never occurs in text. */
export function isBinaryRow(row: string): boolean {
  return row.charCodeAt(0) <= FIELDS_MAX >> 8;
}

const FIELDS_MAX = 1_600;

export const BINARY_HEADER = 'PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0';
export const BINARY_TRAILER = '\xff\xff';

/** The same on every server (pg_type.dat). */
const ELEMENT_OIDS: Readonly<Record<ArrayElement, number>> = {
  smallint: 21,
  integer: 23,
  bigint: 20,
  numeric: 1700,
};

const INITIAL_BYTES = 4_096;
const VALUE_BYTES = 128;
/** Shorter digits are decoded here: a call into Node takes longer. */
const SHORT_HEX = 132;
const SAFE_DIGITS = 15;
const TWO_32 = 2 ** 32;
const YEAR_2000_MS = Date.UTC(2_000);
const NUMERIC_NEGATIVE = 0x4000;
const ZERO = '0'.charCodeAt(0);
const MINUS = '-'.charCodeAt(0);
/** Decimal digits per `numeric` digit. */
const GROUP = 4;
const INTEGER = /^-?\d+$/;
const JSONB_VERSION = 1;

const NO_NIBBLE = 0x10;
const NIBBLES = new Uint8Array(128).fill(NO_NIBBLE);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  NIBBLES[digit.charCodeAt(0)] = value;
  NIBBLES[digit.toUpperCase().charCodeAt(0)] = value;
}

/** One buffer: use one writer per producer. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: all types are written to one buffer.
export function createRowWriter(): RowWriter {
  let bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  let view = viewOf(bytes);
  let at = 0;

  function shortHex(hex: string): void {
    let to = at;
    let all = 0;
    for (let digit = 2; digit < hex.length; digit += 2) {
      const high = NIBBLES[hex.charCodeAt(digit)] ?? NO_NIBBLE;
      const low = NIBBLES[hex.charCodeAt(digit + 1)] ?? NO_NIBBLE;
      all |= high | low;
      bytes[to++] = (high << 4) | low;
    }
    if (all >= NO_NIBBLE) throw notHexadecimal(hex);
  }

  function int16(value: number): void {
    view.setInt16(at, value);
    at += 2;
  }

  function int32(value: number): void {
    view.setInt32(at, value);
    at += 4;
  }

  function room(needed: number): void {
    if (at + needed <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, at + needed));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
    view = viewOf(larger);
  }

  const writer: RowWriter = {
    begin(fields) {
      at = 0;
      int16(fields);
    },
    nothing() {
      room(VALUE_BYTES);
      int32(-1);
    },
    boolean(value) {
      room(VALUE_BYTES);
      int32(1);
      view.setUint8(at++, value ? 1 : 0);
    },
    smallint(value) {
      if ((value << 16) >> 16 !== value) throw notWithin('smallint', value);
      room(VALUE_BYTES);
      int32(2);
      int16(value);
    },
    integer(value) {
      if ((value | 0) !== value) throw notWithin('integer', value);
      room(VALUE_BYTES);
      int32(4);
      int32(value);
    },
    bigint(value) {
      room(VALUE_BYTES);
      int32(8);
      if (typeof value === 'string' && value.length > SAFE_DIGITS) {
        const large = INTEGER.test(value) ? BigInt(value) : null;
        if (large === null || BigInt.asIntN(64, large) !== large) throw notWithin('bigint', value);
        view.setBigInt64(at, large);
      } else {
        const number = value === '' ? Number.NaN : Number(value);
        if (!Number.isSafeInteger(number)) throw notWithin('bigint', value);
        view.setInt32(at, Math.floor(number / TWO_32));
        view.setUint32(at + 4, number >>> 0);
      }
      at += 8;
    },
    numeric(text) {
      const start = text.charCodeAt(0) === MINUS ? 1 : 0;
      const point = text.indexOf('.');
      const end = point < 0 ? text.length : point;
      const scale = point < 0 ? 0 : text.length - point - 1;
      const above = Math.ceil((end - start) / GROUP);
      const below = Math.ceil(scale / GROUP);
      if (above === 0) throw notDecimal(text);
      const length = 8 + 2 * (above + below);
      room(length + VALUE_BYTES);
      int32(length);
      int16(above + below);
      int16(above - 1);
      int16(start === 0 ? 0 : NUMERIC_NEGATIVE);
      int16(scale);
      for (let to = end - (above - 1) * GROUP; to <= end; to += GROUP)
        int16(digitsAt(text, Math.max(to - GROUP, start), to));
      for (let from = end + 1; from < text.length; from += GROUP) int16(digitsAt(text, from, from + GROUP));
    },
    bytea(hex) {
      const length = (hex.length - 2) / 2;
      if (!Number.isInteger(length) || !hex.startsWith('0x')) throw notHexadecimal(hex);
      room(length + VALUE_BYTES);
      int32(length);
      if (hex.length > SHORT_HEX) {
        if (bytes.write(hex.slice(2), at, 'hex') !== length) throw notHexadecimal(hex);
      } else shortHex(hex);
      at += length;
    },
    text(value) {
      const storable = value.replaceAll('\0', '').toWellFormed();
      const length = Buffer.byteLength(storable);
      room(length + VALUE_BYTES);
      int32(length);
      at += bytes.write(storable, at);
    },
    jsonb(value) {
      const length = Buffer.byteLength(value);
      room(length + VALUE_BYTES);
      int32(length + 1);
      view.setUint8(at++, JSONB_VERSION);
      at += bytes.write(value, at);
    },
    timestamp(value) {
      const ms = Date.parse(value);
      if (Number.isNaN(ms)) throw new TypeError(`${JSON.stringify(value)} is no time`);
      writer.bigint((ms - YEAR_2000_MS) * 1_000);
    },
    array(type, values) {
      room(VALUE_BYTES);
      const lengthAt = at;
      const { length } = values;
      int32(0);
      for (const part of length === 0 ? [0, 0, ELEMENT_OIDS[type]] : [1, 0, ELEMENT_OIDS[type], length, 1])
        int32(part);
      for (const value of values)
        if (type === 'numeric') writer.numeric(String(value));
        else if (type === 'bigint') writer.bigint(value);
        else writer[type](Number(value));
      view.setInt32(lengthAt, at - lengthAt - 4);
    },
    end() {
      return bytes.toString('latin1', 0, at);
    },
  };
  return writer;
}

/** Beyond the end, zeros. @throws TypeError for other characters */
function digitsAt(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = at < text.length ? text.charCodeAt(at) - ZERO : 0;
    if (digit < 0 || digit > 9) throw notDecimal(text);
    value = value * 10 + digit;
  }
  return value;
}

const notDecimal = (text: string) => new TypeError(`${JSON.stringify(text)} is no decimal number`);
const notWithin = (type: string, value: number | string) => new TypeError(`${value} is no ${type}`);
const notHexadecimal = (hex: string) =>
  new TypeError(`${JSON.stringify(hex.slice(0, SHOWN_CHARACTERS))} are no bytes in hexadecimal digits`);

const SHOWN_CHARACTERS = 100;

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer) => new DataView(buffer, byteOffset, byteLength);
