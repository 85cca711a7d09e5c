import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, parseHash, systemClock } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { BlockSource, LogsPage, SourceBlock } from '../block-source.ts';
import { converting } from '../conversion/converting.ts';
import { readLogs, toSourceBlock } from '../conversion/source-block.ts';
import { createHttpStreams, type HttpStreamsOptions } from '../http-stream/http-streams.ts';
import {
  ABSENT_FIELDS,
  createHyperSyncClient,
  filteredLogs,
  type HyperSyncClient,
  type HyperSyncSelection,
  WHOLE_BLOCKS,
} from './hypersync-client.ts';
import type { HyperSyncPage, NumberedRows } from './hypersync-page.ts';

interface HyperSyncOptions extends Pick<HttpStreamsOptions, 'url' | 'headers' | 'limiter' | 'deadlines'> {
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
        for (const rows of blocks) yield converting(http.fault, () => toSourceBlock(rows, chain, ABSENT_FIELDS));
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

type FilledPage = HyperSyncPage & { readonly range: BlockRange };

/** An instance that lags returns an empty page. */
const EMPTY_RETRY_MS = [1_000, 2_000, 4_000, 8_000];
const EMPTY_PAUSE_MS = 60_000;

/** Pages that lie end to end. Ends early if the service has no more blocks. @throws SourceError */
async function* hyperSyncPages(
  client: HyperSyncClient,
  range: BlockRange,
  selection: HyperSyncSelection,
  signal: AbortSignal,
): AsyncGenerator<FilledPage> {
  const { http, clock } = client;
  let from = range.from;
  let empty = 0;
  let last: Link | null = null;
  while (from <= range.to) {
    const page = await client.page({ from, to: range.to }, selection, signal);
    if (page.range !== null) {
      const wrong = selection.include_all_blocks ? missingBlock(page.blocks, page.range) : null;
      if (wrong !== null) throw http.fault('wrong', wrong);
      last = checkLinks(client, page, last);
      empty = 0;
      from = page.range.to + 1;
      yield { ...page, range: page.range };
      continue;
    }
    const height = await client.height(signal);
    if (height === null || height < from) return;
    const pauseMs = EMPTY_RETRY_MS[empty++];
    if (pauseMs === undefined)
      throw http.fault('busy', `no block ${from}, with ${height} as its height`, EMPTY_PAUSE_MS);
    await clock.sleep(pauseMs, signal);
  }
}

/** Whole batches went missing without an error once. */
function missingBlock(blocks: readonly NumberedRows[], { from, to }: BlockRange): string | null {
  for (let number = from; number <= to; number++)
    if (blocks[number - from]?.number !== number) return `block ${number} is missing`;
  return null;
}

interface Link {
  readonly number: number;
  readonly hash: string;
}

/** Neighbors inside a page, and the page before. A difference is another branch. @throws SourceError */
function checkLinks({ http }: HyperSyncClient, page: HyperSyncPage, before: Link | null): Link | null {
  let previous = before;
  const { guard, range } = page;
  if (previous !== null && guard !== null && guard.firstParentHash !== previous.hash)
    if (previous.number + 1 === range?.from)
      throw http.fault('wrong', `the page from ${range.from} continues another branch`);
  for (const { number, header } of page.blocks) {
    const parent = String(header.parentHash).toLowerCase();
    if (previous?.number === number - 1 && parent !== previous.hash)
      throw http.fault('wrong', `block ${number} names ${parent} as its parent, not ${previous.hash}`);
    previous = { number, hash: String(header.hash).toLowerCase() };
  }
  if (guard === null || guard.number !== range?.to) return previous;
  if (previous?.number === guard.number && previous.hash !== guard.hash)
    throw http.fault('wrong', `block ${guard.number} has two hashes`);
  return guard;
}
