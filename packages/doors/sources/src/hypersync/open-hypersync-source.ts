import type { Chain } from '@chainstead/chains';
import { type Clock, parseHash, systemClock } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { BlockSource, LogsPage, SourceBlock } from '../block-source.ts';
import { converting } from '../conversion/converting.ts';
import { readLogs } from '../conversion/read-logs.ts';
import { toSourceBlock } from '../conversion/source-block.ts';
import { createHttpStreams, type HttpStreamsOptions } from '../http-stream/http-streams.ts';
import { createHyperSyncClient } from './hypersync-client.ts';
import { type FilledPage, hyperSyncPages } from './hypersync-pages.ts';
import { ABSENT_FIELDS, filteredLogs, WHOLE_BLOCKS } from './hypersync-query.ts';

export interface HyperSyncOptions extends Pick<HttpStreamsOptions, 'url' | 'headers' | 'limiter' | 'deadlines'> {
  readonly chain: Chain;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  /** @default systemClock */
  readonly clock?: Pick<Clock, 'sleep'>;
}

/** @param options.url such as `https://eth.hypersync.xyz` */
export function openHyperSyncSource(options: HyperSyncOptions): BlockSource {
  const { chain, token, clock = systemClock, url, limiter, deadlines } = options;
  const name = `hypersync ${new URL(url).host}`;
  const headers = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...options.headers };
  const http = createHttpStreams({ source: name, url, headers, limiter, deadlines });
  const client = createHyperSyncClient(http, { chainId: chain.id, clock });

  return {
    name,
    async available(signal) {
      const to = await client.height(signal);
      return to === null ? [] : [{ from: 0, to }];
    },
    async *readBlocks(range, _options, signal): AsyncGenerator<SourceBlock> {
      for await (const { blocks } of hyperSyncPages(client, range, WHOLE_BLOCKS, signal))
        for (const rows of blocks)
          yield converting(http.fault, () => toSourceBlock(rows, { chain, absent: ABSENT_FIELDS }));
    },
    async *readLogs(query, signal): AsyncGenerator<LogsPage> {
      const { range } = query;
      // An empty list would match any log.
      if (query.indexed?.some((wanted) => wanted?.length === 0) === true) {
        yield { range, logs: [], last: null };
        return;
      }
      for await (const page of hyperSyncPages(client, range, filteredLogs(query), signal))
        yield converting(http.fault, () => logsPage(page, query));
    },
    close: () => http.close(),
  };
}

function logsPage({ range, blocks, guard }: FilledPage, query: LogsQuery): LogsPage {
  const logs = readLogs(blocks, { ...query, range });
  if (guard === null || guard.number !== range.to) return { range, logs, last: null };
  return { range, logs, last: { number: guard.number, hash: parseHash(guard.hash), timestamp: guard.timestamp } };
}
