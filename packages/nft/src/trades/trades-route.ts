import { areTablesSpread, showIndexed } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  blockBoundsSchema,
  booleanParameter,
  boundsOfRows,
  errorResponses,
  givenBlockBounds,
  indexedChain,
  NO_BLOCK_BOUNDS,
  type Page,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { nftTrades } from './dataset.ts';
import { getTrades } from './get-trades.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from './marketplace.ts';
import { showTrade, tradesSchema } from './trades-response.ts';
import type { TradesQuery, TradesSubject } from './trades-statement.ts';

/** `GET /api/v2.2/nft/{address}/{token_id}/trades`: a token's trades on all marketplaces (docs/provider-contract.md#nft-trades). */
export const tokenTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const answer = answerTrades(dependencies, 'token-trades', ({ address, token_id }) => ({
    kind: 'token',
    token: address as Address,
    tokenId: token_id,
  }));
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/{token_id}/trades',
    operationId: 'getNFTTradesByToken',
    tags: ['NFT'],
    summary: "A token's trades",
    description: `Trades of one token on every marketplace, newest first, bundles that contain it included. ${PAGING_TEXT}`,
    request: {
      params: z.object({ address: parameters.address, token_id: parameters.tokenId }),
      query: querySchema(commonQuery(parameters)),
    },
    responses: tradesResponses(),
  });
  app.openapi(route, async (c) => {
    const { address, token_id } = c.req.valid('param');
    return c.json(await answer(c.req.valid('query'), { address, token_id }), 200);
  });
};

/** `GET /api/v2.2/nft/{address}/trades`: a collection's trades on one marketplace, or on all (docs/provider-contract.md#nft-trades). */
export const collectionTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const answer = answerTrades(dependencies, 'collection-trades', ({ address, marketplace }) => ({
    kind: 'collection',
    token: address as Address,
    marketplace: marketplace === ALL ? null : marketplace,
  }));
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/nft/{address}/trades',
    operationId: 'getNFTTrades',
    tags: ['NFT'],
    summary: "A collection's trades",
    description: `Trades of a collection's tokens, newest first. Without \`marketplace\` those on OpenSea, as the hosted provider; \`all\` gives every marketplace's. ${PAGING_TEXT}`,
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ ...commonQuery(parameters), marketplace: marketplaceParameter() }),
    },
    responses: tradesResponses(),
  });
  app.openapi(route, async (c) => {
    const query = c.req.valid('query');
    const { address } = c.req.valid('param');
    return c.json(await answer(query, { address, marketplace: query.marketplace }), 200);
  });
};

/** `GET /api/v2.2/wallets/{address}/nfts/trades`: what a wallet sold and bought (docs/provider-contract.md#nft-trades). */
export const walletTradesRoute: RouteModule = (app, dependencies) => {
  const { parameters } = dependencies;
  const answer = answerTrades(dependencies, 'wallet-trades', ({ address }) => ({
    kind: 'wallet',
    wallet: address as Address,
  }));
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/nfts/trades',
    operationId: 'getNFTTradesByWallet',
    tags: ['NFT'],
    summary: "A wallet's NFT trades",
    description: `Trades in which a wallet sold or bought, on every marketplace, newest first. ${PAGING_TEXT}`,
    request: { params: z.object({ address: parameters.address }), query: querySchema(commonQuery(parameters)) },
    responses: tradesResponses(),
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    return c.json(await answer(c.req.valid('query'), { address }), 200);
  });
};

const PAGING_TEXT =
  'Pages follow by `cursor`; rows that arrive meanwhile never shift them. Accepted bids for CryptoPunks appear once the bid that says their price is indexed.';

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;
const ALL = 'all';
const DEFAULT_MARKETPLACE: MarketplaceName = 'opensea';

/** What a cursor is bound to; parts that a route does not have stay at their defaults. Named as the parameters. */
const filterSchema = z.object({
  address: z.string(),
  token_id: z.string(),
  marketplace: z.string(),
  chain: z.string(),
  ...blockBoundsSchema,
  nft_metadata: z.boolean(),
});
type Filter = z.infer<typeof filterSchema>;

