import type { Chain } from '@chainstead/chains';
import { type BlockRange, type Clock, isObject, type Log, parseHash, systemClock } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { BlockSource, LogsPage, SourceBlock } from '../block-source.ts';
import { converting } from '../conversion/converting.ts';
import { integer, type Json } from '../conversion/forms.ts';
import { type BlockRows, headerJson, readLogs, toSourceBlock } from '../conversion/source-block.ts';
import type { CreateFault } from '../http-stream/http-stream.ts';
import { createHttpStreams, type HttpStreamsOptions } from '../http-stream/http-streams.ts';
import { readJsonLines } from '../http-stream/json-lines.ts';
import { SourceError } from '../source-error.ts';
import {
  BLOCK_FIELDS,
  createPortalClient,
  LOG_FIELDS,
  logFilters,
  type PortalClient,
  type PortalFields,
  type PortalSelection,
  type PortalStream,
} from './portal-client.ts';

interface PortalOptions extends Pick<HttpStreamsOptions, 'url' | 'headers' | 'limiter' | 'deadlines'> {
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
          const absent = new Set(BLOCK_FIELDS.block.filter((field) => !line.fields.block.includes(field)));
          yield converting(http.fault, () => toSourceBlock(line, chain, absent));
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

/** The last line is the cursor, with or without logs. */
function pageOf(lines: readonly PortalLine[], from: number, query: LogsQuery): LogsPage | null {
  const last = lines.at(-1);
  if (last === undefined) return null;
  const range: BlockRange = { from, to: last.number };
  const logs: Log[] = readLogs(lines, { ...query, range });
  const { timestamp } = headerJson(last.header);
  return { range, logs, last: { number: last.number, hash: parseHash(last.hash), timestamp: Number(timestamp) } };
}

interface PortalLine extends CheckedLine {
  /** Those that the portal has for this block. */
  readonly fields: PortalFields;
  readonly bytes: number;
}

/** The seam between archive and newer blocks, or a replica that lags. */
const EMPTY_RETRY_MS = [1_000, 2_000, 4_000, 8_000];
const EMPTY_PAUSE_MS = 60_000;
/** Whole blocks come one by one; lines with a few logs are joined to pages. */
const PAGE_LINES_MAX = 1_000;
const PAGE_LOGS_MAX = 5_000;
const PAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Over as many requests as it takes. Ends early if the portal has no more blocks. @throws SourceError */
async function* portalLines(
  client: PortalClient,
  range: BlockRange,
  selection: PortalSelection,
  signal: AbortSignal,
): AsyncGenerator<PortalLine[]> {
  const { http, clock } = client;
  const checks = createLineChecks(range, selection.logs === null, http.fault);
  let empty = 0;
  while (checks.next <= range.to) {
    const from = checks.next;
    // Later blocks may have the columns that the first ones lack.
    const opened = await client.openStream({ from, to: range.to }, selection, signal);
    if (opened !== null) yield* pages(client, opened, checks);
    if (checks.next > from) {
      empty = 0;
      continue;
    }
    const head = client.knownHead ?? (await client.finalizedHead(signal));
    if (head === null || head < from) return;
    const pauseMs = EMPTY_RETRY_MS[empty++];
    if (pauseMs === undefined)
      throw http.fault('busy', `no block ${from}, with ${head} as its finalized head`, EMPTY_PAUSE_MS);
    await clock.sleep(pauseMs, signal);
  }
}

async function* pages(
  { http }: PortalClient,
  { stream, selection: { fields, logs: filters } }: PortalStream,
  checks: LineChecks,
): AsyncGenerator<PortalLine[]> {
  let page: PortalLine[] = [];
  let logs = 0;
  let size = 0;
  const start = checks.next;
  try {
    for await (const { json, bytes } of readJsonLines(stream.body, http.fault)) {
      const line = checks.accept(json);
      page.push({ ...line, fields, bytes });
      logs += line.logs.length;
      size += bytes;
      const isFull = page.length >= PAGE_LINES_MAX || logs >= PAGE_LOGS_MAX || size >= PAGE_BYTES_MAX;
      if (filters === null || isFull) {
        yield page;
        page = [];
        logs = 0;
        size = 0;
      }
    }
  } catch (error) {
    // Blocks before a cut are whole: the next request continues after them.
    const isCut = error instanceof SourceError && error.facts.fault === 'unavailable' && checks.next > start;
    if (!isCut) throw error;
  }
  if (page.length > 0) yield page;
}

interface CheckedLine extends Omit<BlockRows, 'bytes'> {
  readonly number: number;
  readonly hash: string;
}

/** Over all requests of a range. */
interface LineChecks {
  /** First block that has not come yet. */
  readonly next: number;
  /** @throws SourceError */
  accept(json: unknown): CheckedLine;
}

const HASH = /^0x[0-9a-f]{64}$/;

/** @param isWhole each block has a line */
function createLineChecks(range: BlockRange, isWhole: boolean, fault: CreateFault): LineChecks {
  let next = range.from;
  let previous: Pick<CheckedLine, 'number' | 'hash'> | null = null;

  function place(header: Json): Pick<CheckedLine, 'number' | 'hash'> {
    const number = converting(fault, () => integer(header.number, 'the number of a block'));
    const hash = typeof header.hash === 'string' ? header.hash.toLowerCase() : '';
    if (!HASH.test(hash)) throw fault('wrong', `block ${number} has no hash`);
    if (number < next || number > range.to)
      throw fault('wrong', `block ${number} came, but ${next} to ${range.to} were awaited`);
    if (isWhole && number !== next) throw fault('wrong', `block ${next} is missing before ${number}`);
    return { number, hash };
  }

  return {
    get next() {
      return next;
    },
    accept(json) {
      const { header, transactions, logs } = toRows(json, fault);
      const { number, hash } = place(header);
      const parent = typeof header.parentHash === 'string' ? header.parentHash.toLowerCase() : null;
      if (previous?.number === number - 1 && parent !== previous.hash)
        throw fault('wrong', `block ${number} names ${parent} as its parent, not ${previous.hash}`);
      previous = { number, hash };
      next = number + 1;
      return { number, hash, header, transactions, logs };
    },
  };
}

function toRows(json: unknown, fault: CreateFault): Omit<BlockRows, 'bytes'> {
  if (!isObject(json) || !isObject(json.header)) throw fault('wrong', 'a line is not a block');
  const list = (name: 'transactions' | 'logs'): readonly Json[] => {
    const rows = json[name] ?? [];
    if (!Array.isArray(rows) || !rows.every(isObject)) throw fault('wrong', `${name} is not a list of objects`);
    return rows;
  };
  return { header: json.header, transactions: list('transactions'), logs: list('logs') };
}
