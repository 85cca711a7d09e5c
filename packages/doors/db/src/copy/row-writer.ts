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
export function createRowWriter(): RowWriter {
  return new BytesWriter();
}

class BytesWriter implements RowWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #view = viewOf(this.#bytes);
  #at = 0;

  begin(fields: number): void {
    this.#at = 0;
    this.#int16(fields);
  }

  nothing(): void {
    this.#room(VALUE_BYTES);
    this.#int32(-1);
  }

  boolean(value: boolean): void {
    this.#room(VALUE_BYTES);
    this.#int32(1);
    this.#view.setUint8(this.#at++, value ? 1 : 0);
  }

  smallint(value: number): void {
    if ((value << 16) >> 16 !== value) throw notWithin('smallint', value);
    this.#room(VALUE_BYTES);
    this.#int32(2);
    this.#int16(value);
  }

  integer(value: number): void {
    if ((value | 0) !== value) throw notWithin('integer', value);
    this.#room(VALUE_BYTES);
    this.#int32(4);
    this.#int32(value);
  }

  bigint(value: number | string): void {
    this.#room(VALUE_BYTES);
    this.#int32(8);
    if (typeof value === 'string' && value.length > SAFE_DIGITS) {
      const large = INTEGER.test(value) ? BigInt(value) : null;
      if (large === null || BigInt.asIntN(64, large) !== large) throw notWithin('bigint', value);
      this.#view.setBigInt64(this.#at, large);
    } else {
      const number = value === '' ? Number.NaN : Number(value);
      if (!Number.isSafeInteger(number)) throw notWithin('bigint', value);
      this.#view.setInt32(this.#at, Math.floor(number / TWO_32));
      this.#view.setUint32(this.#at + 4, number >>> 0);
    }
    this.#at += 8;
  }

  numeric(text: string): void {
    const start = text.charCodeAt(0) === MINUS ? 1 : 0;
    const point = text.indexOf('.');
    const end = point < 0 ? text.length : point;
    const scale = point < 0 ? 0 : text.length - point - 1;
    const above = Math.ceil((end - start) / GROUP);
    const below = Math.ceil(scale / GROUP);
    if (above === 0) throw notDecimal(text);
    const length = 8 + 2 * (above + below);
    this.#room(length + VALUE_BYTES);
    this.#int32(length);
    this.#int16(above + below);
    this.#int16(above - 1);
    this.#int16(start === 0 ? 0 : NUMERIC_NEGATIVE);
    this.#int16(scale);
    for (let to = end - (above - 1) * GROUP; to <= end; to += GROUP)
      this.#int16(digitsAt(text, Math.max(to - GROUP, start), to));
    for (let from = end + 1; from < text.length; from += GROUP) this.#int16(digitsAt(text, from, from + GROUP));
  }

  bytea(hex: string): void {
    const length = (hex.length - 2) / 2;
    if (!Number.isInteger(length) || !hex.startsWith('0x')) throw notHexadecimal(hex);
    this.#room(length + VALUE_BYTES);
    this.#int32(length);
    if (hex.length > SHORT_HEX) {
      if (this.#bytes.write(hex.slice(2), this.#at, 'hex') !== length) throw notHexadecimal(hex);
    } else this.#shortHex(hex);
    this.#at += length;
  }

  text(value: string): void {
    const storable = value.replaceAll('\0', '').toWellFormed();
    const length = Buffer.byteLength(storable);
    this.#room(length + VALUE_BYTES);
    this.#int32(length);
    this.#at += this.#bytes.write(storable, this.#at);
  }

  jsonb(value: string): void {
    const length = Buffer.byteLength(value);
    this.#room(length + VALUE_BYTES);
    this.#int32(length + 1);
    this.#view.setUint8(this.#at++, JSONB_VERSION);
    this.#at += this.#bytes.write(value, this.#at);
  }

  timestamp(value: string): void {
    const ms = Date.parse(value);
    if (Number.isNaN(ms)) throw new TypeError(`${JSON.stringify(value)} is no time`);
    this.bigint((ms - YEAR_2000_MS) * 1_000);
  }

  array(type: ArrayElement, values: readonly (number | string)[]): void {
    this.#room(VALUE_BYTES);
    const lengthAt = this.#at;
    const { length } = values;
    this.#int32(0);
    for (const part of length === 0 ? [0, 0, ELEMENT_OIDS[type]] : [1, 0, ELEMENT_OIDS[type], length, 1])
      this.#int32(part);
    for (const value of values)
      if (type === 'numeric') this.numeric(String(value));
      else if (type === 'bigint') this.bigint(value);
      else this[type](Number(value));
    this.#view.setInt32(lengthAt, this.#at - lengthAt - 4);
  }

  end(): string {
    return this.#bytes.toString('latin1', 0, this.#at);
  }

  #shortHex(hex: string): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let all = 0;
    for (let digit = 2; digit < hex.length; digit += 2) {
      const high = NIBBLES[hex.charCodeAt(digit)] ?? NO_NIBBLE;
      const low = NIBBLES[hex.charCodeAt(digit + 1)] ?? NO_NIBBLE;
      all |= high | low;
      bytes[at++] = (high << 4) | low;
    }
    if (all >= NO_NIBBLE) throw notHexadecimal(hex);
  }

  #int16(value: number): void {
    this.#view.setInt16(this.#at, value);
    this.#at += 2;
  }

  #int32(value: number): void {
    this.#view.setInt32(this.#at, value);
    this.#at += 4;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
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
