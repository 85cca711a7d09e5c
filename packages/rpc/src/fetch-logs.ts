import { type BlockRange, createAnswerBudget, type Log, rangeSize, toQuantity } from '@chainstead/core';
import { checkLogs, type LogsExpectation, looksTruncated, matchesLog, toExpectation } from './check-logs.ts';
import { UpstreamFault } from './errors.ts';
import { estimateLogCalls } from './estimate-log-calls.ts';
import type { Failover } from './failover.ts';
import type { ReceiptFetcher } from './fetch-receipts.ts';
import { type LogsKind, splitAtBarriers } from './log-range-planner.ts';
import { createLogTrust } from './log-trust.ts';
import { logsKind } from './logs-kind.ts';
import { parseLogs } from './parse-log.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { Upstream } from './upstream.ts';
import type { LogsAnswer, LogsQuery, RequestOptions } from './upstream-pool.ts';

/** Logs of any range. */
export interface LogFetcher {
  getLogs(query: LogsQuery, options?: RequestOptions): Promise<LogsAnswer>;
  /** See UpstreamPool. */
  estimateLogCalls(query: Omit<LogsQuery, 'range'>, ranges: readonly BlockRange[]): number;
}

/** A consecutive part of the answer. */
interface Part {
  readonly range: BlockRange;
  readonly upstream: string;
  readonly logs: readonly Log[];
}

interface Fetched {
  /** In order. */
  readonly parts: readonly Part[];
  readonly calls: number;
}

/** The work of one getLogs: what is left to ask, and what came. */
interface Task {
  readonly query: LogsQuery;
  readonly expected: LogsExpectation;
  readonly kind: LogsKind;
  /** Sorted, disjoint; none crosses a barrier. */
  readonly pending: BlockRange[];
  readonly parts: Part[];
  /** Answers that look cut, until the rest of their range shows it. */
  readonly suspects: { readonly upstream: Upstream; readonly range: BlockRange }[];
  /** Calls made so far. */
  calls: number;
  /** Starts workers for what was put back. */
  wake(): void;
}

const METHOD = 'eth_getLogs';
/** Addresses that nodes accept in one filter. */
const ADDRESSES_MAX = 1_000;
/** Texts of upstreams that keep recent blocks only: asked last for blocks at or below the one refused. */
const HISTORY_GONE = /archive|pruned|pruning|history|earliest available/i;
const HISTORY_GONE_FITNESS = 0.01;
/** Time-outs of one stretch before it is halved. */
const TIMEOUTS_MAX = 2;

