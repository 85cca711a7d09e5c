import { countJsonValues, JSON_DEPTH_MAX } from '@chainstead/core';
import { idText, idTexts } from './id-text.ts';
import {
  BATCH_MAX,
  EMPTY_BATCH,
  invalidParams,
  invalidRequest,
  PARSE_ERROR,
  type RpcErrorObject,
} from './rpc-errors.ts';

export interface RpcRequest {
  /** As written; null: a notification, which gets no response. */
  readonly id: string | null;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RefusedRequest {
  /** `null` if it can't be read. */
  readonly id: string;
  readonly error: RpcErrorObject;
}

export type ReadRequest = RpcRequest | RefusedRequest;

export type RequestBody =
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
