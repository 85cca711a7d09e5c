import type { Chain } from '@chainstead/chains';
import { type Bind, expectedTrue } from '@chainstead/db';
import { z } from '@hono/zod-openapi';

/**
 * Paging of holdings by the block of their newest change, newest first, pinned to the newest block of the first page. A holding moves
 * when it changes: after the pin it has left its place and is not shown any more. A reorganisation moves it too, up or down: so while a run is
 * in blocks that could be reorganised when it began, each page looks through all of them, without what was shown; below them places are
 * settled, and the key of the last row says where a page begins.
 */
export const changeRunSchema = z.object({
  /** The highest block of the run that could not be reorganised any more at the first page. */
  settled: z.int(),
  /** Marks of the holdings that were shown while they were in blocks above it, one after the other. */
  shown: z.string(),
});
export type ChangeRun = z.infer<typeof changeRunSchema>;

/** The length of a mark: the first hexadecimal digits of a hash of what is held, and of who holds it. */
export const MARK_LENGTH = 12;
/** Marks that a cursor has room for. With more, pages go by the key alone. */
const MARKS_MAX = 200;

/** Where a page begins. */
export interface ChangePlace {
  readonly run: ChangeRun;
  /** The pin. */
  readonly upperBound: number;
  /** Of the row that the page before ended with. */
  readonly block: number;
}

/** How rows are compared, as SQL. */
export interface ChangeColumns {
  readonly block: string;
  /** Of {@link MARK_LENGTH} digits, as those of the run. */
  readonly mark: string;
  /** True for what lies behind the row that the page before ended with. */
  readonly beyond: () => string;
}

/** The conditions of a page's rows. */
export function unshownChanges(place: ChangePlace, columns: ChangeColumns, bind: Bind): readonly string[] {
  const { run, upperBound, block } = place;
  const marks = marksOf(run);
  const unshown = marks.length === 0 ? [] : [expectedTrue(`${columns.mark} <> ALL (${bind(marks)}::text[])`)];
  const isSettled = block <= run.settled || marks.length >= MARKS_MAX;
  return [isSettled ? columns.beyond() : `${columns.block} <= ${bind(upperBound)}::integer`, ...unshown];
}

/** A run as the page after a page of these rows needs it. */
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
