import type { CollectionReadsPage } from '@chainstead/nft';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { onDemandList } from './on-demand-frame.ts';
import { COLLECTION_STATES, type OnDemandChoice } from './on-demand-states.ts';

const REASON_MAX = 600;

/** Collections whose metadata was asked for, and why one is refused. */
export function collectionsView({ collections, next }: CollectionReadsPage, choice: OnDemandChoice): Html {
  return onDemandList({
    path: '/on-demand/collections',
    choice,
    table: collections.length === 0 ? null : tableOf(collections, choice),
    next: next === null ? null : `${next.chainId}-${next.address}`,
  });
}

function tableOf(collections: CollectionReadsPage['collections'], { nameOf }: OnDemandChoice): Html {
  const rows = collections.map(
    ({ chainId, address, name, state, readAt, dueAt, attempts, error }) =>
      html`<tr><td>${shown(nameOf(chainId))}</td><td>${name === null ? NOTHING : html`${shown(name)}<br>`}<code>${address}</code></td>
<td><strong>${COLLECTION_STATES[state]}</strong>${error === null ? NOTHING : html`<br>${shown(error.message, REASON_MAX)}`}</td>
<td>${readAt === null ? 'never' : moment(readAt)}</td><td>${dueAt === null ? '–' : moment(dueAt)}</td><td class="number">${count(attempts)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Collections"><table><caption>By address</caption>
<thead><tr><th scope="col">Chain</th><th scope="col">Collection</th><th scope="col">State, and why</th><th scope="col">Read</th><th scope="col">Read again</th><th scope="col" class="number">Failed attempts</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
