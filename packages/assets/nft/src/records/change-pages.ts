import type { Chain } from '@chainstead/chains';
import { expectedTrue, rawSql, type Sql, sql } from '@chainstead/db';
import { z } from '@hono/zod-openapi';

/**
 * Pages holdings by newest change, up to the first page's newest block. Later changes disappear; a
 * reorg moves holdings. In blocks that could be reorganized, each page searches all and skips those
 * already shown. Below, the last row's key starts a page.
 */
export const changeRunSchema = z.object({
  /** The highest final block at the first page. */
  settled: z.int(),
  /** Concatenated marks of holdings shown from above it. */
  shown: z.string(),
});
export type ChangeRun = z.infer<typeof changeRunSchema>;

/** Hexadecimal digits of a hash of holding and holder. */
export const MARK_LENGTH = 12;
const MARKS_MAX = 200;

export interface ChangePlace {
  readonly run: ChangeRun;
  readonly upperBound: number;
  readonly block: number;
}

export interface ChangeColumns {
  readonly block: string;
  readonly mark: Sql;
  readonly beyond: Sql;
}

export function unshownChanges(place: ChangePlace, columns: ChangeColumns): readonly Sql[] {
  const { run, upperBound, block } = place;
  const marks = marksOf(run);
  const unshown = marks.length === 0 ? [] : [expectedTrue(sql`${columns.mark} <> ALL (${marks}::text[])`)];
  const isSettled = block <= run.settled || marks.length >= MARKS_MAX;
  return [isSettled ? columns.beyond : sql`${rawSql(columns.block)} <= ${upperBound}::integer`, ...unshown];
}

export function continueRun(
  chain: Pick<Chain, 'reorgDepthMax'>,
  before: ChangePlace | null,
  upperBound: number,
  rows: readonly { readonly block: number; readonly mark: string }[],
): ChangeRun {
  const run = before?.run ?? { settled: upperBound - chain.reorgDepthMax, shown: '' };
  const shown = rows.filter(({ block }) => block > run.settled).map(({ mark }) => mark);
  return { settled: run.settled, shown: [...marksOf(run), ...shown].slice(0, MARKS_MAX).join('') };
}

function marksOf({ shown }: ChangeRun): readonly string[] {
  return Array.from({ length: Math.floor(shown.length / MARK_LENGTH) }, (_, index) =>
    shown.slice(index * MARK_LENGTH, (index + 1) * MARK_LENGTH),
  );
}
