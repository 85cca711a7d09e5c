import type { DueSummary } from '@chainstead/jobs';
import { html } from 'hono/html';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';

const ERROR_MAX = 300;

/** Due work by kind and chain, without the kinds that have none. @param nameOf name of a chain */
export function dueWorkView(all: readonly DueSummary[], nameOf: (chainId: string) => string): Html {
  const rows = all.flatMap(({ kind, chainId, counts }) => {
    const name = html`<tr><td>${kind}</td><td>${shown(nameOf(String(chainId)))}</td>`;
    if (counts === null) return [html`${name}<td colspan="6" class="soft">not counted within 2 seconds</td></tr>`];
    const { dueNow, claimed, waiting, quarantined, isComplete, oldestDueAt, error } = counts;
    if (dueNow + claimed + waiting + quarantined === 0) return [];
    return [
      html`${name}<td class="number">${count(dueNow)}</td><td class="number">${count(claimed)}</td>
<td class="number">${count(waiting)}${isComplete ? NOTHING : html` or more`}</td><td class="number">${count(quarantined)}</td>
<td>${oldestDueAt === null ? '–' : moment(oldestDueAt)}</td>
<td>${error === null ? '–' : html`<strong>${cut(error.code)}</strong> ${shown(error.message, ERROR_MAX)}`}</td></tr>`,
    ];
  });
  return html`<section aria-labelledby="due-work"><h2 id="due-work">Due work</h2>
${
  rows.length === 0
    ? html`<p class="soft">No work is due.</p>`
    : html`<div class="table" tabindex="0" role="region" aria-label="Due work"><table><caption>Rows that workers process</caption>
<thead><tr><th scope="col">Kind</th><th scope="col">Chain</th><th scope="col" class="number">Due now</th><th scope="col" class="number">Claimed</th><th scope="col" class="number">Waiting</th><th scope="col" class="number">Quarantined</th><th scope="col">Oldest due</th><th scope="col">Last error</th></tr></thead><tbody>${rows}</tbody></table></div>`
}</section>`;
}
