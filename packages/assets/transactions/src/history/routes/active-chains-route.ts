import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { chainsParameter, defineRoute, indexedChainsOf, type RouteModule } from '@chainstead/http';
import { type Indexed, indexedSchema, type PageBlock, readConsistentPage, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import type { HistoryRouteOptions } from './wallet-history-route.ts';

export interface ActiveChainsOptions extends Pick<HistoryRouteOptions, 'trackedWallets' | 'onDemandBackfill'> {
  readonly served: readonly Chain[];
}

/** docs/api/wallets.md#active-chains */
export function createActiveChainsRoute(options: ActiveChainsOptions): RouteModule {
  const { served, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { chains, database, logger, reads, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/chains',
      operationId: 'getWalletActiveChains',
      tags: ['Wallets'],
      summary: 'List active chains of a wallet',
      description:
        'First and last transaction of the wallet on each chain, including transfers sent by others. Chains without activity are omitted.',
      params: { address: parameters.address },
      lists: { chains: chainsParameter('Returned in this order. Default: all indexed chains by ID.') },
      response: { description: 'The active chains', schema: activeChainsSchema },
      async answer({ address, chains: requested, requester }) {
        const wanted =
          requested === undefined
            ? served.toSorted((a, b) => a.id - b.id)
            : indexedChainsOf(chains, requested, ...ASSET_MOVEMENT_DATASETS);
        const find = async (chain: Chain): Promise<ActiveChain | null> => {
          await trackedWallets.ask({ database, logger }, chain, address, requester);
          const { ends, indexed } = await getActiveChain(reads, chain, address);
          if (!indexed.complete)
            await onDemandBackfill.requestWallet({ database, logger }, chain, address, requester);
          return ends === null ? null : { chain, ...ends, indexed };
        };
        const active = (await Promise.all(wanted.map(find))).filter((chain) => chain !== null);
        return { address, active_chains: active.map(showActiveChain) };
      },
    });
  };
}

const endSchema = z
  .object({
    block_number: z.string().openapi({ pattern: '^[0-9]+$' }),
    block_timestamp: z.string().openapi({ example: '2022-11-19T20:01:23.000Z' }),
    transaction_hash: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
  })
  .openapi('EndTransaction');

/** docs/api/wallets.md#active-chains */
const activeChainsSchema = z
  .object({
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    active_chains: z.array(
      z
        .object({
          chain: z.string().openapi({ example: 'eth' }),
          chain_id: z.string().openapi({ example: '0x1' }),
          first_transaction: endSchema.openapi({
            description: 'First known transaction. The first of all if indexed.complete is true',
          }),
          last_transaction: endSchema,
          indexed: indexedSchema,
        })
        .openapi('ActiveChain'),
    ),
  })
  .openapi('WalletActiveChains');

type ShownChain = z.infer<typeof activeChainsSchema>['active_chains'][number];

function showActiveChain({ chain, first, last, indexed }: ActiveChain): ShownChain {
  return {
    chain: chain.key,
    chain_id: `0x${chain.id.toString(16)}`,
    first_transaction: showEnd(first),
    last_transaction: showEnd(last),
    indexed: showIndexed(indexed),
  };
}

function showEnd({ block, hash }: EndTransaction): z.infer<typeof endSchema> {
  const { block_number, block_timestamp } = block;
  return { block_number: String(block_number), block_timestamp, transaction_hash: hash };
}

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
