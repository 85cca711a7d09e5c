import { type ChainId, parseAddress, parseChainId } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';
import { type CollectionReadState, type CollectionReadsPage, listCollectionReads } from '@chainstead/nft';
import { type HistoriesPage, type HistoryStatus, listHistories, type Subject } from '@chainstead/sync';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, moment } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import { severityView } from '../../layout/severity.ts';
import { number, table } from '../../layout/table.ts';
import { COLLECTION_STATES, HISTORY_STATES, type OnDemandChoice, stateNamed } from './on-demand-states.ts';

const PAGE = 100;
const HISTORY_CURSOR = /^(\d{1,15})-(wallet|contract|sender|receiver|emitter)-(0x[0-9a-f]{40})$/;
const COLLECTION_CURSOR = /^(\d{1,15})-(0x[0-9a-f]{40})$/;

const REASON_MAX = 600;

const LISTS = [
  ['/on-demand', 'Backfills of wallets and contracts'],
  ['/on-demand/collections', 'Collections'],
] as const;

/** Data read on demand: backfills of wallets and contracts, and collection metadata. */
export const onDemandPage: ConsolePage = {
  path: '/on-demand',
  title: 'On demand',
  group: 'Data',
  addRoutes(routes, services) {
    addList(routes, services, { path: '/on-demand', states: HISTORY_STATES, read: readHistories });
    addList(routes, services, { path: '/on-demand/collections', states: COLLECTION_STATES, read: readCollections });
  },
};

interface List {
  readonly path: OnDemandPath;
  readonly states: Readonly<Record<string, string>>;
  /** Returns the live part. */
  read(services: ConsoleServices, request: PageRequest, choice: OnDemandChoice): Promise<Html>;
}

function addList(routes: ConsoleRoutes, services: ConsoleServices, { path, states, read }: List): void {
  routes.view(path, async (request) => {
    const choice = choiceOf(services, request, states);
    const list = await read(services, request, choice);
    const after = request.query('after') ?? '';
    return { title: 'On demand', body: onDemandFrame({ path, states, choice, after, list }) };
  });
  routes.live(path, (request) => read(services, request, choiceOf(services, request, states)));
}

async function readHistories(
  { database }: ConsoleServices,
  request: PageRequest,
  choice: OnDemandChoice,
): Promise<Html> {
  const status: HistoryStatus | null = stateNamed(HISTORY_STATES, choice.state);
  const page = await listHistories(database, {
    chainId: choice.chainId,
    status,
    after: historyCursor(request.query('after')),
    limit: PAGE,
  });
  return historiesView(page, choice);
}

async function readCollections(
  { database }: ConsoleServices,
  request: PageRequest,
  choice: OnDemandChoice,
): Promise<Html> {
  const state: CollectionReadState | null = stateNamed(COLLECTION_STATES, choice.state);
  const page = await listCollectionReads(database, {
    chainId: choice.chainId,
    state,
    after: collectionCursor(request.query('after')),
    limit: PAGE,
  });
  return collectionsView(page, choice);
}

/** @throws InvalidParameterError */
function choiceOf(
  { registry, rangeWork }: ConsoleServices,
  { query }: PageRequest,
  states: Readonly<Record<string, string>>,
): OnDemandChoice {
  const chain = query('chain') ?? '';
  const state = query('state') ?? '';
  if (state !== '' && !(state in states))
    throw new InvalidParameterError({ parameter: 'state', given: state, allowed: Object.keys(states).join(', ') });
  const chainId: ChainId | null = chain === '' ? null : (registry.find(chain)?.id ?? null);
  if (chain !== '' && chainId === null)
    throw new InvalidParameterError({ parameter: 'chain', given: chain, allowed: 'the name or id of a chain' });
  return {
    chain,
    chainId,
    state,
    chains: rangeWork.chains.map(({ key }) => key),
    nameOf: (id) => registry.find(id)?.key ?? String(id),
  };
}

/** @throws InvalidParameterError */
function historyCursor(given: string | undefined): Subject | null {
  if (given === undefined || given === '') return null;
  const [, chainId = '', kind = '', address = ''] = HISTORY_CURSOR.exec(given) ?? [];
  if (!isKind(kind)) throw wrongCursor(given);
  return { chainId: parseChainId(Number(chainId)), kind, address: parseAddress(address) };
}

const KINDS: ReadonlySet<string> = new Set<Subject['kind']>([
  'wallet',
  'contract',
  'sender',
  'receiver',
  'emitter',
  'trader',
]);

function isKind(text: string): text is Subject['kind'] {
  return KINDS.has(text);
}

/** @throws InvalidParameterError */
function collectionCursor(given: string | undefined) {
  if (given === undefined || given === '') return null;
  const [, chainId = '', address = ''] = COLLECTION_CURSOR.exec(given) ?? [];
  if (address === '') throw wrongCursor(given);
  return { chainId: parseChainId(Number(chainId)), address: parseAddress(address) };
}

function wrongCursor(given: string): InvalidParameterError {
  return new InvalidParameterError({ parameter: 'after', given, allowed: 'the cursor of a link on the page' });
}

