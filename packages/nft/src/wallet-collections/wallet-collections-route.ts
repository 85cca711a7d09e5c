import { readKept, showIndexed, showSyncState, syncStateOf, type WalletHistory } from '@chainstead/answers';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import type { KeptSubjects } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { getLastSales } from '../sale-prices/get-last-sales.ts';
import { type HeldNow, NOBODY_ASKED } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletCollections, heldCollections } from './get-wallet-collections.ts';
import { requestUnreadCollections } from './request-unread-collections.ts';
import { showCollection, walletCollectionsSchema } from './wallet-collections-response.ts';

export interface WalletCollectionsOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until it is counted what the wallet holds. Milliseconds. */
  readonly waitMs: number;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
  /** What ERC-1155 is held while blocks of a wallet are missing. Default: no contract is asked, and what transfers don't tell is left out. */
  readonly heldNow?: HeldNow;
}

/**
 * `GET /api/v2.2/{address}/nft/collections`: the collections of which a wallet holds something (docs/provider-contract.md#wallet-collections). Where
 * blocks are missing of the wallet's history, the first request has them read; so has it the metadata of collections. What the wallet holds is counted
 * from its transfers at the first request, and kept from then on.
 */
export function createWalletCollectionsRoute(options: WalletCollectionsOptions): RouteModule {
  const { kept, walletHistory, waitMs, heldNow = NOBODY_ASKED } = options;
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging, reads } = dependencies;
    const runs = paging.forRoute({
      route: 'wallet-nft-collections',
      filter: filterSchema,
      position: z.object({ after: z.string() }),
      defaults: { address: '', chain: 'eth', token_counts: false, exclude_spam: false, include_prices: false },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
      orderDefault: 'ASC',
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: undefined,
        filter: {
          address: c.req.valid('param').address,
          chain: query.chain?.key,
          token_counts: query.token_counts,
          exclude_spam: query.exclude_spam,
          include_prices: query.include_prices,
        },
      });
      const { filter, position } = page;
      const chain = indexedChain(chains, filter.chain, nftTransfers.name);
      const wallet = parseAddress(filter.address);
      await kept.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet, waitMs);
      const reading = {
        wallet,
        limit: page.limit,
        after: position === null ? null : (position.after as Address),
        excludeSpam: filter.exclude_spam,
      };
      const found = await readKept(dependencies, (from) => getWalletCollections(from, chain, reading));
      const collections = await heldCollections(heldNow, chain, wallet, found.collections);
      const lastSales = filter.include_prices
        ? await getLastSales(
            reads,
            chain,
            collections.map(({ address }) => address),
          )
        : null;
      const answer = found.isCovered
        ? null
        : await walletHistory.requestWallet({ database, logger }, chain, wallet, c.get('principal')?.id ?? 'open');
      await requestUnreadCollections(database, chain, collections);
      const state = syncStateOf(chain, 'wallet', found, answer);
      const last = found.collections.at(-1);
      return c.json(
        {
          ...showSyncState(state),
          page: page.page + 1,
          page_size: page.limit,
          cursor:
            found.hasNext && last !== undefined
              ? runs.next(page, { position: { after: last.address }, upperBound: found.indexed.toBlock ?? 0 })
              : null,
          indexed: showIndexed(found.indexed),
          result: collections.map((collection) =>
            showCollection(collection, { counts: filter.token_counts, lastSales }),
          ),
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  token_counts: z.boolean(),
  exclude_spam: z.boolean(),
  include_prices: z.boolean(),
});

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/nft/collections',
    operationId: 'getWalletNFTCollections',
    tags: ['NFT'],
    summary: 'The NFT collections of a wallet',
    description:
      "Collections of which a wallet holds at least one token, by contract address. While blocks are missing of the wallet's history the status is SYNCING; the first request has them read.",
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        cursor: parameters.cursor,
        token_counts: booleanParameter({
          default: false,
          description: 'Adds count: how many different token ids of the collection the wallet holds.',
        }),
        exclude_spam: booleanParameter({
          default: false,
          description: 'Leaves collections out that are possible spam.',
        }),
        include_prices: booleanParameter({
          default: false,
          description: 'Adds last_sale, the last sale paid in ether within a year; floor prices are null.',
        }),
      }),
    },
    responses: {
      200: {
        description: 'A page of collections',
        content: { 'application/json': { schema: walletCollectionsSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