/** The last row of a page. */
const positionSchema = z.object({
  block: z.int(),
  transaction: z.int(),
  log: z.int(),
  item: z.int(),
  token: z.string(),
});

type Subject = { readonly [Name in 'address' | 'token_id' | 'marketplace']?: string | undefined };
type TradesPage = Page<Filter, z.infer<typeof positionSchema>>;

function commonQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    from_block: parameters.fromBlock,
    to_block: parameters.toBlock.openapi({ type: 'string', pattern: '^[0-9]+$' }),
    from_date: parameters.fromDate,
    to_date: parameters.toDate,
    limit: parameters.limit,
    cursor: parameters.cursor,
    nft_metadata: booleanParameter({
      default: true,
      description: 'Adds to each trade what the documents of its tokens say, as far as they were read.',
    }),
  };
}

type CommonQuery = z.infer<z.ZodObject<ReturnType<typeof commonQuery>>>;

function marketplaceParameter() {
  const names = [...MARKETPLACE_NAMES, ALL];
  return textParameter(`${names.slice(0, -1).join(', ')} or ${ALL}`, (text) =>
    names.find((name) => name === text.toLowerCase()),
  )
    .optional()
    .openapi({ type: 'string', enum: names, default: DEFAULT_MARKETPLACE });
}

function tradesResponses() {
  return {
    200: { description: 'A page of trades', content: { 'application/json': { schema: tradesSchema } } },
    ...errorResponses(400, 401, 429, 500, 503),
  };
}

/** Answers one route's requests. @param subjectOf whose trades the filter means */
function answerTrades(
  { chains, limits, paging, reads }: ApiDependencies,
  name: string,
  subjectOf: (filter: Filter) => TradesSubject,
) {
  const runs = paging.forRoute({
    route: name,
    filter: filterSchema,
    position: positionSchema,
    defaults: {
      address: '',
      token_id: '',
      marketplace: DEFAULT_MARKETPLACE,
      chain: DEFAULT_CHAIN,
      ...NO_BLOCK_BOUNDS,
      nft_metadata: true,
    },
    limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
  });
  return async (query: CommonQuery, subject: Subject): Promise<z.infer<typeof tradesSchema>> => {
    const page = runs.open({
      cursor: query.cursor,
      limit: query.limit,
      order: undefined,
      filter: {
        address: subject.address,
        token_id: subject.token_id,
        marketplace: subject.marketplace,
        chain: query.chain?.key,
        nft_metadata: query.nft_metadata,
        ...givenBlockBounds(query),
      },
    });
    const chain = indexedChain(chains, page.filter.chain, nftTrades.name);
    const found = await getTrades(reads, chain, readingOf(page, subjectOf(page.filter)), {
      isSpread: await areTablesSpread(reads),
    });
    const [newest] = found.trades;
    const last = found.trades.at(-1);
    return {
      page: page.page,
      page_size: page.limit,
      cursor:
        !found.hasNext || last === undefined
          ? null
          : runs.next(page, {
              position: {
                block: last.block_number,
                transaction: last.transaction_index,
                log: last.log_index,
                item: last.item,
                token: last.token_address,
              },
              upperBound: page.upperBound ?? Math.max(found.indexed.toBlock ?? 0, newest?.block_number ?? 0),
            }),
      indexed: showIndexed(found.indexed),
      result: found.trades.map((row) => showTrade(row, { withMetadata: page.filter.nft_metadata })),
    };
  };
}

function readingOf({ filter, limit, position, upperBound }: TradesPage, subject: TradesSubject): TradesQuery {
  return {
    subject,
    limit,
    metadata: filter.nft_metadata,
    ...boundsOfRows(filter),
    pinnedBlock: upperBound,
    after:
      position === null
        ? null
        : {
            blockNumber: position.block,
            transactionIndex: position.transaction,
            logIndex: position.log,
            item: position.item,
            token: position.token as Address,
          },
  };
}
