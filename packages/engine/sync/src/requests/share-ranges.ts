import { type BlockRange, mergeRanges } from '@chainstead/core';
import type { Dataset } from '../dataset/dataset.ts';

export interface SharedHistory {
  readonly datasets: readonly Dataset[];
  readonly ranges: readonly BlockRange[];
}

/** Ranges are ascending per dataset and not adjacent. Cut where the set of datasets changes. */
export function shareRanges(
  plan: readonly { readonly dataset: Dataset; readonly ranges: readonly BlockRange[] }[],
): readonly SharedHistory[] {
  const cuts = new Set(plan.flatMap(({ ranges }) => ranges.flatMap(({ from, to }) => [from, to + 1])));
  const borders = [...cuts].toSorted((a, b) => a - b);
  const shared = new Map<string, { datasets: readonly Dataset[]; ranges: BlockRange[] }>();
  const cursors = plan.map(({ dataset, ranges }) => ({ dataset, ranges, next: 0 }));
  for (const [index, from] of borders.slice(0, -1).entries()) {
    const to = (borders[index + 1] ?? from) - 1;
    const datasets = cursors.flatMap((cursor) => {
      while ((cursor.ranges[cursor.next]?.to ?? Number.POSITIVE_INFINITY) < from) cursor.next++;
      const range = cursor.ranges[cursor.next];
      return range !== undefined && range.from <= from ? [cursor.dataset] : [];
    });
    if (datasets.length === 0) continue;
    const key = datasets.map(({ name }) => name).join(' ');
    const group = shared.get(key) ?? { datasets, ranges: [] };
    group.ranges.push({ from, to });
    shared.set(key, group);
  }
  return [...shared.values()].map(({ datasets, ranges }) => ({ datasets, ranges: mergeRanges(ranges) }));
}
