import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, parseHash, systemClock } from '@chainstead/core';
import {
  type ApiDependencies,
  addressParameter,
  blockBoundsSchema,
  chainQueryOf,
  defineApiError,
  givenBlockBounds,
  type Page,
  requireIndexes,
  textParameter,
} from '@chainstead/http';
import { createMissingIndexes, LOG_ORDER, type LogPosition } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import { BY_TOPIC, contractLogsPage } from './contract-logs-page.ts';
import { logs } from './dataset.ts';

export interface ContractLogsOptions {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestEmitter'>;
}

type RequestedLogs = Parameters<typeof givenBlockBounds>[0] & {
  readonly chain?: Pick<Chain, 'key'> | undefined;
  readonly offset?: number | undefined;
};

export function contractLogList(
  { onDemandBackfill }: ContractLogsOptions,
  { database, reads, logger }: ApiDependencies,
) {
  const missing = createMissingIndexes(reads, systemClock, [BY_TOPIC]);
  return {
    tags: ['Contracts'],
    datasets: [logs.name],
    filter: filterSchema,
    position: z.object(LOG_ORDER.fields),
    /** @throws LogsNotIndexedError (400) if none are indexed and requests may cause no calls */
    read: async (page: LogsPage) => {
      const { chain, filter, requester } = page;
      if (filter.topic0 !== null) requireIndexes(await missing());
      const contract = parseAddress(filter.address);
      const topics = [filter.topic0, filter.topic1, filter.topic2, filter.topic3].map((topic) =>
        topic === null ? null : parseHash(topic),
      );
      const query = { ...chainQueryOf(page), contract, topics, offset: filter.offset };
      const list = await contractLogsPage(chain, query).read(reads);
      if (list.indexed.complete) return { ...list, contract };
      const outcome = await onDemandBackfill.requestEmitter({ database, logger }, chain, contract, requester);
      if (outcome === 'off' && chain.logs === 'off' && list.indexed.fromBlock === null)
        throw new LogsNotIndexedError(chain);
      return { ...list, contract };
    },
  };
}

export const contractParameter = addressParameter('Invalid address provided').openapi({
  description: 'The contract address',
});

export function topicParameter(description: string) {
  const parse = (text: string) => (/^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined);
  return textParameter('a topic (0x and 64 hexadecimal digits)', parse)
    .optional()
    .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$', description });
}

export function contractLogFilter(
  contract: Address,
  requested: RequestedLogs,
  [topic0, topic1, topic2, topic3]: readonly (string | undefined)[],
) {
  const { chain, offset } = requested;
  const topics = { topic0, topic1, topic2, topic3 };
  return { address: contract, chain: chain?.key, ...topics, offset, ...givenBlockBounds(requested) };
}

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  topic0: z.string().nullable().default(null),
  topic1: z.string().nullable().default(null),
  topic2: z.string().nullable().default(null),
  topic3: z.string().nullable().default(null),
  offset: z.int().default(0),
  ...blockBoundsSchema,
});

type LogsPage = Page<z.infer<typeof filterSchema>, LogPosition> & {
  readonly chain: Chain;
  readonly requester: string;
};

/** None of the contract's logs are indexed, and requests may not read them from a node. */
class LogsNotIndexedError extends defineApiError('LOGS_NOT_INDEXED', ({ key }: Pick<Chain, 'key'>) => ({
  status: 400,
  message: `logs of ${key} are not indexed, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node`,
  details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
})) {}
