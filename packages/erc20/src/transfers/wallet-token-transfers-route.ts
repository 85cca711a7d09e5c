import { showIndexed } from '@chainstead/answers';
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
  totalOfRun,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from './dataset.ts';
import { getWalletTokenTransfers, type WalletTransfersPage } from './get-wallet-token-transfers.ts';
import { showTransfers, walletTokenTransfersSchema } from './wallet-token-transfers-response.ts';

/** `GET /api/v2.2/{address}/erc20/transfers`: a wallet's ERC-20 transfers, both sides (docs/provider-contract.md#wallet-transfers). */
export const walletTokenTransfersRoute: RouteModule = (app, dependencies) => {
  const { chains, limits, paging, reads } = dependencies;
  const runs = paging.forRoute({
    route: 'wallet-token-transfers',
    filter: filterSchema,
    position: positionSchema,
    defaults: {
      address: '',
      chain: DEFAULT_CHAIN,
      contract_addresses: null,
      ...NO_BLOCK_BOUNDS,
    },
    limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
  });
  app.openapi(routeOf(dependencies), async (c) => {
    const query = c.req.valid('query');
    const page = runs.open({
      cursor: query.cursor,
      limit: query.limit,
      order: query.order,
      filter: {
        address: c.req.valid('param').address,
        chain: query.chain?.key,
        contract_addresses: query.contract_addresses,
        ...givenBlockBounds(query),
      },
    });
    const chain = indexedChain(chains, page.filter.chain, erc20Transfers.name);
    const reading = { ...readingOf(page), count: page.position === null && query.disable_total === false };
    const found = await getWalletTokenTransfers(reads, chain, reading);
    const next = nextPlace(page, found);
    return c.json(
      {
        total: totalOf(page, found),
        page: page.page,
        page_size: page.limit,
        cursor: next === null ? null : runs.next(page, next),
        indexed: showIndexed(found.indexed),
        result: showTransfers(page.filter.address as Address, found),
      },
      200,
    );
  });
};

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  contract_addresses: z.array(z.string()).readonly().nullable(),
  ...blockBoundsSchema,
});

/** The last row of a page, and the run's length where the first request counted it. */
const positionSchema = z.object({ block: z.int(), transaction: z.int(), log: z.int(), count: z.int().nullable() });

type TransfersPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

function routeOf({ parameters }: ApiDependencies) {
  const query = querySchema(
    {
      chain: parameters.chain,
      from_block: parameters.fromBlock,
      to_block: parameters.toBlock,
      from_date: parameters.fromDate,
      to_date: parameters.toDate,
      limit: parameters.limit,
      order: parameters.order,
      cursor: parameters.cursor,
      disable_total: booleanParameter({
        default: true,
        description: 'false counts the whole answer, up to 10,000 rows.',
      }),
    },
    { contract_addresses: parameters.addresses },
  );
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/erc20/transfers',
    operationId: 'getWalletTokenTransfers',
    tags: ['Token'],
    summary: "A wallet's ERC-20 transfers",
    description:
      'Transfers that a wallet sent or received, by block number, newest first by default. Pages follow by `cursor`; rows that arrive meanwhile never shift them.',
    request: {
      params: z.object({ address: parameters.address }),
      query,
    },
    responses: {
      200: {
        description: 'A page of transfers',
        content: { 'application/json': { schema: walletTokenTransfersSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}

function readingOf(page: TransfersPage) {
  const { filter, position } = page;
  return {
    address: filter.address as Address,
    order: page.order,
    limit: page.limit,
    tokens: filter.contract_addresses as readonly Address[] | null,
    ...boundsOfRows(filter),
    pinnedBlock: page.upperBound,
    after:
      position === null
        ? null
        : { blockNumber: position.block, transactionIndex: position.transaction, logIndex: position.log },
  };
}

function nextPlace(page: TransfersPage, found: WalletTransfersPage) {
  const last = found.transfers.at(-1);
  if (!found.hasNext || last === undefined) return null;
  return {
    position: {
      block: last.block_number,
      transaction: last.transaction_index,
      log: last.log_index,
      count: page.position === null ? found.count : page.position.count,
    },
    upperBound: page.upperBound ?? found.newestBlock ?? last.block_number,
  };
}

/**
 * Known on a run's last page; before it, what the first request counted, unless rows that arrived since contradict it. Never
 * while blocks are missing, which may hold more.
 */
function totalOf(page: TransfersPage, found: WalletTransfersPage): number | null {
  if (!found.indexed.complete) return null;
  const known = totalOfRun(page, { rows: found.transfers.length, isLast: !found.hasNext });
  if (known !== null) return known;
  const counted = page.position === null ? found.count : page.position.count;
  return counted !== null && counted > (page.page + 1) * page.limit ? counted : null;
}
