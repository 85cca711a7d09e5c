import { type ChainId, parseAddress, parseChainId } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';
import { type CollectionReadState, listCollectionReads } from '@chainstead/nft';
import { type HistoryStatus, listHistories, type Subject } from '@chainstead/sync';
import type { ConsolePage, ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import type { Html } from '../../layout/html.ts';
import { collectionsView } from './collections-view.ts';
import { historiesView } from './histories-view.ts';
import { type OnDemandPath, onDemandFrame } from './on-demand-frame.ts';
import { COLLECTION_STATES, HISTORY_STATES, type OnDemandChoice, stateNamed } from './on-demand-states.ts';

const PAGE = 100;
const HISTORY_CURSOR = /^(\d{1,15})-(wallet|contract|sender|receiver|emitter)-(0x[0-9a-f]{40})$/;
const COLLECTION_CURSOR = /^(\d{1,15})-(0x[0-9a-f]{40})$/;

/** What requests caused to be read: histories of wallets and contracts, collections. */
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
  /** What of it moves. */
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

const KINDS: ReadonlySet<string> = new Set<Subject['kind']>(['wallet', 'contract', 'sender', 'receiver', 'emitter']);

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
  return new InvalidParameterError({ parameter: 'after', given, allowed: 'what a link of this page has' });
}