/** Cuts ranges to what each upstream allows, and joins the parts in order. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the parts of a range, and the limits that they teach, are one state.
export function createLogFetcher(options: {
  readonly failover: Failover;
  readonly receipts: ReceiptFetcher;
  readonly chain: { readonly rangeBarriers: readonly number[] };
  readonly limits: PoolLimits;
  readonly upstreams: readonly Upstream[];
}): LogFetcher {
  const { failover, receipts, chain, limits } = options;
  const trust = createLogTrust();
  const budget = createAnswerBudget({ bytesMax: limits.logsBytesInFlight });

  async function fetchAll(query: LogsQuery, given: RequestOptions): Promise<Fetched> {
    const ending = new AbortController();
    const signal = given.signal === undefined ? ending.signal : AbortSignal.any([given.signal, ending.signal]);
    const finished = Promise.withResolvers<void>();
    let active = 0;
    let hasFailed = false;
    const task: Task = {
      query,
      expected: toExpectation(query),
      kind: logsKind(query, limits),
      pending: splitAtBarriers(query.range, chain.rangeBarriers),
      parts: [],
      suspects: [],
      calls: 0,
      wake() {
        while (!hasFailed && active < limits.logsConcurrency) {
          const range = task.pending.shift();
          if (range === undefined) break;
          active++;
          void budget
            .run(() => fetchPiece(task, range, { ...given, signal }))
            .then(
              (part) => {
                active--;
                task.parts.push(part);
                task.wake();
              },
              (error: unknown) => {
                hasFailed = true;
                finished.reject(error);
              },
            );
        }
        if (active === 0 && task.pending.length === 0) finished.resolve();
      },
    };
    task.wake();
    try {
      await finished.promise;
    } finally {
      ending.abort();
    }
    blameTruncated(task);
    return { parts: task.parts.sort((a, b) => a.range.from - b.range.from), calls: task.calls };
  }

  /** One piece from any upstream. The piece shrinks to what that upstream allows; what is cut off goes back to pending. */
  async function fetchPiece(task: Task, whole: BlockRange, given: RequestOptions): Promise<Part> {
    let piece = whole;
    let timeouts = 0;
    const cutTo = (span: number): void => {
      if (span >= rangeSize(piece)) return;
      putBack(task, { from: piece.from + span, to: piece.to });
      piece = { from: piece.from, to: piece.from + span - 1 };
    };
    const answer = await failover.run<readonly Log[]>(
      {
        method: METHOD,
        fitness: (upstream) =>
          (upstream.logRanges.span(piece, task.kind) / rangeSize(piece)) *
          (upstream.state.lacksHistory(piece.from) ? HISTORY_GONE_FITNESS : 1),
        async run(upstream, signal) {
          for (;;) {
            cutTo(upstream.logRanges.span(piece, task.kind));
            await requireHead(upstream, piece.to);
            try {
              return await ask(task, upstream, piece, { signal, timeoutMs: given.timeoutMs });
            } catch (error) {
              if (!(error instanceof UpstreamFault)) throw error;
              if (error.hints.reaction === 'timeout' && ++timeouts < TIMEOUTS_MAX) throw error;
              if (HISTORY_GONE.test(error.text)) upstream.state.setHistoryGone(piece.from);
              if (!learn(upstream, piece, task.kind, error)) throw error;
              if (piece.from === piece.to) return readFromReceipts(task, upstream, piece.from, signal);
            }
          }
        },
      },
      given,
    );
    return { range: piece, upstream: answer.upstream, logs: answer.value };
  }

  async function ask(
    task: Task,
    upstream: Upstream,
    range: BlockRange,
    given: { signal: AbortSignal | undefined; timeoutMs: number | undefined },
  ): Promise<readonly Log[]> {
    task.calls++;
    const { result, bytes } = await upstream.callSized(METHOD, [toFilter(task.query, range)], given);
    budget.observe(bytes);
    const logs = checkLogs(parseLogs(result), { ...task.expected, range });
    await trust.requireServed(upstream, range, logs, given.signal);
    if (looksTruncated(logs, range)) {
      const last = logs.at(-1)?.blockNumber ?? range.from;
      task.suspects.push({ upstream, range: { from: last + 1, to: range.to } });
      const hints = { reaction: 'density', limitResults: logs.length } as const;
      const text = `${logs.length} logs end at block ${last} of ${range.from} to ${range.to}`;
      throw new UpstreamFault({ upstream: upstream.name, method: METHOD, kind: 'truncated', text, hints });
    }
    upstream.logRanges.answered(range, task.kind, { logs: logs.length, bytes });
    return trust.timestamps(upstream, logs, given.signal);
  }

  /** A block that alone exceeds a cap: its receipts have no such cap. */
  async function readFromReceipts(
    task: Task,
    upstream: Upstream,
    block: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly Log[]> {
    const whole = await receipts.readWhole(upstream, block, false, { signal });
    if (whole === null) throw upstream.fault('missing-block', METHOD, `answered null for block ${block}`);
    const logs = whole.receipts.flatMap((receipt) => receipt.logs.filter((log) => matchesLog(log, task.expected)));
    return checkLogs(logs, { ...task.expected, range: { from: block, to: block } });
  }

  return {
    async getLogs(query, given = {}) {
      if (query.range.from > query.range.to) return { logs: [], sources: [], calls: 0 };
      const addresses = query.addresses ?? [];
      if (addresses.length <= ADDRESSES_MAX) return join(await fetchAll(query, given));
      const chunks: LogsQuery[] = [];
      for (let from = 0; from < addresses.length; from += ADDRESSES_MAX)
        chunks.push({ ...query, addresses: addresses.slice(from, from + ADDRESSES_MAX) });
      return merge(await Promise.all(chunks.map(async (chunk) => join(await fetchAll(chunk, given)))));
    },
    estimateLogCalls: (query, ranges) => estimateLogCalls({ ...options, query, ranges }),
  };

  function putBack(task: Task, range: BlockRange): void {
    const index = task.pending.findIndex((other) => other.from > range.from);
    const next = index === -1 ? undefined : task.pending[index];
    // Joined again with what follows, so that the rest is cut afresh and not in the small pieces of a dense stretch.
    if (next !== undefined && next.from === range.to + 1 && !chain.rangeBarriers.includes(next.from))
      task.pending[index] = { from: range.from, to: next.to };
    else task.pending.splice(index === -1 ? task.pending.length : index, 0, range);
    task.wake();
  }
}

