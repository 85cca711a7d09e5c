import type { Chain } from '@chainstead/chains';
import { type AnswerBudget, type BlockRange, type Log, rangeSize, toQuantity } from '@chainstead/core';
import type PQueue from 'p-queue';
import { anySignal } from '../aborting.ts';
import { isCutOff, RangeTooLargeError, RequestAbortedError, UpstreamFault } from '../errors.ts';
import { type Failover, requireHead } from '../failover/failover.ts';
import { parseLogs } from '../formats/parse-log.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import { type LogsKind, splitAtBarriers } from '../limits/log-range-planner.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { TransportError } from '../upstream-http/index.ts';
import type { LogsOptions, LogsQuery } from '../upstream-pool.ts';
import { checkLogs, type LogTrust, looksTruncated, toExpectation } from './check-logs.ts';
import { logsKind } from './logs-kind.ts';
import { readLogsOfReceipts, readUnanswered, renumberLogs } from './read-unanswered-logs.ts';

export interface LogsTaskTools {
  readonly failover: Failover;
  readonly chain: Pick<Chain, 'key' | 'rangeBarriers' | 'receiptsRoot'>;
  readonly limits: PoolLimits;
  readonly trust: LogTrust;
  readonly budget: AnswerBudget;
  /** One block without a cap at a time bounds memory. Per chain: a slow node must not hold up others. */
  readonly turns: PQueue;
}

interface Part {
  readonly range: BlockRange;
  readonly upstream: string;
  readonly logs: readonly Log[];
}

export interface FetchedLogs {
  readonly parts: readonly Part[];
  readonly calls: number;
}

const METHOD = 'eth_getLogs';
/** Only recent blocks: tried last at or below the refused one. */
const HISTORY_GONE = /archive|pruned|pruning|history|earliest available/i;
const HISTORY_GONE_FITNESS = 0.01;
const TIMEOUTS_MAX = 2;
const CUTS_MAX = 2;

