/** The results of a run, by area. */
import type { Area } from './areas.ts';
import type { Circle } from './mutated-checkout.ts';

/** What became of one mutant. */
export interface Fate {
  readonly area: Area;
  readonly key: string;
  /** Name of the first test that failed, or null. */
  readonly killedBy: string | null;
  /** The circle of that test. */
  readonly circle: Circle | null;
  /** Why no test can kill it, or null. */
  readonly equivalent: string | null;
}

const KILLED_SHARE_MIN = 0.95;

/** Whether enough of the mutants that can be killed were killed. */
export function isGoodEnough(fates: readonly Fate[]): boolean {
  const { killed, countable } = countOf(fates);
  return killed >= KILLED_SHARE_MIN * countable;
}

/** Returns a Markdown table: a row for each area, and one for all. */
export function tableOf(fates: readonly Fate[]): string[] {
  const areas = [...new Set(fates.map(({ area }) => area))];
  const rows = areas.map((area) =>
    rowOf(
      area,
      fates.filter((fate) => fate.area === area),
    ),
  );
  return [
    '| area | mutants | equivalent | killed | survived | killed |',
    '|---|---|---|---|---|---|',
    ...rows,
    rowOf('all', fates),
  ];
}

function rowOf(name: string, fates: readonly Fate[]): string {
  const { killed, countable } = countOf(fates);
  const percent = countable === 0 ? 100 : (100 * killed) / countable;
  const cells = [
    name,
    fates.length,
    fates.length - countable,
    killed,
    countable - killed,
    `${percent.toFixed(1)} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function countOf(fates: readonly Fate[]): { readonly killed: number; readonly countable: number } {
  return {
    killed: fates.filter(({ killedBy }) => killedBy !== null).length,
    countable: fates.filter(({ equivalent }) => equivalent === null).length,
  };
}
