import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  addressParameter,
  blockBoundsSchema,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  NotFoundError,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import {
  areTablesSpread,
  LOG_COLUMNS_ORDER,
  requestTraderState,
  showSyncState,
  type TraderBackfill,
} from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { getPair, readPairPrices } from './get-pair-state.ts';
import { getSwaps, type ReadDirectPrices, type SwapsSources } from './get-swaps.ts';
import { EVERY_SWAP, PAIR_NOT_FOUND, pairParameter, refuseCursor } from './pair-parameter.ts';
import { type SwapTransactionType, TRANSACTION_TYPES } from './swaps-page.ts';
import { pairSwapsSchema, showPairSwaps, showSwaps, swapsSchema, walletSwapsSchema } from './swaps-response.ts';

const LISTED =
  'Lists pools that are proven to belong to a known exchange; other pools may imitate its events. Returns 400 with `SWAPS_<CHAIN>=off`. Swaps against a token with a price feed, a dollar token, or a token with pools against these have US dollar values.';

export interface SwapListOptions {
  readonly readDirectPrices: ReadDirectPrices;
}

/** docs/api/swaps.md#swaps-of-a-pair */
export function createPairSwapsRoute(options: SwapListOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      ...listParts,
      path: '/api/v2.2/pairs/{address}/swaps',
      operationId: 'getSwapsByPairAddress',
      tags: ['Tokens'],
      summary: 'List swaps by pair',
      description: `Swaps and liquidity changes of a pool, newest first by default. ${LISTED} Returns 404 for a pool without proof.`,
      params: z.object({ address: pairParameter() }),
      query: swapsQuery(parameters, {}, TRANSACTION_TYPES),
      response: { description: 'A page of swaps and liquidity changes', schema: pairSwapsSchema },
      errors: [404],
      cursorName: 'pair-swaps',
      filterOf: ({ address, ...given }) => ({ address, ...commonFilter(given) }),
      read: async (page) => {
        const { chain, filter } = page;
        const pool = filter.address as PoolId;
        const pair = await getPair(reads, chain, pool);
        if (pair === null) throw new NotFoundError(PAIR_NOT_FOUND);
        const query = {
          ...chainQueryOf(page),
          types: filter.transactionTypes,
          subject: { kind: 'pair', pool },
        } as const;
        const found = await getSwaps(reads, chain, query, await sourcesOf(options, dependencies, chain));
        return { ...found, pair, usd: await readPairPrices(reads, chain, pair) };
      },
      present: (found, envelope, { chain, filter }) =>
        showPairSwaps(found, envelope, { pool: filter.address as PoolId, ...found }, chain),
    });
  };
}

/** docs/api/swaps.md#swaps-of-a-token */
export function createTokenSwapsRoute(options: SwapListOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      ...listParts,
      path: '/api/v2.2/erc20/{address}/swaps',
      operationId: 'getSwapsByTokenAddress',
      tags: ['Tokens'],
      summary: 'List swaps by token',
      description: `Swaps with the token on either side in all pools, newest first by default. ${LISTED}`,
      params: z.object({ address: parameters.address }),
      query: swapsQuery(parameters, {}, SWAP_TYPES),
      response: { description: 'A page of swaps', schema: swapsSchema },
      cursorName: 'token-swaps',
      filterOf: ({ address, ...given }) => ({ address, ...commonFilter(given) }),
      read: async (page) => {
        const { chain, filter } = page;
        const subject = { kind: 'token', token: filter.address as Address } as const;
        const query = { ...chainQueryOf(page), types: filter.transactionTypes, subject };
        return getSwaps(reads, chain, query, await sourcesOf(options, dependencies, chain));
      },
      present: showSwaps,
    });
  };
}

export interface WalletSwapsOptions extends SwapListOptions {
  readonly onDemandBackfill: TraderBackfill;
}

