import type { Column, DataRow } from '../tables/cells.ts';

/** Something that one route of the data API answers whole: facts, and lists within. */
export interface WholeRecord {
  /** In addresses. */
  readonly name: string;
  /** Of the API, without the chain. @param of a hash or a number */
  target(of: string): { readonly path: string; readonly query: Readonly<Record<string, string>> };
  readonly facts: readonly Column[];
  readonly parts: readonly RecordPart[];
}

/** A list within a record. */
export interface RecordPart {
  /** In addresses. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  rowsOf(body: DataRow): readonly DataRow[];
  /** What is said where there is no row. */
  none(body: DataRow): string;
}
