import type { WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { parseAddress, parseHash } from '@chainstead/core';
import { type ApiContext, type ApiDependencies, blockBoundsSchema, boundsOfRows, type Page } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type ContractLogsPage, getContractLogs } from './get-contract-logs.ts';
import { LogsNotIndexedError } from './logs-not-indexed.ts';

/** Who has a contract's logs read. */
export interface ContractLogsOptions {
  readonly walletHistory: Pick<WalletHistory, 'requestEmitter'>;
}

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
export const logsFilterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  topic0: z.string().nullable(),
  topic1: z.string().nullable(),
  topic2: z.string().nullable(),
  topic3: z.string().nullable(),
  offset: z.int(),
  ...blockBoundsSchema,
});

/** The last row of a page. */
export const logPositionSchema = z.object({ block: z.int(), transaction: z.int(), log: z.int() });

export type LogsPage = Page<z.infer<typeof logsFilterSchema>, z.infer<typeof logPositionSchema>>;

/**
 * The logs of a page. Where blocks are missing that it would need, the contract's logs are asked for.
 * @throws LogsNotIndexedError (400) where nothing is known of them and requests may cause no calls
 */
export async function readLogsPage(
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
export function nextLogsPlace(page: LogsPage, { logs, hasNext, newestBlock }: ContractLogsPage) {
  const last = logs.at(-1);
  if (!hasNext || last === undefined) return null;
  const block = last.block.block_number;
  return {
    position: { block, transaction: last.transactionIndex, log: last.logIndex },
    upperBound: page.upperBound ?? newestBlock ?? block,
  };
}
