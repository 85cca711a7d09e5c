import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { selectField } from '../../layout/select-field.ts';
import type { OnDemandChoice } from './on-demand-states.ts';

const LISTS = [
  ['/console/on-demand', 'Histories of wallets and contracts'],
  ['/console/on-demand/collections', 'Collections'],
] as const;

export interface OnDemandFrame {
  /** Of the list. */
  readonly address: (typeof LISTS)[number][0];
  readonly states: Readonly<Record<string, string>>;
  readonly choice: OnDemandChoice;
  /** The table; null: nothing was found among those that were looked at. */
  readonly table: Html | null;
  /** Cursor of the next page; null: there is nothing more. */
  readonly next: string | null;
}

/** One of the lists, with what can be chosen of it, and the way to the other one. */
export function onDemandFrame({ address, states, choice, table, next }: OnDemandFrame): Html {
  const { chain, chains, state } = choice;
  const further = new URLSearchParams({
    ...(chain !== '' && { chain }),
    ...(state !== '' && { state }),
    after: next ?? '',
  });
  const tabs = LISTS.map(([to, title]) =>
    to === address ? html`<strong>${title}</strong>` : html`<a href="${to}">${title}</a>`,
  );
  return html`<h1>On demand</h1>
<p class="soft">What requests caused to be read ahead of history: <code>ON_DEMAND_MAX_CALLS</code> and <code>ON_DEMAND_PER_KEY</code> bound it.</p>
<p>${tabs[0]} · ${tabs[1]}</p>
<form method="get" action="${address}" class="fields row" aria-label="Choose a chain or a state">
${selectField({ name: 'chain', label: 'Chain', options: chain === '' || chains.includes(chain) ? chains : [chain, ...chains], chosen: chain, all: 'all' })}
${selectField({ name: 'state', label: 'State', options: Object.entries(states), chosen: state, all: 'all' })}
<div><button class="quiet">Show</button></div></form>
${table ?? html`<p class="soft">${next === null ? 'There are none.' : 'None among those that were looked at; there are more.'}</p>`}
${next === null ? NOTHING : html`<p><a href="${address}?${String(further)}" rel="next">More</a></p>`}`;
}
