import { isObject } from '@chainstead/core';
import type { Column, DataRow } from './cells.ts';

export interface TableSubject {
  readonly chain: string;
  /** Lower case. */
  readonly address: string;
  /** Decimal digits; null: not about one NFT. */
  readonly tokenId: string | null;
}

export interface DataTable {
  readonly name: string;
  readonly title: string;
  readonly shape: 'list' | 'record';
  target(of: TableSubject): { readonly path: string; readonly query: Query };
  rowsOf(body: unknown): readonly DataRow[];
  readonly columns: readonly Column[];
}

type Query = Readonly<Record<string, string>>;

type RequestOf = (of: TableSubject) => string | readonly [path: string, query: Query];

export function listTable(name: string, title: string, requestOf: RequestOf, columns: readonly Column[]): DataTable {
  return { name, title, columns, shape: 'list', target: targetOf(requestOf), rowsOf: resultOf };
}

export function recordTable(name: string, title: string, requestOf: RequestOf, columns: readonly Column[]): DataTable {
  const rowsOf = (body: unknown) => recordsIn([body].flat()).slice(0, 1);
  return { name, title, columns, shape: 'record', target: targetOf(requestOf), rowsOf };
}

function targetOf(requestOf: RequestOf): DataTable['target'] {
  return (of) => {
    const [path, query] = [requestOf(of)].flat() as [path: string, query?: Query];
    return { path, query: { chain: of.chain, ...query } };
  };
}

export function resultOf(body: unknown): readonly DataRow[] {
  return isObject(body) ? recordsIn(body.result) : [];
}

function recordsIn(value: unknown): readonly DataRow[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
