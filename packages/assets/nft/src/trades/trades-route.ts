import type { Address } from '@chainstead/core';
import {
  type ApiApp,
  type ApiDependencies,
  blockBoundsSchema,
  booleanParameter,
  boundsOfRows,
  defineListRoute,
  givenBlockBounds,
  type ListQueryShape,
  type ListRequest,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { areTablesSpread, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftTrades } from './dataset.ts';
import { getTrades } from './get-trades.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from './marketplace.ts';
import { showTrade, tradesSchema } from './trades-response.ts';
import type { NftTradesSubject } from './trades-statement.ts';

const PAGING_TEXT =
  'Use `cursor` for the next page; new rows never shift pages. An accepted CryptoPunks bid appears when the bid with its price is indexed.';
const ALL = 'all';
const DEFAULT_MARKETPLACE: MarketplaceName = 'opensea';

/** docs/api/nfts.md#nft-trades */
export const tokenTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  addTradesRoute(app, dependencies, {
    path: '/api/v2.2/nft/{address}/{token_id}/trades',
    operationId: 'getNFTTradesByToken',
    summary: 'List trades of an NFT',
    description: `Trades of one NFT on all marketplaces, newest first, including bundles that contain it. ${PAGING_TEXT}`,
    params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
    query: querySchema(commonQuery(parameters)),
    cursorName: 'token-trades',
    filterOf: ({ address, token_id, ...given }) => ({ address, token_id, ...commonFilter(given) }),
    subjectOf: (filter) => ({ kind: 'token', token: filter.address as Address, tokenId: filter.token_id }),
  });
};

export const collectionTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  addTradesRoute(app, dependencies, {
    path: '/api/v2.2/nft/{address}/trades',
    operationId: 'getNFTTrades',
    summary: 'List NFT trades by collection',
    description: `Trades of the NFTs of a collection, newest first. Default for \`marketplace\`: OpenSea, as in the hosted API; \`all\` returns trades of all marketplaces. ${PAGING_TEXT}`,
    params: z.object({ address: parameters.address }),
    query: querySchema({ ...commonQuery(parameters), marketplace: marketplaceParameter() }),
    cursorName: 'collection-trades',
    filterOf: ({ address, marketplace, ...given }) => ({ address, marketplace, ...commonFilter(given) }),
    subjectOf: ({ address, marketplace }) => ({
      kind: 'collection',
      token: address as Address,
      marketplace: marketplace === ALL ? null : marketplace,
    }),
  });
};

export const walletTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  addTradesRoute(app, dependencies, {
    path: '/api/v2.2/wallets/{address}/nfts/trades',
    operationId: 'getNFTTradesByWallet',
    summary: 'List NFT trades by wallet',
    description: `Trades with the wallet as seller or buyer on all marketplaces, newest first. ${PAGING_TEXT}`,
    params: z.object({ address: parameters.address }),
    query: querySchema(commonQuery(parameters)),
    cursorName: 'wallet-trades',
    filterOf: ({ address, ...given }) => ({ address, ...commonFilter(given) }),
    subjectOf: ({ address }) => ({ kind: 'wallet', wallet: address as Address }),
  });
};

function marketplaceParameter() {
  const names = [...MARKETPLACE_NAMES, ALL];
  return textParameter(`${names.slice(0, -1).join(', ')} or ${ALL}`, (text) =>
    names.find((name) => name === text.toLowerCase()),
  )
    .optional()
    .openapi({ type: 'string', enum: names, default: DEFAULT_MARKETPLACE });
}

/** Bound to the cursor. */
const filterSchema = z.object({
  address: z.string(),
  token_id: z.string().default(''),
  marketplace: z.string().default(DEFAULT_MARKETPLACE),
  chain: z.string().default('eth'),
  ...blockBoundsSchema,
  nft_metadata: z.boolean().default(true),
});

type Filter = z.infer<typeof filterSchema>;

function commonQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    ...parameters.blockBounds,
    to_block: parameters.toBlock.openapi({ type: 'string', pattern: '^[0-9]+$' }),
    limit: parameters.limit,
    cursor: parameters.cursor,
    nft_metadata: booleanParameter({
      default: true,
      description: 'Adds the known metadata of the NFTs to each trade.',
    }),
  };
}

function commonFilter({ chain, nft_metadata, ...given }: z.infer<z.ZodObject<ReturnType<typeof commonQuery>>>) {
  return { chain: chain?.key, nft_metadata, ...givenBlockBounds(given) };
}

function addTradesRoute<Params extends z.core.$ZodShape, Query extends ListQueryShape>(
  app: ApiApp,
  dependencies: ApiDependencies,
  {
    subjectOf,
    ...request
  }: ListRequest<Params, Query, Filter> & { readonly subjectOf: (filter: Filter) => NftTradesSubject },
): void {
  const { reads } = dependencies;
  defineListRoute(app, dependencies, {
    ...request,
    tags: ['NFT trades and prices'],
    response: { description: 'A page of NFT trades', schema: tradesSchema },
    datasets: [nftTrades.name],
    filter: filterSchema,
    position: z.object({ block: z.int(), transaction: z.int(), log: z.int(), item: z.int(), token: z.string() }),
    firstPage: 0,
    read: async ({ chain, filter, limit, position, upperBound }) => {
      const reading = {
        ...{ subject: subjectOf(filter), limit, metadata: filter.nft_metadata },
        ...boundsOfRows(filter),
        pinnedBlock: upperBound,
        after: position && {
          blockNumber: position.block,
          transactionIndex: position.transaction,
          logIndex: position.log,
          item: position.item,
          token: position.token as Address,
        },
      };
      const page = await getTrades(reads, chain, reading, { isSpread: await areTablesSpread(reads) });
      const last = page.hasNext ? page.trades.at(-1) : undefined;
      const next = last && {
        position: {
          ...{ block: last.block_number, transaction: last.transaction_index, log: last.log_index },
          ...{ item: last.item, token: last.token_address },
        },
        upperBound: upperBound ?? Math.max(page.indexed.toBlock ?? 0, page.trades[0]?.block_number ?? 0),
      };
      return { ...page, next };
    },
    present: ({ indexed, trades }, envelope, { filter }) => ({
      ...envelope,
      indexed: showIndexed(indexed),
      result: trades.map((row) => showTrade(row, { withMetadata: filter.nft_metadata })),
    }),
  });
}
