import type { StatementEffect } from './statement-effects.ts';
import type { TouchedTable } from './touched-tables.ts';

/**
 * What work on tables came to on two cores of a server with an SSD, the embedded Postgres with its own settings: tables of 1,000,000 transfers, in
 * memory. Larger ones than memory take longer; a better machine less.
 */
export const UPGRADE_RATES = {
  /** Of an ordinary index. Rows a second. */
  indexRows: 420_000,
  /** Of an index that keeps ranges from overlapping. Rows a second. */
  rangeIndexRows: 11_000,
  /** A table that is read. Bytes a second. */
  scanBytes: 880_000_000,
  /** A table that is written anew with its indexes. Bytes a second, of both. */
  rewriteBytes: 46_000_000,
  /** Rows that are changed or deleted where they are. Rows a second. */
  changedRows: 34_000,
  /** Anything else: the catalog is written, and its file flushed. Seconds. */
  statementSeconds: 0.004,
} as const;

/** How long a statement takes, about. Seconds. @param table what it touches, as large as it is then; undefined: nothing is there yet */
export function secondsOf(effect: StatementEffect, table: TouchedTable | undefined): number {
  const { statementSeconds } = UPGRADE_RATES;
  return statementSeconds + (table === undefined ? 0 : workSeconds(effect, table));
}

function workSeconds({ kind, index }: StatementEffect, { rows, heapBytes, totalBytes }: TouchedTable): number {
  switch (kind) {
    case 'build-index':
      if (index?.method === 'brin') return heapBytes / UPGRADE_RATES.scanBytes;
      return rows / (index?.method === 'gist' ? UPGRADE_RATES.rangeIndexRows : UPGRADE_RATES.indexRows);
    case 'scan':
      return heapBytes / UPGRADE_RATES.scanBytes;
    case 'rewrite':
      return totalBytes / UPGRADE_RATES.rewriteBytes;
    case 'change-rows':
      return rows / UPGRADE_RATES.changedRows;
    default:
      return 0;
  }
}

/** An entry of an index, with its share of the pages above. */
const INDEX_BYTES_PER_ROW = 40;

/** Disk that a statement needs beside what is there, about. Bytes. */
export function bytesOf({ kind, index }: StatementEffect, table: TouchedTable | undefined): number {
  if (table === undefined) return 0;
  if (kind === 'rewrite') return table.totalBytes;
  return kind === 'build-index' && index?.method !== 'brin' ? table.rows * INDEX_BYTES_PER_ROW : 0;
}
