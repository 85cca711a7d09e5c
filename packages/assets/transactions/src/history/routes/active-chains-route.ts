import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import {
  chainsParameter,
  each,
  indexedBlocks,
  indexedChainsOf,
  inside,
  routesFor,
  view,
  wire,
} from '@chainstead/http';
import { type Indexed, type PageBlock, readConsistentPage } from '@chainstead/pages';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import type { HistoryServices } from '../routes.ts';

type Services = Pick<HistoryServices, 'served' | 'trackedWallets' | 'onDemandBackfill'>;

const { address, hash, quantity, text } = wire;

const endView = view('EndTransaction', (end: EndTransaction) => end, {
  block_number: text({ pattern: '^[0-9]+$' }, ({ block }) => String(block.block_number)),
  block_timestamp: text({ example: '2022-11-19T20:01:23.000Z' }, ({ block }) => block.block_timestamp),
  transaction_hash: hash((end) => end.hash),
});

const chainView = view('ActiveChain', (active: ActiveChain) => active, {
  chain: text({ example: 'eth' }, ({ chain }) => chain.key),
  chain_id: quantity({ example: '0x1' }, ({ chain }) => chain.id),
  first_transaction: inside(endView)(
    'First known transaction. The first of all if indexed.complete is true',
    'first',
  ),
  last_transaction: inside(endView).of('last'),
  indexed: indexedBlocks(),
});

const activeChainsView = view(
  'WalletActiveChains',
  (address: Address, active: readonly ActiveChain[]) => ({ address, active }),
  { address: address(), active_chains: each(chainView)(({ active }) => active) },
);

/** docs/api/wallets.md#active-chains */
export const activeChainsRoute = routesFor<Services>().defineRoute({
  path: '/api/v2.2/wallets/{address}/chains',
  operationId: 'getWalletActiveChains',
  tag: 'Wallets',
  summary: 'List active chains of a wallet',
  description:
    'First and last transaction of the wallet on each chain, including transfers sent by others. Chains without activity are omitted.',
  params: ['address'],
  query: [{ chains: chainsParameter('Returned in this order. Default: all indexed chains by ID.') }],
  response: { description: 'The active chains', schema: activeChainsView.schema },
  async answer({ address, chains: requested, requester, api, services, ...request }) {
    const wanted =
      requested === undefined
        ? services.served.toSorted((a, b) => a.id - b.id)
        : indexedChainsOf(api.chains, requested, ...ASSET_MOVEMENT_DATASETS);
    const find = async (chain: Chain): Promise<ActiveChain | null> => {
      await services.trackedWallets.ask(request, chain, address, requester);
      const { ends, indexed } = await getActiveChain(request.reads, chain, address);
      if (!indexed.complete) await services.onDemandBackfill.requestWallet(request, chain, address, requester);
      return ends === null ? null : { chain, ...ends, indexed };
    };
    const active = (await Promise.all(wanted.map(find))).filter((chain) => chain !== null);
    return activeChainsView.show(address, active);
  },
});

interface EndTransaction {
  readonly block: PageBlock;
  readonly hash: Hash;
}

interface ActiveChain {
  readonly chain: Chain;
  readonly first: EndTransaction;
  readonly last: EndTransaction;
  readonly indexed: Indexed;
}

/** `ends` null: no known activity. */
async function getActiveChain(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
): Promise<{ readonly ends: Pick<ActiveChain, 'first' | 'last'> | null; readonly indexed: Indexed }> {
  return readConsistentPage(async () => {
    const [oldest, newest] = await Promise.all([
      readPlaces(database, chain, { ...FIRST_PLACE, wallet }),
      readPlaces(database, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
    ]);
    const { indexed } = oldest;
    const [[first], [last]] = [oldest.places, newest.places];
    if (first === undefined || last === undefined) return { ends: null, indexed };
    return {
      ends: {
        first: { block: oldest.blockOf({ block_number: first.block }), hash: first.hash },
        last: { block: newest.blockOf({ block_number: last.block }), hash: last.hash },
      },
      indexed,
    };
  });
}
