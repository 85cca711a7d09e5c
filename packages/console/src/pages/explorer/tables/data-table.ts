import type { Column, DataRow } from './cells.ts';
import { isRecord } from './cells.ts';

export interface TableSubject {
  /** Name of a chain: `eth`, `aptos-testnet`. */
  readonly chain: string;
  /** Lower case. */
  readonly address: string;
  /** Decimal digits; null if it is not about one NFT. */
  readonly tokenId: string | null;
}

export interface DataTarget {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export interface DataTable {
  readonly name: string;
  readonly title: string;
  /** A record has one row, shown as a list of facts, and no pages. */
  readonly shape: 'list' | 'record';
  target(of: TableSubject): DataTarget;
  rowsOf(body: unknown): readonly DataRow[];
  readonly columns: readonly Column[];
}

type Described = Pick<DataTable, 'name' | 'title' | 'columns'> & {
  readonly path: (of: TableSubject) => string;
  readonly query?: (of: TableSubject) => Readonly<Record<string, string>>;
};

/** A list of EVM chains, in `result`. */
export function listTable({ path, query, ...rest }: Described): DataTable {
  return {
    ...rest,
    shape: 'list',
    target: (of) => ({ path: path(of), query: { chain: of.chain, ...query?.(of) } }),
    rowsOf: resultOf,
  };
}

/** One record of EVM chains: the response itself, or the first of a list. */
export function recordTable({ path, query, ...rest }: Described): DataTable {
  return {
    ...rest,
    shape: 'record',
    target: (of) => ({ path: path(of), query: { chain: of.chain, ...query?.(of) } }),
    rowsOf: (body) => recordsIn(Array.isArray(body) ? body : [body]).slice(0, 1),
  };
}

export function resultOf(body: unknown): readonly DataRow[] {
  return isRecord(body) ? recordsIn(body.result) : [];
}

function recordsIn(value: unknown): readonly DataRow[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
