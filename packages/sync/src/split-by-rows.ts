import type { Log } from '@chainstead/core';
import type { Dataset } from './dataset.ts';

/**
 * Rows of a dataset that are decoded and held at a time. A row takes up to a kilobyte on its way to the database, and two
 * commits may be under way. Ordinary chunks stay far below: they are decoded at once.
 */
export const ROWS_AT_ONCE = 50_000;

/**
 * Cuts logs (in chain order) into portions of whole blocks that cause at most so many rows, each as large as it may be; a
 * block that causes more is a portion of its own. Always at least one portion.
 */
export function splitByRows(
  logs: readonly Log[],
  datasets: readonly Dataset[],
  rowsAtOnce: number,
): readonly (readonly Log[])[] {
  const growing = datasets.filter((dataset) => dataset.rowsMax !== undefined);
  const portions: (readonly Log[])[] = [];
  let start = 0;
  let rows = 0;
  for (let block = 0, next = 0; block < logs.length; block = next) {
    let rowsOfBlock = 0;
    for (next = block; next < logs.length && logs[next]?.blockNumber === logs[block]?.blockNumber; next++) {
      const log = logs[next];
      if (log !== undefined) rowsOfBlock += rowsOf(log, growing);
    }
    if (block > start && rows + rowsOfBlock > rowsAtOnce) {
      portions.push(logs.slice(start, block));
      start = block;
      rows = 0;
    }
    rows += rowsOfBlock;
  }
  return start === 0 ? [logs] : [...portions, logs.slice(start)];
}

function rowsOf(log: Log, growing: readonly Dataset[]): number {
  let rows = 1;
  for (const dataset of growing) rows = Math.max(rows, dataset.rowsMax?.(log) ?? 1);
  return rows;
}
