import { type ChainId, parseAddress, parseChainId } from '@chainstead/core';
import type { InvalidParameterError } from '@chainstead/http';
import { type CollectionReadState, type CollectionReadsPage, listCollectionReads } from '@chainstead/nft';
import type { Subject } from '@chainstead/sync/datasets';
import { type HistoriesPage, listHistories } from '@chainstead/sync/ingest';
import type { HistoryStatus } from '@chainstead/sync/requests';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { field, queryForm } from '../../layout/form.ts';
import {
  dash,
  type Html,
  link,
  livePart,
  nextLink,
  note,
  readChoice,
  refused,
  shown,
  writeQuery,
} from '../../layout/html.ts';
import { count, moment, severityView } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';

const PAGE = 100;
const HISTORY_CURSOR = /^(\d{1,15})-(wallet|contract|sender|receiver|emitter)-(0x[0-9a-f]{40})$/;
const COLLECTION_CURSOR = /^(\d{1,15})-(0x[0-9a-f]{40})$/;
const REASON_MAX = 600;

type ListPath = '/on-demand' | '/on-demand/collections';

const LISTS: readonly (readonly [path: ListPath, title: string])[] = [
  ['/on-demand', 'Backfills of wallets and contracts'],
  ['/on-demand/collections', 'Collections'],
];

const HISTORY_STATES: Readonly<Record<HistoryStatus, string>> = {
  pending: 'queued',
  running: 'reading',
  done: 'complete',
  refused: 'refused',
  failed: 'failed, will retry',
};

const COLLECTION_STATES: Readonly<Record<CollectionReadState, string>> = {
  queued: 'queued',
  complete: 'complete',
  refused: 'refused',
  failed: 'failed, will retry',
};

/** Empty strings and null: all. */
interface OnDemandFilter<State extends string = string> {
  readonly chain: string;
  readonly chainId: ChainId | null;
  readonly state: State | null;
}

export const onDemandPage: ConsolePage = {
  path: '/on-demand',
  title: 'On demand',
  group: 'Data',
  addRoutes(routes, services) {
    const { database, chainName: nameOf } = services;
    addList(routes, services, '/on-demand', HISTORY_STATES, async ({ chainId, state }, cursor) => {
      const after = historyAt(cursor);
      const { histories, next } = await listHistories(database, { chainId, status: state, after, limit: PAGE });
      return [
        histories.length === 0 ? null : historiesTable(histories, nameOf),
        next && `${next.chainId}-${next.kind}-${next.address}`,
      ];
    });
    addList(routes, services, '/on-demand/collections', COLLECTION_STATES, async ({ chainId, state }, cursor) => {
      const after = collectionAt(cursor);
      const { collections, next } = await listCollectionReads(database, { chainId, state, after, limit: PAGE });
      return [
        collections.length === 0 ? null : collectionsTable(collections, nameOf),
        next && `${next.chainId}-${next.address}`,
      ];
    });
  },
};

function addList<State extends string>(
  routes: ConsoleRoutes,
  services: ConsoleServices,
  path: ListPath,
  states: Readonly<Record<State, string>>,
  read: (
    filter: OnDemandFilter<State>,
    cursor: string,
  ) => Promise<readonly [rows: Html | null, next: string | null]>,
): void {
  const list = async (filter: OnDemandFilter<State>, after: string): Promise<Html> => {
    // Null: no examined entry matches.
    const [rows, next] = await read(filter, after);
    const none = next === null ? 'No entries found.' : 'No matches on this page. More pages follow.';
    return html`${rows ?? note(none)}
${nextLink(next && `/console${path}${queryOf(filter, next)}`, 'More')}`;
  };
  routes.view(path, async (request) => {
    const filter = filterOf(services, request, states);
    const after = request.query('after') ?? '';
    const live = livePart(`${path}${queryOf(filter, after)}`, await list(filter, after));
    const chains = services.rangeWork.chains.map(({ key }) => key);
    return { body: html`${formView(path, states, filter, chains)}\n${live}` };
  });
  routes.live(path, (request) => list(filterOf(services, request, states), request.query('after') ?? ''));
}

