import { isObject } from '@chainstead/core';
import type { JsonAnswer } from './http-endpoint.ts';

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | {
      readonly kind: 'error';
      readonly code: number | undefined;
      readonly text: string;
      readonly message: string;
      readonly data: unknown;
    }
  /** Neither result nor error, or another call's. */
  | { readonly kind: 'malformed'; readonly text: string };

export function encodeCall(call: RpcCall, id: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: call.method, params: call.params });
}

/** @param call.params JSON text */
export function encodeRawCall(call: { readonly method: string; readonly params: string }, id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(call.method)},"params":${call.params}}`;
}

export function encodeBatch(calls: readonly RpcCall[]): string {
  return `[${calls.map((call, index) => encodeCall(call, index)).join(',')}]`;
}

export function decodeReply(answer: JsonAnswer, id: number): RpcReply {
  const json = answer.json;
  if (Array.isArray(json)) {
    const only: unknown = json[0];
    return json.length === 1 ? decodeElement(only, id) : malformed('a list instead of one answer');
  }
  if (answer.status < 200 || answer.status > 299) return httpError(answer);
  return decodeElement(json, id);
}

export function decodeBatch(answer: JsonAnswer, count: number): RpcReply[] | RpcReply {
  if (!Array.isArray(answer.json)) {
    if (answer.status < 200 || answer.status > 299) return httpError(answer);
    const whole = decodeElement(answer.json, undefined);
    return whole.kind === 'error' ? whole : malformed('one answer instead of a list');
  }
  const list: unknown[] = answer.json;
  // Some nodes refuse with a list of one error.
  if (list.length === 1 && count > 1) {
    const only = decodeElement(list[0], undefined);
    if (only.kind === 'error') return only;
  }
  const byId = new Map<unknown, unknown>();
  for (const element of list) if (isObject(element)) byId.set(element.id, element);
  return Array.from({ length: count }, (_, id) => {
    const element = byId.get(id) ?? byId.get(String(id));
    return element === undefined
      ? malformed('an element of the batch has no answer')
      : decodeElement(element, id);
  });
}

function decodeElement(json: unknown, id: number | undefined): RpcReply {
  if (!isObject(json)) return malformed(`not a JSON-RPC answer: ${JSON.stringify(json)?.slice(0, 80)}`);
  const error = json.error;
  if (error !== undefined && error !== null) return decodeError(error);
  if (!('result' in json)) {
    // Gateways respond with {"code", "message"} or {"message"}.
    return typeof json.message === 'string' ? decodeError(json) : malformed('neither result nor error');
  }
  if (id !== undefined && json.id !== undefined && json.id !== null && String(json.id) !== String(id))
    return malformed(`the response to call ${id} carries id ${String(json.id).slice(0, 20)}`);
  return { kind: 'result', result: json.result };
}

function decodeError(error: unknown): RpcReply {
  if (!isObject(error)) {
    const message = String(error);
    return { kind: 'error', code: undefined, text: message.slice(0, 1000), message, data: undefined };
  }
  const code = Number(error.code);
  const message = typeof error.message === 'string' ? error.message : JSON.stringify(error);
  // reth's size limit is in `data`.
  const detail = typeof error.data === 'string' && !error.data.startsWith('0x') ? ` (${error.data})` : '';
  return {
    kind: 'error',
    code: Number.isInteger(code) ? code : undefined,
    text: `${message}${detail}`.slice(0, 1000),
    message,
    data: error.data,
  };
}

function httpError(answer: JsonAnswer): RpcReply {
  const inside = isObject(answer.json) ? decodeElement(answer.json, undefined) : undefined;
  if (inside?.kind === 'error') return inside;
  return { kind: 'error', code: undefined, text: answer.text, message: answer.text, data: undefined };
}

function malformed(text: string): RpcReply {
  return { kind: 'malformed', text };
}
