import { html } from 'hono/html';
import { type Html, NOTHING } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { selectField } from '../../layout/select-field.ts';
import type { OnDemandChoice } from './on-demand-states.ts';

const LISTS = [
  ['/on-demand', 'Histories of wallets and contracts'],
  ['/on-demand/collections', 'Collections'],
] as const;

/** Where a list is, below `/console`. */
export type OnDemandPath = (typeof LISTS)[number][0];

export interface OnDemandFrame {
  readonly path: OnDemandPath;
  readonly states: Readonly<Record<string, string>>;
  readonly choice: OnDemandChoice;
  /** Where the page begins; empty: at the first. */
  readonly after: string;
  readonly list: Html;
}

/** One of the lists, with what can be chosen of it, and the way to the other one. */
export function onDemandFrame({ path, states, choice, after, list }: OnDemandFrame): Html {
  const { chain, chains, state } = choice;
  const tabs = LISTS.map(([to, title]) =>
    to === path ? html`<strong>${title}</strong>` : html`<a href="/console${to}">${title}</a>`,
  );
  return html`<h1>On demand</h1>
<p class="soft">What requests caused to be read ahead of history: <code>ON_DEMAND_MAX_CALLS</code> and <code>ON_DEMAND_PER_KEY</code> bound it.</p>
<p>${tabs[0]} · ${tabs[1]}</p>
<form method="get" action="/console${path}" class="fields row" aria-label="Choose a chain or a state">
${selectField({ name: 'chain', label: 'Chain', options: chain === '' || chains.includes(chain) ? chains : [chain, ...chains], chosen: chain, all: 'all' })}
${selectField({ name: 'state', label: 'State', options: Object.entries(states), chosen: state, all: 'all' })}
<div><button class="quiet">Show</button></div></form>
${livePart(`${path}${queryOf(choice, after)}`, list)}`;
}

export interface OnDemandList {
  readonly path: OnDemandPath;
  readonly choice: OnDemandChoice;
  /** The table; null: nothing was found among those that were looked at. */
  readonly table: Html | null;
  /** Cursor of the next page; null: there is nothing more. */
  readonly next: string | null;
}

/** All of the page that moves. */
export function onDemandList({ path, choice, table, next }: OnDemandList): Html {
  const none = next === null ? 'There are none.' : 'None among those that were looked at; there are more.';
  return html`${table ?? html`<p class="soft">${none}</p>`}
${next === null ? NOTHING : html`<p><a href="/console${path}${queryOf(choice, next)}" rel="next">More</a></p>`}`;
}

function queryOf({ chain, state }: OnDemandChoice, after: string): string {
  const given = Object.entries({ chain, state, after }).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
