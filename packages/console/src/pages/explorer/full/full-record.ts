import type { Column, DataRow } from '../tables/cells.ts';

/** A whole response of one data API route: facts, and lists within. */
export interface FullRecord {
  /** The name in URLs. */
  readonly name: string;
  /** Returns the API request, without the chain. @param of a hash or a number */
  target(of: string): { readonly path: string; readonly query: Readonly<Record<string, string>> };
  readonly facts: readonly Column[];
  readonly parts: readonly RecordPart[];
}

/** A list within a record. */
export interface RecordPart {
  /** The name in URLs. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  rowsOf(body: DataRow): readonly DataRow[];
  /** The text if there are no rows. */
  none(body: DataRow): string;
}
