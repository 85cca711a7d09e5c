import type { HistoriesPage } from '@chainstead/sync';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { onDemandList } from './on-demand-frame.ts';
import { HISTORY_STATES, type OnDemandChoice } from './on-demand-states.ts';

const REASON_MAX = 600;

/** Histories of single wallets and contracts, and why one is refused. */
export function historiesView({ histories, next }: HistoriesPage, choice: OnDemandChoice): Html {
  return onDemandList({
    path: '/on-demand',
    choice,
    table: histories.length === 0 ? null : tableOf(histories, choice),
    next: next === null ? null : `${next.chainId}-${next.kind}-${next.address}`,
  });
}

function tableOf(histories: HistoriesPage['histories'], { nameOf }: OnDemandChoice): Html {
  const rows = histories.map(
    ({ subject, status, callsEstimated, callsMade, rowsAdded, requestedAt, attempts, dueAt, error }) =>
      html`<tr><td>${shown(nameOf(subject.chainId))}</td><td>${subject.kind}<br><code>${subject.address}</code></td>
<td><strong>${HISTORY_STATES[status]}</strong>${dueAt === null ? NOTHING : html`<br>not before ${moment(dueAt)}`}${error === null ? NOTHING : html`<br>${shown(error.message, REASON_MAX)}`}</td>
<td class="number">${count(callsMade)}${callsEstimated === null ? NOTHING : html` of ${count(callsEstimated)}`}</td><td class="number">${count(rowsAdded)}</td><td class="number">${count(attempts)}</td><td>${moment(requestedAt)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Histories"><table><caption>By chain and address</caption>
<thead><tr><th scope="col">Chain</th><th scope="col">Whose</th><th scope="col">State, and why</th><th scope="col" class="number">Calls of nodes</th><th scope="col" class="number">Rows added</th><th scope="col" class="number">Failed attempts</th><th scope="col">Asked for</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
