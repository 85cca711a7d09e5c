import type { DueSummary } from '@chainstead/jobs';
import { html } from 'hono/html';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';

const ERROR_MAX = 300;

/** Due work by kind and chain, without the kinds that have none. @param nameOf name of a chain */
export function dueWorkView(all: readonly DueSummary[], nameOf: (chainId: string) => string): Html {
  const rows = all.flatMap(({ kind, chainId, counts }) => {
    const name = [kind, shown(nameOf(String(chainId)))];
    if (counts === null) return [[...name, '–', '–', '–', '–', '–', 'not counted within 2 seconds']];
    const { dueNow, claimed, waiting, quarantined, isComplete, oldestDueAt, error } = counts;
    if (dueNow + claimed + waiting + quarantined === 0) return [];
    return [
      [
        ...name,
        count(dueNow),
        count(claimed),
        html`${count(waiting)}${isComplete ? NOTHING : html` or more`}`,
        count(quarantined),
        oldestDueAt === null ? '–' : moment(oldestDueAt),
        error === null ? '–' : html`<strong>${cut(error.code)}</strong> ${shown(error.message, ERROR_MAX)}`,
      ],
    ];
  });
  const list = table({
    label: 'Due work',
    caption: 'Rows that workers process',
    columns: [
      ...['Kind', 'Chain'],
      ...['Due now', 'Claimed', 'Waiting', 'Quarantined'].map(number),
      ...['Oldest due', 'Last error'],
    ],
    rows,
  });
  return html`<section aria-labelledby="due-work"><h2 id="due-work">Due work</h2>
${rows.length === 0 ? html`<p class="soft">No work is due.</p>` : list}</section>`;
}
