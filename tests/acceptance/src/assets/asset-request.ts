/** Requests to operations on assets, and what is answered. Names in braces are filled in from the stage. */
import { addressOf } from '@chainstead/testkit';
import type { TableRequest } from '../request-table.ts';
import { type AssetOperation, assetOperation, TOKEN } from './asset-operations.ts';

/** What of a request is not as its operation has it. */
interface Given {
  readonly query?: string;
  /** Required parameters that it does not get; those in `query` have no other value. */
  readonly without?: readonly string[];
  readonly address?: string;
  readonly tokenId?: string;
  readonly sent?: string;
}

/** A request as it should be, with some of it replaced. */
export function request(operation: AssetOperation, given: Given, status: number, body: unknown): TableRequest {
  const { address = TOKEN, tokenId = '1', without = [] } = given;
  const requested = given.query?.split('&') ?? [];
  const replaced = new Set([...without, ...requested.map((part) => part.split('=', 1)[0])]);
  const needs = Object.entries(operation.needs ?? {}).filter(([name]) => !replaced.has(name));
  const query = [...needs.map(([name, value]) => `${name}=${value}`), ...requested].join('&');
  const path = operation.path.replace('{address}', address).replace('{token_id}', tokenId);
  const sent = given.sent ?? (operation.body === undefined ? undefined : JSON.stringify(operation.body));
  return {
    operation: operation.name,
    path: query === '' ? path : `${path}?${query}`,
    ...(sent !== undefined && { method: 'POST', contentType: 'application/json', sent }),
    status,
    body,
  };
}

/** A 400 for a query. */
export const bad = (name: string, query: string, body: unknown): TableRequest =>
  request(assetOperation(name), { query }, 400, body);
/** With this for a body; text as it is. */
export const posted = (name: string, sent: unknown, status: number, body: unknown): TableRequest =>
  request(assetOperation(name), { sent: typeof sent === 'string' ? sent : JSON.stringify(sent) }, status, body);
/** A 200, and a 404. */
export const answered = (name: string, given: Given, body: unknown): TableRequest =>
  request(assetOperation(name), given, 200, body);
export const missing = (name: string, given: Given, body: unknown): TableRequest =>
  request(assetOperation(name), given, 404, body);

/** So many addresses. */
export const many = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => addressOf(index + 1));