/** docs/api/swaps.md#swaps-of-a-wallet */
export function createWalletSwapsRoute({ onDemandBackfill, ...options }: WalletSwapsOptions): RouteModule {
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    const tokenAddress = addressParameter()
      .optional()
      .openapi({ description: 'Returns only swaps with this token on either side.' });
    defineListRoute(app, dependencies, {
      ...listParts,
      path: '/api/v2.2/wallets/{address}/swaps',
      operationId: 'getSwapsByWalletAddress',
      tags: ['Wallets'],
      summary: 'List swaps by wallet',
      description: `Swaps with the wallet as sender of the transaction or as beneficiary, newest first by default. The first request starts the backfill of the wallet's older swaps. ${LISTED}`,
      params: z.object({ address: parameters.address }),
      query: swapsQuery(parameters, { tokenAddress }, SWAP_TYPES),
      response: { description: 'A page of swaps', schema: walletSwapsSchema },
      cursorName: 'wallet-swaps',
      filterOf: ({ address, tokenAddress, ...given }) => ({ address, tokenAddress, ...commonFilter(given) }),
      read: async (page) => {
        const { chain, filter, requester } = page;
        const { address, tokenAddress: token } = filter;
        const subject = { kind: 'wallet', wallet: address as Address, token: token as Address | null } as const;
        const query = { ...chainQueryOf(page), types: filter.transactionTypes, subject };
        const found = await getSwaps(reads, chain, query, await sourcesOf(options, dependencies, chain));
        const request = { account: subject.wallet, requester, indexed: found.indexed };
        return {
          ...found,
          state: await requestTraderState(onDemandBackfill, { database, logger }, chain, request),
        };
      },
      present: (found, envelope) => ({ ...showSyncState(found.state), ...showSwaps(found, envelope) }),
    });
  };
}

const SWAP_TYPES = ['buy', 'sell'] as const satisfies readonly SwapTransactionType[];

const SPELLINGS = { from_block: 'fromBlock', to_block: 'toBlock', from_date: 'fromDate', to_date: 'toDate' };

function swapsQuery<More extends z.core.$ZodShape>(
  parameters: ApiDependencies['parameters'],
  more: More,
  types: readonly SwapTransactionType[],
) {
  return querySchema(
    {
      chain: parameters.chain,
      fromBlock: parameters.fromBlock.openapi({
        description: 'Lowest block, inclusive. Takes precedence over fromDate.',
      }),
      toBlock: parameters.toBlock.openapi({
        type: 'string',
        pattern: '^[0-9]+$',
        description: 'Highest block, inclusive. Takes precedence over toDate.',
      }),
      fromDate: parameters.fromDate,
      toDate: parameters.toDate,
      limit: parameters.limit,
      order: parameters.order,
      cursor: parameters.cursor,
      ...more,
    },
    { transactionTypes: typesParameter(types) },
    SPELLINGS,
  );
}

function typesParameter(types: readonly SwapTransactionType[]) {
  const allowed = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
  return z
    .array(z.string())
    .transform((given, ctx): readonly SwapTransactionType[] => {
      const values = given.filter((value) => value !== '');
      for (const [index, value] of values.entries())
        if (!types.some((type) => type === value)) {
          const params = { allowed, given: value };
          ctx.addIssue({ code: 'custom', message: `must be ${allowed}`, path: [index], params });
        }
      return types.filter((type) => values.includes(type));
    })
    .optional()
    .openapi({
      type: 'array',
      items: { type: 'string', enum: [...types] },
      description: `Returns only rows of these types. Also accepted as name[]=…, name[0]=… and as a comma-separated list. Default: all.`,
    });
}

const filterSchema = z.object({
  address: z.string(),
  tokenAddress: z.string().nullable().default(null),
  chain: z.string().default('eth'),
  transactionTypes: z.array(z.enum(TRANSACTION_TYPES)).readonly().default([]),
  ...blockBoundsSchema,
});

function commonFilter({
  chain,
  transactionTypes,
  ...bounds
}: Omit<z.output<ReturnType<typeof swapsQuery<Record<never, never>>>>, 'limit' | 'order' | 'cursor'>) {
  const { fromBlock, toBlock, fromDate, toDate } = bounds;
  return {
    chain: chain?.key,
    transactionTypes,
    ...givenBlockBounds({ from_block: fromBlock, to_block: toBlock, from_date: fromDate, to_date: toDate }),
  };
}

const listParts = {
  datasets: [EVERY_SWAP],
  filter: filterSchema,
  position: z.object(LOG_COLUMNS_ORDER.fields),
  firstPage: 0,
  refusal: refuseCursor,
} as const;

async function sourcesOf(
  { readDirectPrices }: SwapListOptions,
  { reads, database, logger }: ApiDependencies,
  chain: Chain,
): Promise<SwapsSources> {
  return {
    isSpread: await areTablesSpread(reads),
    readDirect: (wanted) => readDirectPrices({ database, logger }, chain, wanted),
  };
}
