import { createMissingIndexes, showIndexed, type WalletHistory } from '@chainstead/answers';
import { type Address, parseAddress, systemClock } from '@chainstead/core';
import {
  type ApiDependencies,
  blockBoundsSchema,
  boundsOfRows,
  errorResponses,
  givenBlockBounds,
  indexedChain,
  NO_BLOCK_BOUNDS,
  type Page,
  querySchema,
  type RouteModule,
  requireIndexes,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { showTransfer } from '../page/transfer-response.ts';
import { getTokenTransfers, type TokenTransfersPage } from './get-token-transfers.ts';
import { tokenTransfersSchema } from './token-transfers-response.ts';

export interface TokenTransfersOptions {
  readonly walletHistory: Pick<WalletHistory, 'requestContract'>;
}

/**
 * `GET /api/v2.2/erc20/{address}/transfers`: all transfers of a token (docs/provider-contract.md#token-transfers). Where blocks are missing
 * that the page would need, the token's history is asked for.
 */
export function createTokenTransfersRoute({ walletHistory }: TokenTransfersOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging, reads } = dependencies;
    const runs = paging.forRoute({
      route: 'token-transfers',
      filter: filterSchema,
      position: positionSchema,
      defaults: { address: '', chain: DEFAULT_CHAIN, ...NO_BLOCK_BOUNDS },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    const missing = createMissingIndexes(reads, systemClock, [BY_CONTRACT]);
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: query.order,
        filter: { address: c.req.valid('param').address, chain: query.chain?.key, ...givenBlockBounds(query) },
      });
      const chain = indexedChain(chains, page.filter.chain, erc20Transfers.name);
      const token = parseAddress(page.filter.address);
      requireIndexes(await missing());
      const found = await getTokenTransfers(reads, chain, readingOf(page));
      if (!found.indexed.complete)
        await walletHistory.requestContract({ database, logger }, chain, token, c.get('principal')?.id ?? 'open');
      const next = nextPlace(page, found);
      return c.json(
        {
          page: page.page,
          page_size: page.limit,
          cursor: next === null ? null : runs.next(page, next),
          indexed: showIndexed(found.indexed),
          result: found.transfers.map((row) => showTransfer({ ...row, token }, found)),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({ address: z.string(), chain: z.string(), ...blockBoundsSchema });

/** The last row of a page. */
const positionSchema = z.object({ block: z.int(), transaction: z.int(), log: z.int() });

type TransfersPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{address}/transfers',
    operationId: 'getTokenTransfers',
    tags: ['Token'],
    summary: "A token's transfers",
    description:
      'All transfers of an ERC-20 token, by block number, newest first by default; mints and burns have the zero address on one side. Pages follow by `cursor`; rows that arrive meanwhile never shift them.',
    request: {
      params: z.object({ address: parameters.address.openapi({ description: 'The token contract' }) }),
      query: querySchema({
        chain: parameters.chain,
        from_block: parameters.fromBlock,
        to_block: parameters.toBlock,
        from_date: parameters.fromDate,
        to_date: parameters.toDate,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: {
        description: 'A page of transfers',
        content: { 'application/json': { schema: tokenTransfersSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}

function readingOf({ filter, limit, order, position, upperBound }: TransfersPage) {
  return {
    token: filter.address as Address,
    order,
    limit,
    ...boundsOfRows(filter),
    pinnedBlock: upperBound,
    after:
      position === null
        ? null
        : { blockNumber: position.block, transactionIndex: position.transaction, logIndex: position.log },
  };
}

function nextPlace(page: TransfersPage, found: TokenTransfersPage) {
  const last = found.transfers.at(-1);
  if (!found.hasNext || last === undefined) return null;
  return {
    position: { block: last.block_number, transaction: last.transaction_index, log: last.log_index },
    upperBound: page.upperBound ?? found.newestBlock ?? last.block_number,
  };
}