/** Requested collection metadata, with reasons for refusals. */
function collectionsView({ collections, next }: CollectionReadsPage, choice: OnDemandChoice): Html {
  return onDemandList({
    path: '/on-demand/collections',
    choice,
    table: collections.length === 0 ? null : collectionsTable(collections, choice),
    next: next === null ? null : `${next.chainId}-${next.address}`,
  });
}

function collectionsTable(collections: CollectionReadsPage['collections'], { nameOf }: OnDemandChoice): Html {
  const rows = collections.map(({ chainId, address, name, state, readAt, dueAt, attempts, error }) => [
    shown(nameOf(chainId)),
    html`${name === null ? NOTHING : html`${shown(name)}<br>`}<code>${address}</code>`,
    html`${stateView(state, COLLECTION_STATES[state])}${error === null ? NOTHING : html`<br>${shown(error.message, REASON_MAX)}`}`,
    readAt === null ? 'never' : moment(readAt),
    dueAt === null ? '–' : moment(dueAt),
    count(attempts),
  ]);
  return table({
    label: 'Collections',
    caption: 'By address',
    columns: ['Chain', 'Collection', 'State', 'Last read', 'Next read', number('Failed attempts')],
    rows,
  });
}

/** A refused subject needs the operator; a failed one is retried. */
function stateView(state: HistoryStatus | CollectionReadState, words: string): Html {
  const text = html`<strong>${words}</strong>`;
  if (state === 'refused') return severityView('bad', text);
  if (state === 'failed') return severityView('warning', text);
  return state === 'done' || state === 'complete' ? severityView('ok', text) : text;
}

/** Backfills of single wallets and contracts, with reasons for refusals. */
function historiesView({ histories, next }: HistoriesPage, choice: OnDemandChoice): Html {
  return onDemandList({
    path: '/on-demand',
    choice,
    table: histories.length === 0 ? null : historiesTable(histories, choice),
    next: next === null ? null : `${next.chainId}-${next.kind}-${next.address}`,
  });
}

function historiesTable(histories: HistoriesPage['histories'], { nameOf }: OnDemandChoice): Html {
  const rows = histories.map(
    ({ subject, status, callsEstimated, callsMade, rowsAdded, requestedAt, attempts, dueAt, error }) => [
      shown(nameOf(subject.chainId)),
      html`${subject.kind}<br><code>${subject.address}</code>`,
      html`${stateView(status, HISTORY_STATES[status])}${dueAt === null ? NOTHING : html`<br>not before ${moment(dueAt)}`}${error === null ? NOTHING : html`<br>${shown(error.message, REASON_MAX)}`}`,
      html`${count(callsMade)}${callsEstimated === null ? NOTHING : html` of ${count(callsEstimated)}`}`,
      count(rowsAdded),
      count(attempts),
      moment(requestedAt),
    ],
  );
  return table({
    label: 'Backfills',
    caption: 'By chain and address',
    columns: [
      'Chain',
      'Subject',
      'State',
      number('RPC calls'),
      number('Rows added'),
      number('Failed attempts'),
      'Requested',
    ],
    rows,
  });
}

/** The path of a list, below `/console`. */
type OnDemandPath = (typeof LISTS)[number][0];

interface OnDemandFrame {
  readonly path: OnDemandPath;
  readonly states: Readonly<Record<string, string>>;
  readonly choice: OnDemandChoice;
  /** The start of the page; empty: at the first. */
  readonly after: string;
  readonly list: Html;
}

/** One of the lists, with its filters, and the link to the other one. */
function onDemandFrame({ path, states, choice, after, list }: OnDemandFrame): Html {
  const { chain, chains, state } = choice;
  const tabs = LISTS.map(([to, title]) =>
    to === path ? html`<strong>${title}</strong>` : html`<a href="/console${to}">${title}</a>`,
  );
  return html`<h1>On demand</h1>
<p class="soft">Data that requests caused Chainstead to read. <code>ON_DEMAND_MAX_CALLS</code> and <code>ON_DEMAND_CONCURRENCY_PER_KEY</code> limit it.</p>
<p>${tabs[0]} · ${tabs[1]}</p>
<form method="get" action="/console${path}" class="fields row" aria-label="Filter by chain or state">
${selectField({ name: 'chain', label: 'Chain', options: chain === '' || chains.includes(chain) ? chains : [chain, ...chains], chosen: chain, all: 'all' })}
${selectField({ name: 'state', label: 'State', options: Object.entries(states), chosen: state, all: 'all' })}
<div><button class="quiet">Show</button></div></form>
${livePart(`${path}${queryOf(choice, after)}`, list)}`;
}

interface OnDemandList {
  readonly path: OnDemandPath;
  readonly choice: OnDemandChoice;
  /** The table; null: no examined entry matches. */
  readonly table: Html | null;
  /** Cursor of the next page; null: there is nothing more. */
  readonly next: string | null;
}

/** The live part of the page. */
function onDemandList({ path, choice, table, next }: OnDemandList): Html {
  const none = next === null ? 'No entries found.' : 'No matches on this page. More pages follow.';
  return html`${table ?? html`<p class="soft">${none}</p>`}
${next === null ? NOTHING : html`<p><a href="/console${path}${queryOf(choice, next)}" rel="next">More</a></p>`}`;
}

function queryOf({ chain, state }: OnDemandChoice, after: string): string {
  const given = Object.entries({ chain, state, after }).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