/** Draws what a fault says about ranges; false where it says nothing. */
function learn(upstream: Upstream, range: BlockRange, kind: LogsKind, fault: UpstreamFault): boolean {
  const { reaction, limitBlocks, limitResults, suggestedRange } = fault.hints;
  if (reaction === 'range' && rangeSize(range) > 1) {
    upstream.logRanges.tooManyBlocks(range, limitBlocks ?? (suggestedRange && rangeSize(suggestedRange)));
    return true;
  }
  if (reaction !== 'density' && reaction !== 'timeout') return false;
  if (reaction === 'timeout' && rangeSize(range) === 1) return false;
  upstream.logRanges.tooDense(range, kind, {
    ...(suggestedRange === undefined ? {} : { suggestedBlocks: rangeSize(suggestedRange) }),
    ...(limitResults === undefined ? {} : { limitResults }),
  });
  return true;
}

/** A range above an upstream's head is answered `[]` by some clients and with an error by others: never asked. */
async function requireHead(upstream: Upstream, block: number): Promise<void> {
  const { state, name } = upstream;
  if (state.head !== null && state.head >= block) return;
  if ((await upstream.refreshHead()) >= block) return;
  const text = `has only reached block ${state.head}`;
  throw new UpstreamFault({
    upstream: name,
    method: METHOD,
    kind: 'lagging',
    text,
    hints: { reaction: 'beyond-head' },
  });
}

function toFilter(query: LogsQuery, range: BlockRange): Record<string, unknown> {
  const indexed = query.indexed ?? [];
  return {
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
    ...(query.topics.length === 0 && indexed.length === 0
      ? {}
      : { topics: [query.topics.length === 0 ? null : query.topics, ...indexed] }),
    ...(query.addresses === undefined || query.addresses.length === 0 ? {} : { address: query.addresses }),
  };
}

/** Logs where an answer had stopped short show that it was cut. */
function blameTruncated(task: Task): void {
  for (const { upstream, range } of task.suspects) {
    const more = task.parts.some(({ logs }) =>
      logs.some((log) => log.blockNumber >= range.from && log.blockNumber <= range.to),
    );
    if (more) upstream.state.blamed('truncated', `logs of blocks ${range.from} to ${range.to} were left out`);
  }
}

function join({ parts, calls }: Fetched): LogsAnswer {
  const [only] = parts;
  const logs = parts.length === 1 && only !== undefined ? only.logs : parts.flatMap((part) => part.logs);
  const sources: { range: BlockRange; upstream: string }[] = [];
  for (const { range, upstream } of parts) {
    const last = sources.at(-1);
    if (last?.upstream === upstream) last.range = { from: last.range.from, to: range.to };
    else sources.push({ range, upstream });
  }
  return { logs, sources, calls };
}

/** The answers to one range for different addresses, in chain order. Their sources overlap. */
function merge(answers: readonly LogsAnswer[]): LogsAnswer {
  const logs = answers.flatMap((answer) => answer.logs);
  logs.sort(
    (a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex,
  );
  return {
    logs,
    sources: answers.flatMap((answer) => answer.sources),
    calls: answers.reduce((sum, answer) => sum + answer.calls, 0),
  };
}