/** @throws as Failover.run */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the pieces of one query share counters, refusals and the ranges that are open.
export async function fetchLogs(
  tools: LogsTaskTools,
  query: LogsQuery,
  given: LogsOptions,
): Promise<FetchedLogs> {
  const { failover, chain, limits, trust, budget, turns } = tools;
  const ending = new AbortController();
  const options = { ...given, signal: anySignal(ending.signal, given.signal) };
  const expected = toExpectation(query);
  const kind = logsKind(query, limits);
  const finished = Promise.withResolvers<void>();
  /** Sorted, disjoint, within barriers. */
  const pending = splitAtBarriers(query.range, chain.rangeBarriers);
  const parts: Part[] = [];
  const suspects: { readonly upstream: Upstream; readonly range: BlockRange }[] = [];
  let calls = 0;
  let bytesRead = 0;
  let active = 0;
  let hasFailed = false;
  startPieces();
  try {
    await finished.promise;
  } finally {
    ending.abort();
  }
  // Later logs in its range prove a truncation.
  for (const { upstream, range } of suspects) {
    const more = parts.some(({ logs }) =>
      logs.some((log) => log.blockNumber >= range.from && log.blockNumber <= range.to),
    );
    if (more) upstream.state.blamed('truncated', `logs of blocks ${range.from} to ${range.to} were left out`);
  }
  return { parts: parts.sort((a, b) => a.range.from - b.range.from), calls };

  function startPieces(): void {
    while (!hasFailed && active < limits.logsConcurrency) {
      const range = pending.shift();
      if (range === undefined) break;
      active++;
      void budget
        .run(() => fetchPiece(range))
        .then(
          (part) => {
            active--;
            parts.push(part);
            startPieces();
          },
          (error: unknown) => {
            hasFailed = true;
            finished.reject(error);
          },
        );
    }
    if (active === 0 && pending.length === 0) finished.resolve();
  }

  /** Shrinks to the upstream's limit; the rest goes back to pending. */
  async function fetchPiece(whole: BlockRange): Promise<Part> {
    let piece = whole;
    let timeouts = 0;
    let cuts = 0;
    const cutTo = (span: number): void => {
      if (span >= rangeSize(piece)) return;
      putBack({ from: piece.from + span, to: piece.to });
      piece = { from: piece.from, to: piece.from + span - 1 };
    };
    const answer = await failover.run<readonly Log[]>(
      {
        method: METHOD,
        fitness: (upstream) =>
          (upstream.logRanges.span(piece, kind) / rangeSize(piece)) *
          (upstream.state.lacksHistory(piece.from) ? HISTORY_GONE_FITNESS : 1),
        run: async (upstream, signal) => {
          for (;;) {
            cutTo(upstream.logRanges.span(piece, kind));
            await requireHead(upstream, METHOD, piece.to);
            try {
              return await ask(upstream, piece, signal);
            } catch (error) {
              if (!(error instanceof UpstreamFault)) throw error;
              // This program ended it at the caller's limit.
              const { cause } = error.hints;
              if (cause instanceof TransportError && cause.kind === 'too-large')
                count((callersBytesMax() ?? 0) + 1);
              if (error.hints.reaction === 'timeout' && ++timeouts < TIMEOUTS_MAX) throw error;
              if (HISTORY_GONE.test(error.text)) upstream.state.setHistoryGone(piece.from);
              if (isCutOff(error) && error.hints.reaction === 'transient') {
                if (++cuts >= CUTS_MAX && piece.from === piece.to)
                  return readFromReceipts(upstream, piece.from, signal);
                if (cuts >= CUTS_MAX) upstream.logRanges.tooDense(piece, kind);
                throw error;
              }
              if (!learn(upstream, piece, kind, error)) throw error;
              if (piece.from === piece.to) return readFromReceipts(upstream, piece.from, signal);
            }
          }
        },
      },
      options,
    );
    return { range: piece, upstream: answer.upstream, logs: answer.value };
  }

  function putBack(range: BlockRange): void {
    const index = pending.findIndex((other) => other.from > range.from);
    const next = index === -1 ? undefined : pending[index];
    // Joined with the next range: the rest is not split like a dense span.
    if (next !== undefined && next.from === range.to + 1 && !chain.rangeBarriers.includes(next.from))
      pending[index] = { from: range.from, to: next.to };
    else pending.splice(index === -1 ? pending.length : index, 0, range);
    startPieces();
  }

  async function ask(
    upstream: Upstream,
    range: BlockRange,
    signal: AbortSignal | undefined,
  ): Promise<readonly Log[]> {
    const { timeoutMs } = options;
    countCall();
    const params = [toFilter(query, range)];
    const { result, bytes } = await upstream.callSized(METHOD, params, {
      signal,
      timeoutMs,
      bytesMax: callersBytesMax(),
    });
    budget.observe(bytes);
    count(bytes);
    if (result === null) {
      const logs = await readUnanswered({ chain, upstream, signal }, { ...expected, range });
      return trust.timestamps(upstream, logs, signal);
    }
    const checked = checkLogs(parseLogs(result), { ...expected, range });
    const { misnumbers } = trust;
    const logs = await renumberLogs({ chain, upstream, signal, misnumbers }, checked, expected);
    await trust.requireServed(upstream, range, logs, signal);
    if (looksTruncated(logs, range)) {
      const last = logs.at(-1)?.blockNumber ?? range.from;
      suspects.push({ upstream, range: { from: last + 1, to: range.to } });
      const hints = { reaction: 'density', limitResults: logs.length } as const;
      const text = `${logs.length} logs end at block ${last} of ${range.from} to ${range.to}`;
      throw new UpstreamFault({ upstream: upstream.name, method: METHOD, kind: 'truncated', text, hints });
    }
    upstream.logRanges.answered(range, kind, { logs: logs.length, bytes });
    return trust.timestamps(upstream, logs, signal);
  }

  /** Undefined if not below a response's limit, or for a single block, which can't be cut. */
  function callersBytesMax(): number | undefined {
    const { bytesMax } = options;
    const isLimited = bytesMax !== undefined && bytesMax < limits.responseBytesMax;
    return isLimited && rangeSize(query.range) > 1 ? bytesMax : undefined;
  }

  /** Calls that a node refuses count too. */
  function countCall(): void {
    const { counted } = options;
    const { range } = query;
    if (counted !== undefined) {
      if (counted.made >= counted.max && rangeSize(range) > 1)
        throw new RangeTooLargeError({ chain: chain.key, ...range, calls_max: counted.max });
      counted.made++;
    }
    calls++;
  }

  function count(bytes: number): void {
    const bytesMax = callersBytesMax();
    bytesRead += bytes;
    if (bytesMax === undefined || bytesRead <= bytesMax) return;
    throw new RangeTooLargeError({ chain: chain.key, ...query.range, bytes_max: bytesMax });
  }

  /** For a block that alone exceeds a cap: receipts have no cap. It is large, so its caller reads it alone. */
  async function readFromReceipts(
    upstream: Upstream,
    block: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly Log[]> {
    const bytesMax = callersBytesMax();
    if (bytesMax !== undefined) count(bytesMax + 1);
    const reading = { chain, upstream, signal };
    try {
      return await turns.add(() => readLogsOfReceipts(reading, block, expected), {
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw new RequestAbortedError(METHOD, error);
      throw error;
    }
  }
}

function learn(upstream: Upstream, range: BlockRange, kind: LogsKind, fault: UpstreamFault): boolean {
  const { reaction, limitBlocks, limitResults, suggestedRange } = fault.hints;
  if (reaction === 'range' && rangeSize(range) > 1) {
    upstream.logRanges.tooManyBlocks(range, limitBlocks ?? (suggestedRange && rangeSize(suggestedRange)));
    return true;
  }
  if (reaction !== 'density' && reaction !== 'timeout') return false;
  if (reaction === 'timeout' && rangeSize(range) === 1) return false;
  upstream.logRanges.tooDense(range, kind, {
    suggestedBlocks: suggestedRange && rangeSize(suggestedRange),
    limitResults,
  });
  return true;
}

function toFilter(
  { topics, indexed = [], addresses = [] }: LogsQuery,
  range: BlockRange,
): Record<string, unknown> {
  const positions = [topics.length === 0 ? null : topics, ...indexed];
  return {
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
    ...(topics.length === 0 && indexed.length === 0 ? {} : { topics: positions }),
    ...(addresses.length === 0 ? {} : { address: addresses }),
  };
}