function queryOf({ chain, state }: OnDemandFilter, after: string): string {
  return writeQuery({ chain, state, after });
}

function filterOf<State extends string>(
  { registry }: ConsoleServices,
  { query }: ConsoleRequest,
  states: Readonly<Record<State, string>>,
): OnDemandFilter<State> {
  const [chain = '', name = ''] = [query('chain'), query('state')];
  const state = readChoice('state', name, Object.keys(states) as State[]);
  const chainId = chain === '' ? null : (registry.find(chain)?.id ?? null);
  if (chain !== '' && chainId === null) throw refused('chain', chain, 'the name or id of a chain');
  return { chain, chainId, state };
}

function formView(
  path: ListPath,
  states: Readonly<Record<string, string>>,
  { chain, state }: OnDemandFilter,
  chains: readonly string[],
): Html {
  const tabs = LISTS.map(([to, title]) =>
    to === path ? html`<strong>${title}</strong>` : link(`/console${to}`, title),
  );
  const options = chain === '' || chains.includes(chain) ? chains : [chain, ...chains];
  const fields = [
    field('chain', { label: 'Chain', options, all: 'all' }, chain),
    field('state', { label: 'State', options: Object.entries(states), all: 'all' }, state),
  ];
  return html`${note('Data that requests caused Chainstead to read. `ON_DEMAND_MAX_CALLS` and `ON_DEMAND_CONCURRENCY_PER_KEY` limit it.')}
<p>${tabs[0]} · ${tabs[1]}</p>
${queryForm(`/console${path}`, 'Filter by chain or state', fields)}`;
}

function historyAt(cursor: string): Subject | null {
  if (cursor === '') return null;
  const [, chainId = '', kind = '', address = ''] = HISTORY_CURSOR.exec(cursor) ?? [];
  if (address === '') throw wrongCursor(cursor);
  return {
    chainId: parseChainId(Number(chainId)),
    kind: kind as Subject['kind'],
    address: parseAddress(address),
  };
}

function collectionAt(cursor: string) {
  if (cursor === '') return null;
  const [, chainId = '', address = ''] = COLLECTION_CURSOR.exec(cursor) ?? [];
  if (address === '') throw wrongCursor(cursor);
  return { chainId: parseChainId(Number(chainId)), address: parseAddress(address) };
}

function wrongCursor(cursor: string): InvalidParameterError {
  return refused('after', cursor, 'the cursor of a link on the page');
}

function collectionsTable(
  collections: CollectionReadsPage['collections'],
  nameOf: (chainId: number) => string,
): Html {
  const rows = collections.map(({ chainId, address, name, state, readAt, dueAt, attempts, error }) => [
    shown(nameOf(chainId)),
    html`${name !== null && html`${shown(name)}<br>`}<code>${address}</code>`,
    html`${stateView(state, COLLECTION_STATES[state])}${error !== null && html`<br>${shown(error.message, REASON_MAX)}`}`,
    readAt === null ? 'never' : moment(readAt),
    dash(dueAt, moment),
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

function historiesTable(histories: HistoriesPage['histories'], nameOf: (chainId: number) => string): Html {
  const rows = histories.map(
    ({ subject, status, callsEstimated, callsMade, rowsAdded, requestedAt, attempts, dueAt, error }) => [
      shown(nameOf(subject.chainId)),
      html`${subject.kind}<br><code>${subject.address}</code>`,
      html`${stateView(status, HISTORY_STATES[status])}${dueAt !== null && html`<br>not before ${moment(dueAt)}`}${error !== null && html`<br>${shown(error.message, REASON_MAX)}`}`,
      html`${count(callsMade)}${callsEstimated !== null && html` of ${count(callsEstimated)}`}`,
      count(rowsAdded),
      count(attempts),
      moment(requestedAt),
    ],
  );
  const numbers = ['RPC calls', 'Rows added', 'Failed attempts'].map(number);
  return table({
    label: 'Backfills',
    caption: 'By chain and address',
    columns: ['Chain', 'Subject', 'State', ...numbers, 'Requested'],
    rows,
  });
}
