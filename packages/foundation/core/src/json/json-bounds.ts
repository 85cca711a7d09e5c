import { ChainsteadError } from '../errors/error.ts';

export interface JsonBounds {
  readonly depthMax: number;
  /** The whole, list items and members count. */
  readonly valuesMax: number;
  /** Estimated bytes of the parsed objects. @default no bound */
  readonly heapBytesMax?: number;
}

export const JSON_DEPTH_MAX = 64;

const EXCEEDED = {
  depth: (max: number) => `JSON is nested deeper than ${max} levels`,
  values: (max: number) => `JSON holds more than ${max} values`,
  heap: (max: number) => `JSON holds more values than fit ${max} bytes of memory`,
};

/** JSON that exceeds its reader's limits. Thrown before parsing. */
export class JsonBoundsError extends ChainsteadError {
  constructor(kind: keyof typeof EXCEEDED, max: number) {
    const isDeep = kind === 'depth';
    super({
      code: isDeep ? 'JSON_TOO_DEEP' : 'JSON_TOO_MANY_VALUES',
      message: EXCEEDED[kind](max),
      facts: { max },
      remedy: isDeep ? 'Send it with fewer levels' : 'Send it in several requests',
      retryable: false,
    });
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;

/** Bytes in V8, measured: a list or object, a place in it, a string, and a name that no object before had. */
const HEAP = { container: 64, place: 8, string: 56, newName: 200 };
/** V8 keeps shorter strings once. */
const COPIED_FROM_LENGTH = 11;
const FNV_PRIME = 16_777_619;
/** Senders can't choose strings of equal hashes. */
const SEED = Math.floor(Math.random() * 2 ** 32);
/** Eight million bits. */
const SEEN_BYTES = 2 ** 20;

/** Native code searches longer strings, and the bytes of a new name fit theirs: no hash is needed. */
const LONG_STRING = 128;

/** Counts without parsing: a byte can become 30 bytes of objects. @throws JsonBoundsError */
export function countJsonValues(json: Uint8Array, { depthMax, valuesMax, heapBytesMax }: JsonBounds): number {
  const seen = heapBytesMax === undefined ? null : new Uint8Array(SEEN_BYTES);
  const endOfString = findStringEnds(json);
  let values = 1;
  let depth = 0;
  let heap = 0;
  let isOpened = false;
  /** Bytes of the last string. */
  let ofString = 0;
  let isNew = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (byte <= SPACE) continue;
    const isEnd = byte === LIST_END || byte === OBJECT_END;
    if (byte === COMMA || (isOpened && !isEnd)) {
      values++;
      heap += HEAP.place;
      if (values > valuesMax) throw new JsonBoundsError('values', valuesMax);
      if (heapBytesMax !== undefined && heap > heapBytesMax) throw new JsonBoundsError('heap', heapBytesMax);
    }
    isOpened = byte === LIST || byte === OBJECT;
    if (isOpened) {
      depth++;
      heap += HEAP.container;
      if (depth > depthMax) throw new JsonBoundsError('depth', depthMax);
    } else if (isEnd) depth--;
    else if (byte === QUOTE) {
      const start = at + 1;
      at = endOfString(start);
      if (seen === null) continue;
      isNew = at - start >= LONG_STRING || addString(seen, json, start, at);
      ofString = isNew || at - start >= COPIED_FROM_LENGTH ? HEAP.string + at - start : 0;
      heap += ofString;
    } else if (byte === COLON) heap += isNew ? HEAP.newName : -ofString;
  }
  return values;
}

/** For ascending starts: each byte is searched once. @returns the closing quote of a string, or the end */
function findStringEnds(json: Uint8Array): (start: number) => number {
  let quote = -1;
  let backslash = -1;
  const placeOf = (byte: number, from: number): number => {
    const place = json.indexOf(byte, from);
    return place === -1 ? json.length : place;
  };
  return (start) => {
    let at = start;
    let nearEnd = start + LONG_STRING;
    while (at < json.length) {
      const byte = json[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) {
        at += 2;
        nearEnd = at + LONG_STRING;
      } else if (at < nearEnd) at++;
      else {
        if (quote < at) quote = placeOf(QUOTE, at);
        if (backslash < at) backslash = placeOf(BACKSLASH, at);
        at = Math.min(quote, backslash);
      }
    }
    return at;
  };
}

/** @returns whether it is the first of its hash */
function addString(seen: Uint8Array, json: Uint8Array, start: number, end: number): boolean {
  let hash = SEED;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (json[at] ?? 0), FNV_PRIME);
  const bit = 1 << ((hash >>> 9) & 7);
  const before = seen[hash >>> 12] ?? 0;
  seen[hash >>> 12] = before | bit;
  return (before & bit) === 0;
}

/** Below, nothing takes more than 30 MB. */
const MEASURED_FROM_BYTES = 1024 * 1024;
const HEAP_BYTES_PER_BYTE = 4;

/**
 * Refuses JSON whose objects would take more than four times its bytes. With its bytes and text, it takes six times.
 * Blocks, receipts, logs and traces take up to 2.2 times.
 * @throws JsonBoundsError
 */
export function requireModestJson(
  json: Uint8Array,
  { depthMax = JSON_DEPTH_MAX, fromBytes = MEASURED_FROM_BYTES } = {},
): void {
  const bounds = { depthMax, valuesMax: Number.POSITIVE_INFINITY };
  const heapBytesMax = HEAP_BYTES_PER_BYTE * json.length;
  countJsonValues(json, json.length < fromBytes ? bounds : { ...bounds, heapBytesMax });
}

/** Parses bytes of others after {@link requireModestJson}. @throws JsonBoundsError, SyntaxError */
export function parseModestJson(json: Buffer, options?: Parameters<typeof requireModestJson>[1]): unknown {
  requireModestJson(json, options);
  return JSON.parse(json.toString('utf8'));
}

/** @throws JsonBoundsError, SyntaxError */
export function parseBoundedJson(text: string, bounds: JsonBounds): unknown {
  countJsonValues(Buffer.from(text), bounds);
  return JSON.parse(text);
}

/** At least `length` characters, few more: a refused value may be as long as its body. */
export function startOfJson(value: unknown, length: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, Math.max(length, 0)));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  let isFirst = true;
  for (const key in value) {
    if (text.length > length) return text;
    const item: unknown = Reflect.get(value, key);
    const name = isList ? '' : `${JSON.stringify(key.slice(0, Math.max(length, 0)))}:`;
    text += `${isFirst ? '' : ','}${name}${startOfJson(item, length - text.length)}`;
    isFirst = false;
  }
  return text + (isList ? ']' : '}');
}
