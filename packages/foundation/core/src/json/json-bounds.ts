import { ChainsteadError } from '../errors/error.ts';

export interface JsonBounds {
  readonly depthMax: number;
  /** The whole, list items and members count. */
  readonly valuesMax: number;
}

export const JSON_DEPTH_MAX = 64;

/** JSON that exceeds its reader's limits. Thrown before parsing. */
export class JsonBoundsError extends ChainsteadError {
  constructor(kind: 'depth' | 'values', max: number) {
    const isDeep = kind === 'depth';
    super({
      code: isDeep ? 'JSON_TOO_DEEP' : 'JSON_TOO_MANY_VALUES',
      message: isDeep ? `JSON is nested deeper than ${max} levels` : `JSON holds more than ${max} values`,
      facts: { max },
      remedy: isDeep ? 'Send it with fewer levels' : 'Send it in several requests',
      retryable: false,
    });
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const SPACE = 0x20;

/** Counts without parsing: a byte can become 30 bytes of objects. @throws JsonBoundsError */
export function countJsonValues(json: Uint8Array, { depthMax, valuesMax }: JsonBounds): number {
  let values = 1;
  let depth = 0;
  let isOpened = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (byte <= SPACE) continue;
    const isEnd = byte === LIST_END || byte === OBJECT_END;
    if (byte === COMMA || (isOpened && !isEnd)) {
      values++;
      if (values > valuesMax) throw new JsonBoundsError('values', valuesMax);
    }
    isOpened = byte === LIST || byte === OBJECT;
    if (isOpened) {
      depth++;
      if (depth > depthMax) throw new JsonBoundsError('depth', depthMax);
    } else if (isEnd) depth--;
    else if (byte === QUOTE)
      for (at++; at < json.length && json[at] !== QUOTE; ) at += json[at] === BACKSLASH ? 2 : 1;
  }
  return values;
}

/** Shortest values of responses have ten bytes with their names. Lists of small numbers are short. */
const BYTES_PER_VALUE = 10;
const FREE_VALUES = 100_000;

/** So many values that objects take a few times the bytes, and not 30 times. */
export function valuesOfBytes(bytes: number): number {
  return FREE_VALUES + Math.floor(bytes / BYTES_PER_VALUE);
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
