import { type ChainId, parseAddress, parseChainId } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';
import { type CollectionReadState, listCollectionReads } from '@chainstead/nft';
import { type HistoryStatus, listHistories, type Subject } from '@chainstead/sync';
import type { ConsolePage, ConsoleServices, PageRequest, View } from '../../console-page.ts';
import { collectionsView } from './collections-view.ts';
import { historiesView } from './histories-view.ts';
import { COLLECTION_STATES, HISTORY_STATES, type OnDemandChoice, stateNamed } from './on-demand-states.ts';

const PAGE = 100;
const HISTORY_CURSOR = /^(\d{1,15})-(wallet|contract|sender|emitter)-(0x[0-9a-f]{40})$/;
const COLLECTION_CURSOR = /^(\d{1,15})-(0x[0-9a-f]{40})$/;

/** What requests caused to be read: histories of wallets and contracts, collections. */
export const onDemandPage: ConsolePage = {
  path: '/on-demand',
  title: 'On demand',
  addRoutes(routes, services) {
    routes.view('/on-demand', (request) => showHistories(services, request));
    routes.view('/on-demand/collections', (request) => showCollections(services, request));
  },
};

async function showHistories(services: ConsoleServices, request: PageRequest): Promise<View> {
  const choice = choiceOf(services, request, HISTORY_STATES);
  const status: HistoryStatus | null = stateNamed(HISTORY_STATES, choice.state);
  const page = await listHistories(services.database, {
    chainId: choice.chainId,
    status,
    after: historyCursor(request.query('after')),
    limit: PAGE,
  });
  return { title: 'On demand', body: historiesView(page, choice) };
}

async function showCollections(services: ConsoleServices, request: PageRequest): Promise<View> {
  const choice = choiceOf(services, request, COLLECTION_STATES);
  const state: CollectionReadState | null = stateNamed(COLLECTION_STATES, choice.state);
  const page = await listCollectionReads(services.database, {
    chainId: choice.chainId,
    state,
    after: collectionCursor(request.query('after')),
    limit: PAGE,
  });
  return { title: 'On demand', body: collectionsView(page, choice) };
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
  if (kind !== 'wallet' && kind !== 'contract' && kind !== 'sender' && kind !== 'emitter') throw wrongCursor(given);
  return { chainId: parseChainId(Number(chainId)), kind, address: parseAddress(address) };
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
