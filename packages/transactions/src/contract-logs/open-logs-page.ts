import { createMissingIndexes, showIndexed, type WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, parseHash, systemClock } from '@chainstead/core';
import {
  type ApiContext,
  type ApiDependencies,
  blockBoundsSchema,
  boundsOfRows,
  givenBlockBounds,
  indexedChain,
  NO_BLOCK_BOUNDS,
  type Page,
  requireIndexes,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { BY_TOPIC } from './contract-logs-statement.ts';
import { logs } from './dataset.ts';
import { type ContractLog, type ContractLogsPage, getContractLogs } from './get-contract-logs.ts';
import { LogsNotIndexedError } from './logs-not-indexed.ts';

/** Who has a contract's logs read. */
export interface ContractLogsOptions {
  readonly walletHistory: Pick<WalletHistory, 'requestEmitter'>;
}

/** What a request says of the page that it wants. */
type AskedLogs = Parameters<typeof givenBlockBounds>[0] & {
  readonly chain?: Pick<Chain, 'key'> | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly order?: 'ASC' | 'DESC' | undefined;
  readonly offset?: number | undefined;
};

/** A page, with what answers of all routes say of it. */
export interface OpenedLogsPage {
  /** How many pages went before. */
  readonly page: number;
  readonly contract: Address;
  readonly logs: readonly ContractLog[];
  readonly envelope: {
    readonly page_size: number;
    readonly cursor: string | null;
    readonly indexed: ReturnType<typeof showIndexed>;
  };
}

const PAGE_SIZE_DEFAULT = 100;

/**
 * Opens and reads pages of a contract's logs for one of the routes, whose cursors are its own. A page
 * throws LogsNotIndexedError (400) where nothing is known of them and requests may cause no calls.
 */
export function createOpenLogsPage(route: string, options: ContractLogsOptions, dependencies: ApiDependencies) {
  const { chains, limits, paging, reads } = dependencies;
  const runs = paging.forRoute({
    route,
    filter: filterSchema,
    position: positionSchema,
    defaults: DEFAULTS,
    limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
  });
  const missing = createMissingIndexes(reads, systemClock, [BY_TOPIC]);
  return async (
    c: ApiContext,
    contract: Address,
    asked: AskedLogs,
    [topic0, topic1, topic2, topic3]: readonly (string | undefined)[],
  ): Promise<OpenedLogsPage> => {
    const { chain: named, cursor, limit, order, offset } = asked;
    const topics = { topic0, topic1, topic2, topic3 };
    const filter = { address: contract, chain: named?.key, ...topics, offset, ...givenBlockBounds(asked) };
    const page = runs.open({ cursor, limit, order, filter });
    const chain = indexedChain(chains, page.filter.chain, logs.name);
    if (page.filter.topic0 !== null) requireIndexes(await missing());
    const found = await readLogs(options, dependencies, c, chain, page);
    const next = nextPlace(page, found);
    return {
      page: page.page,
      contract: parseAddress(page.filter.address),
      logs: found.logs,
      envelope: {
        page_size: page.limit,
        cursor: next === null ? null : runs.next(page, next),
        indexed: showIndexed(found.indexed),
      },
    };
  };
}

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  topic0: z.string().nullable(),
  topic1: z.string().nullable(),
  topic2: z.string().nullable(),
  topic3: z.string().nullable(),
  offset: z.int(),
  ...blockBoundsSchema,
});
type LogsFilter = z.infer<typeof filterSchema>;

/** What a first page takes for what the request leaves out. */
const DEFAULTS: LogsFilter = {
  address: '',
  chain: 'eth',
  topic0: null,
  topic1: null,
  topic2: null,
  topic3: null,
  offset: 0,
  ...NO_BLOCK_BOUNDS,
};

/** The last row of a page. */
const positionSchema = z.object({ block: z.int(), transaction: z.int(), log: z.int() });

type LogsPage = Page<LogsFilter, z.infer<typeof positionSchema>>;

/** The logs of a page. Where blocks are missing that it would need, the contract's logs are asked for. */
async function readLogs(
  { walletHistory }: ContractLogsOptions,
  { database, reads, logger }: Pick<ApiDependencies, 'database' | 'reads' | 'logger'>,
  c: ApiContext,
  chain: Chain,
  { filter, limit, order, position, upperBound }: LogsPage,
): Promise<ContractLogsPage> {
  const contract = parseAddress(filter.address);
  const found = await getContractLogs(reads, chain, {
    contract,
    topics: [filter.topic0, filter.topic1, filter.topic2, filter.topic3].map((topic) =>
      topic === null ? null : parseHash(topic),
    ),
    order,
    limit,
    offset: filter.offset,
    ...boundsOfRows(filter),
    pinnedBlock: upperBound,
    after:
      position === null
        ? null
        : { blockNumber: position.block, transactionIndex: position.transaction, logIndex: position.log },
  });
  if (found.indexed.complete) return found;
  const requester = c.get('principal')?.id ?? 'open';
  const outcome = await walletHistory.requestEmitter({ database, logger }, chain, contract, requester);
  if (outcome === 'off' && chain.logs === 'off' && found.indexed.fromBlock === null)
    throw new LogsNotIndexedError(chain);
  return found;
}

/** Where the next page begins; null on the last one. */
function nextPlace(page: LogsPage, { logs: shown, hasNext, newestBlock }: ContractLogsPage) {
  const last = shown.at(-1);
  if (!hasNext || last === undefined) return null;
  const block = last.block.block_number;
  return {
    position: { block, transaction: last.transactionIndex, log: last.logIndex },
    upperBound: page.upperBound ?? newestBlock ?? block,
  };
}
