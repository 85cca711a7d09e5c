import type { Column, DataRow } from './cells.ts';
import { isRecord } from './cells.ts';

/** Whose rows a table has. */
export interface TableSubject {
  /** Name of a chain: `eth`, `aptos-testnet`. */
  readonly chain: string;
  /** Lower case. */
  readonly address: string;
  /** Decimal digits; null where it is not about one NFT. */
  readonly tokenId: string | null;
}

/** A request of the data API. */
export interface DataTarget {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A table, or a record, that one route of the data API answers. */
export interface DataTable {
  /** In addresses. */
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
  /** Besides the chain. */
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

/** One record of EVM chains: the answer itself, or the first of a list. */
export function recordTable({ path, query, ...rest }: Described): DataTable {
  return {
    ...rest,
    shape: 'record',
    target: (of) => ({ path: path(of), query: { chain: of.chain, ...query?.(of) } }),
    rowsOf: (body) => recordsIn(Array.isArray(body) ? body : [body]).slice(0, 1),
  };
}

/** Rows of an answer that is a list. */
export function resultOf(body: unknown): readonly DataRow[] {
  return isRecord(body) ? recordsIn(body.result) : [];
}

function recordsIn(value: unknown): readonly DataRow[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
