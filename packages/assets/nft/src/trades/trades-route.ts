import type { Address } from '@chainstead/core';
import {
  type ApiApp,
  type ApiDependencies,
  blockBoundsSchema,
  booleanParameter,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  type ListQueryShape,
  type ListRequest,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { areTablesSpread, ITEM_ORDER, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { nftTrades } from './dataset.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from './marketplace.ts';
import { type NftTradesSubject, tradesPage } from './trades-page.ts';
import { showTrade, tradesSchema } from './trades-response.ts';

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
    position: z.object({ ...ITEM_ORDER.fields, token: z.string() }),
    firstPage: 0,
    read: async (page) => {
      const { chain, filter, position } = page;
      const after = position && { ...position, token: position.token as Address };
      const order = 'DESC';
      const query = {
        ...chainQueryOf(page),
        order,
        subject: subjectOf(filter),
        after,
        metadata: filter.nft_metadata,
      } as const;
      return tradesPage(chain, query, await areTablesSpread(reads)).read(reads);
    },
    present: ({ indexed, rows, blockOf, documents }, envelope, { filter }) => ({
      ...envelope,
      indexed: showIndexed(indexed),
      result: rows.map((row, index) =>
        showTrade(row, blockOf(row), filter.nft_metadata ? (documents?.[index] ?? null) : undefined),
      ),
    }),
  });
}
