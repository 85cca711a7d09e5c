import { countJsonValues, JSON_DEPTH_MAX } from '@chainstead/core';
import {
  BATCH_MAX,
  EMPTY_BATCH,
  invalidParams,
  invalidRequest,
  PARSE_ERROR,
  type RpcErrorObject,
} from './rpc-errors.ts';

interface RpcRequest {
  /** As written; null: a notification, which gets no response. */
  readonly id: string | null;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface RefusedRequest {
  /** `null` if it can't be read. */
  readonly id: string;
  readonly error: RpcErrorObject;
}

export type ReadRequest = RpcRequest | RefusedRequest;

type RequestBody =
  | { readonly kind: 'single'; readonly request: ReadRequest }
  | { readonly kind: 'batch'; readonly requests: readonly ReadRequest[] }
  | { readonly kind: 'batch-too-large' };

/** Filters have thousands of addresses, overrides thousands of slots. */
const BODY_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 50_000 };

/** @returns the number of JSON values @throws JsonBoundsError */
export function measureBody(body: Buffer): number {
  return countJsonValues(body, BODY_BOUNDS);
}

/** After measuring. Never throws: invalid input becomes a refused request. */
export function readRequests(text: string): RequestBody {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return single({ id: 'null', error: PARSE_ERROR });
  }
  if (!Array.isArray(value)) return single(readRequest(value, () => idText(text)));
  if (value.length === 0) return single({ id: 'null', error: EMPTY_BATCH });
  if (value.length > BATCH_MAX) return { kind: 'batch-too-large' };
  const ids = idTexts(text);
  return { kind: 'batch', requests: value.map((item, index) => readRequest(item, () => ids[index] ?? null)) };
}

function single(request: ReadRequest): RequestBody {
  return { kind: 'single', request };
}

function readRequest(value: unknown, writtenId: () => string | null): ReadRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('null', invalidRequest('it is not an object'));
  const { id: given, jsonrpc, method, params }: Readonly<Record<string, unknown>> = Object(value);
  const id = readId(given, writtenId);
  if (id === false) return refuse('null', invalidRequest('id must be a number, a string or null'));
  if (jsonrpc !== '2.0') return refuse(id, invalidRequest('jsonrpc must be "2.0"'));
  if (typeof method !== 'string' || method === '') return refuse(id, invalidRequest('method is missing'));
  if (params === undefined || params === null) return { id, method, params: [] };
  if (!Array.isArray(params)) return refuse(id, invalidParams('params must be an array'));
  return { id, method, params };
}

function refuse(id: string | null, error: RpcErrorObject): RefusedRequest {
  return { id: id ?? 'null', error };
}

/** JSON text; null: none; false: invalid type. */
function readId(id: unknown, written: () => string | null): string | null | false {
  if (id === undefined) return null;
  if (id === null) return 'null';
  if (typeof id !== 'number' && typeof id !== 'string') return false;
  // A key written with escapes is not found in the text.
  return written() ?? JSON.stringify(id);
}

/** Ids in their spelling (`1.0`, beyond 2^53). Only for text that JSON.parse accepted. */
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Null: none. The last `id` wins, as in JSON.parse. */
export function idText(text: string): string | null {
  return plainIdText(text) ?? scanObject(text, skipSpace(text, 0)).id;
}

/** If `"id"` occurs once, without escapes. Null: a full scan is needed. */
function plainIdText(text: string): string | null {
  const key = text.indexOf('"id":');
  if (key === -1 || text.lastIndexOf('"id"') !== key || text.indexOf('"id"') !== key || text.includes('\\'))
    return null;
  const start = key + '"id":'.length;
  const end = text.charCodeAt(start) === QUOTE ? text.indexOf('"', start + 1) + 1 : skipValue(text, start);
  return text.charCodeAt(start) <= SPACE ? null : text.slice(start, end);
}

/** Null for elements that are not objects. */
export function idTexts(text: string): (string | null)[] {
  const ids: (string | null)[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    if (text.charCodeAt(at) === OPEN_BRACE) {
      const { id, end } = scanObject(text, at);
      ids.push(id);
      at = end;
    } else {
      ids.push(null);
      at = skipValue(text, at);
    }
    at = skipSpace(text, at);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return ids;
}

function scanObject(text: string, start: number): { readonly id: string | null; readonly end: number } {
  let id: string | null = null;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const isId = text.startsWith('"id"', at);
    at = skipSpace(text, skipString(text, at));
    if (text.charCodeAt(at) === COLON) at = skipSpace(text, at + 1);
    const end = skipValue(text, at);
    if (isId) id = text.slice(at, end);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return { id, end: at + 1 };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

function skipValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(text, from);
  let at = from + 1;
  for (; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === COMMA || character === CLOSE_BRACE || character === CLOSE_BRACKET || character <= SPACE)
      break;
  }
  return at;
}

/** No recursion: nesting may be as deep as the body is long. */
function skipNested(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    at += 1;
    if (character === OPEN_BRACE || character === OPEN_BRACKET) depth += 1;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return at;
}

function skipString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
