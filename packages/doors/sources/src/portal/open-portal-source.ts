import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, type Log, parseHash, systemClock } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { BlockSource, LogsPage, SourceBlock } from '../block-source.ts';
import { converting } from '../conversion/converting.ts';
import { headerJson } from '../conversion/header-json.ts';
import { readLogs } from '../conversion/read-logs.ts';
import { toSourceBlock } from '../conversion/source-block.ts';
import { createHttpStreams, type HttpStreamsOptions } from '../http-stream/http-streams.ts';
import { createPortalClient } from './portal-client.ts';
import { BLOCK_FIELDS, LOG_FIELDS, type PortalFields } from './portal-fields.ts';
import { type PortalLine, portalLines } from './portal-lines.ts';
import { logFilters } from './portal-query.ts';

export interface PortalOptions extends Pick<HttpStreamsOptions, 'url' | 'headers' | 'limiter' | 'deadlines'> {
  readonly chain: Chain;
  /** @default systemClock */
  readonly clock?: Pick<Clock, 'sleep'>;
}

/** @param options.url of the dataset, such as `https://portal.sqd.dev/datasets/ethereum-mainnet` */
export function openPortalSource({ chain, clock = systemClock, ...options }: PortalOptions): BlockSource {
  const name = `portal ${new URL(options.url).host}`;
  const http = createHttpStreams({ source: name, ...options });
  const client = createPortalClient(http, clock);

  return {
    name,
    async available(signal) {
      const to = await client.finalizedHead(signal);
      if (to === null) return [];
      const from = await client.firstBlock(signal);
      return from <= to ? [{ from, to }] : [];
    },
    async *readBlocks(range, _options, signal): AsyncGenerator<SourceBlock> {
      const selection = { fields: BLOCK_FIELDS, logs: null };
      for await (const lines of portalLines(client, range, selection, signal))
        for (const line of lines) {
          const absent = absentFields(line.fields);
          yield converting(http.fault, () => toSourceBlock(line, { chain, absent }));
        }
    },
    async *readLogs(query, signal): AsyncGenerator<LogsPage> {
      const { range } = query;
      const selection = { fields: LOG_FIELDS, logs: logFilters(query) };
      let { from } = range;
      for await (const lines of portalLines(client, range, selection, signal)) {
        const page = converting(http.fault, () => pageOf(lines, from, query));
        if (page === null) continue;
        yield page;
        from = page.range.to + 1;
      }
    },
    close: () => http.close(),
  };
}

function absentFields({ block }: PortalFields): ReadonlySet<string> {
  return new Set(BLOCK_FIELDS.block.filter((field) => !block.includes(field)));
}

/** The last line is the cursor, with or without logs. */
function pageOf(lines: readonly PortalLine[], from: number, query: LogsQuery): LogsPage | null {
  const last = lines.at(-1);
  if (last === undefined) return null;
  const range: BlockRange = { from, to: last.number };
  const logs: Log[] = readLogs(lines, { ...query, range });
  const { timestamp } = headerJson(last.header);
  return { range, logs, last: { number: last.number, hash: parseHash(last.hash), timestamp: Number(timestamp) } };
}
