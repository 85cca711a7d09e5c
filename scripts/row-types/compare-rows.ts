import type { ObservedColumn, ObservedRows } from '../../packages/doors/db/src/testing/observed-rows.ts';
import type { DeclaredColumn } from './declared-columns.ts';
import type { DeclaredRows } from './declared-rows.ts';

export interface RowComparison {
  /** A sentence for each column of which the database and a row type say different things. */
  readonly mismatches: readonly string[];
  /** Calls that no test executed. */
  readonly unobserved: readonly DeclaredRows[];
}

/** Compares what calls declare of their rows with what the database returned to them. */
export function compareRows(declared: readonly DeclaredRows[], observed: readonly ObservedRows[]): RowComparison {
  const byPlace = new Map(
    declared.flatMap((rows) =>
      [rows.place, ...(rows.awaitPlace === null ? [] : [rows.awaitPlace])].map((place) => [place, rows]),
    ),
  );
  const seen = new Set<DeclaredRows>();
  const mismatches = new Set<string>();
  for (const { frames, columns } of observed) {
    const rows = frames.map((frame) => byPlace.get(frame)).find((found) => found !== undefined);
    if (rows === undefined) continue;
    seen.add(rows);
    for (const sentence of mismatchesOf(rows, columns)) mismatches.add(sentence);
  }
  return { mismatches: [...mismatches].toSorted(), unobserved: declared.filter((rows) => !seen.has(rows)) };
}

function mismatchesOf({ place, type, columns }: DeclaredRows, returned: readonly ObservedColumn[]): string[] {
  return columns.flatMap((column) => {
    // The driver returns the last of several columns with the same name.
    const found = returned.findLast(({ name }) => name === column.name);
    const where = `${place} ${column.name}`;
    if (found === undefined)
      return column.isOptional
        ? []
        : [`${where}: not among the returned columns (${namesOf(returned)}), but declared in ${type}`];
    const wrong = found.kinds.filter((kind) => !column.kinds.some((declared) => isKindOf(kind, declared)));
    return wrong.map((kind) => `${where}: the database returns ${kind}, ${type} declares ${shown(column)}`);
  });
}

function namesOf(columns: readonly ObservedColumn[]): string {
  return columns.length === 0 ? 'none' : columns.map(({ name }) => name).join(', ');
}

function shown({ kinds }: DeclaredColumn): string {
  return kinds.join(' | ');
}

/** Whether a value of the first kind may be where the second is declared. */
function isKindOf(kind: string, declared: string): boolean {
  if (declared === 'any' || kind === declared) return true;
  if (!kind.endsWith('[]') || !declared.endsWith('[]')) return false;
  return kind === '[]' || isKindOf(kind.slice(0, -2), declared.slice(0, -2));
}
