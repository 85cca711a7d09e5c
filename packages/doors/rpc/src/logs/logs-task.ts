import type { Chain } from '@chainstead/chains';
import { type AnswerBudget, type BlockRange, type Log, rangeSize, toQuantity } from '@chainstead/core';
import type PQueue from 'p-queue';
import { isCutOff, RangeTooLargeError, RequestAbortedError, UpstreamFault } from '../errors.ts';
import type { Failover } from '../failover/failover.ts';
import { parseLogs } from '../formats/parse-log.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import { type LogsKind, splitAtBarriers } from '../limits/log-range-planner.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { TransportError } from '../upstream-http/index.ts';
import type { LogsOptions, LogsQuery } from '../upstream-pool.ts';
import { checkLogs, type LogsExpectation, type LogTrust, looksTruncated, toExpectation } from './check-logs.ts';
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

export class LogsTask {
  readonly #tools: LogsTaskTools;
  readonly #query: LogsQuery;
  readonly #given: LogsOptions;
  readonly #expected: LogsExpectation;
  readonly #kind: LogsKind;
  readonly #ending = new AbortController();
  readonly #finished = Promise.withResolvers<void>();
  /** Sorted, disjoint, within barriers. */
  readonly #pending: BlockRange[];
  readonly #parts: Part[] = [];
  readonly #suspects: { readonly upstream: Upstream; readonly range: BlockRange }[] = [];
  #calls = 0;
  #bytes = 0;
  #active = 0;
  #hasFailed = false;

  constructor(tools: LogsTaskTools, query: LogsQuery, given: LogsOptions) {
    const { signal } = this.#ending;
    this.#tools = tools;
    this.#query = query;
    this.#given = {
      ...given,
      signal: given.signal === undefined ? signal : AbortSignal.any([given.signal, signal]),
    };
    this.#expected = toExpectation(query);
    this.#kind = logsKind(query, tools.limits);
    this.#pending = splitAtBarriers(query.range, tools.chain.rangeBarriers);
  }

  /** @throws as Failover.run */
  async run(): Promise<FetchedLogs> {
    this.#startPieces();
    try {
      await this.#finished.promise;
    } finally {
      this.#ending.abort();
    }
    this.#blameTruncated();
    return { parts: this.#parts.sort((a, b) => a.range.from - b.range.from), calls: this.#calls };
  }

  #startPieces(): void {
    while (!this.#hasFailed && this.#active < this.#tools.limits.logsConcurrency) {
      const range = this.#pending.shift();
      if (range === undefined) break;
      this.#active++;
      void this.#tools.budget
        .run(() => this.#fetchPiece(range))
        .then(
          (part) => {
            this.#active--;
            this.#parts.push(part);
            this.#startPieces();
          },
          (error: unknown) => {
            this.#hasFailed = true;
            this.#finished.reject(error);
          },
        );
    }
    if (this.#active === 0 && this.#pending.length === 0) this.#finished.resolve();
  }

  /** Shrinks to the upstream's limit; the rest goes back to pending. */
  async #fetchPiece(whole: BlockRange): Promise<Part> {
    const kind = this.#kind;
    let piece = whole;
    let timeouts = 0;
    let cuts = 0;
    const cutTo = (span: number): void => {
      if (span >= rangeSize(piece)) return;
      this.#putBack({ from: piece.from + span, to: piece.to });
      piece = { from: piece.from, to: piece.from + span - 1 };
    };
    const answer = await this.#tools.failover.run<readonly Log[]>(
      {
        method: METHOD,
        fitness: (upstream) =>
          (upstream.logRanges.span(piece, kind) / rangeSize(piece)) *
          (upstream.state.lacksHistory(piece.from) ? HISTORY_GONE_FITNESS : 1),
        run: async (upstream, signal) => {
          for (;;) {
            cutTo(upstream.logRanges.span(piece, kind));
            await requireHead(upstream, piece.to);
            try {
              return await this.#ask(upstream, piece, signal);
            } catch (error) {
              if (!(error instanceof UpstreamFault)) throw error;
              // This program ended it at the caller's limit.
              const { cause } = error.hints;
              if (cause instanceof TransportError && cause.kind === 'too-large')
                this.#count((this.#bytesMax() ?? 0) + 1);
              if (error.hints.reaction === 'timeout' && ++timeouts < TIMEOUTS_MAX) throw error;
              if (HISTORY_GONE.test(error.text)) upstream.state.setHistoryGone(piece.from);
              if (isCutOff(error) && error.hints.reaction === 'transient') {
                if (++cuts >= CUTS_MAX && piece.from === piece.to)
                  return this.#readFromReceipts(upstream, piece.from, signal);
                if (cuts >= CUTS_MAX) upstream.logRanges.tooDense(piece, kind);
                throw error;
              }
              if (!learn(upstream, piece, kind, error)) throw error;
              if (piece.from === piece.to) return this.#readFromReceipts(upstream, piece.from, signal);
            }
          }
        },
      },
      this.#given,
    );
    return { range: piece, upstream: answer.upstream, logs: answer.value };
  }

  #putBack(range: BlockRange): void {
    const pending = this.#pending;
    const index = pending.findIndex((other) => other.from > range.from);
    const next = index === -1 ? undefined : pending[index];
    // Joined with the next range: the rest is not split like a dense span.
    if (next !== undefined && next.from === range.to + 1 && !this.#tools.chain.rangeBarriers.includes(next.from))
      pending[index] = { from: range.from, to: next.to };
    else pending.splice(index === -1 ? pending.length : index, 0, range);
    this.#startPieces();
  }

  async #ask(upstream: Upstream, range: BlockRange, signal: AbortSignal | undefined): Promise<readonly Log[]> {
    const { trust, budget } = this.#tools;
    const { timeoutMs } = this.#given;
    this.#countCall();
    const params = [toFilter(this.#query, range)];
    const options = { signal, timeoutMs, bytesMax: this.#bytesMax() };
    const { result, bytes } = await upstream.callSized(METHOD, params, options);
    budget.observe(bytes);
    this.#count(bytes);
    if (result === null) {
      const logs = await readUnanswered(
        { chain: this.#tools.chain, upstream, signal },
        { ...this.#expected, range },
      );
      return trust.timestamps(upstream, logs, signal);
    }
    const given = checkLogs(parseLogs(result), { ...this.#expected, range });
    const { misnumbers } = trust;
    const logs = await renumberLogs(
      { chain: this.#tools.chain, upstream, signal, misnumbers },
      given,
      this.#expected,
    );
    await trust.requireServed(upstream, range, logs, signal);
    if (looksTruncated(logs, range)) {
      const last = logs.at(-1)?.blockNumber ?? range.from;
      this.#suspects.push({ upstream, range: { from: last + 1, to: range.to } });
      const hints = { reaction: 'density', limitResults: logs.length } as const;
      const text = `${logs.length} logs end at block ${last} of ${range.from} to ${range.to}`;
      throw new UpstreamFault({ upstream: upstream.name, method: METHOD, kind: 'truncated', text, hints });
    }
    upstream.logRanges.answered(range, this.#kind, { logs: logs.length, bytes });
    return trust.timestamps(upstream, logs, signal);
  }

  /** Undefined if not below a response's limit, or for a single block, which can't be cut. */
  #bytesMax(): number | undefined {
    const { bytesMax } = this.#given;
    const isLimited = bytesMax !== undefined && bytesMax < this.#tools.limits.responseBytesMax;
    return isLimited && rangeSize(this.#query.range) > 1 ? bytesMax : undefined;
  }

  /** Calls that a node refuses count too. */
  #countCall(): void {
    const { counted } = this.#given;
    const { range } = this.#query;
    if (counted !== undefined) {
      if (counted.made >= counted.max && rangeSize(range) > 1)
        throw new RangeTooLargeError({ chain: this.#tools.chain.key, ...range, calls_max: counted.max });
      counted.made++;
    }
    this.#calls++;
  }

  #count(bytes: number): void {
    const bytesMax = this.#bytesMax();
    this.#bytes += bytes;
    if (bytesMax === undefined || this.#bytes <= bytesMax) return;
    throw new RangeTooLargeError({ chain: this.#tools.chain.key, ...this.#query.range, bytes_max: bytesMax });
  }

  /** For a block that alone exceeds a cap: receipts have no cap. It is large, so its caller reads it alone. */
  async #readFromReceipts(
    upstream: Upstream,
    block: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly Log[]> {
    const bytesMax = this.#bytesMax();
    if (bytesMax !== undefined) this.#count(bytesMax + 1);
    const reading = { chain: this.#tools.chain, upstream, signal };
    try {
      return await this.#tools.turns.add(() => readLogsOfReceipts(reading, block, this.#expected), {
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw new RequestAbortedError(METHOD, error);
      throw error;
    }
  }

  /** Later logs in its range prove the truncation. */
  #blameTruncated(): void {
    for (const { upstream, range } of this.#suspects) {
      const more = this.#parts.some(({ logs }) =>
        logs.some((log) => log.blockNumber >= range.from && log.blockNumber <= range.to),
      );
      if (more) upstream.state.blamed('truncated', `logs of blocks ${range.from} to ${range.to} were left out`);
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
    ...(suggestedRange === undefined ? {} : { suggestedBlocks: rangeSize(suggestedRange) }),
    ...(limitResults === undefined ? {} : { limitResults }),
  });
  return true;
}

/** Clients return `[]` or an error above their head: never requested. */
async function requireHead(upstream: Upstream, block: number): Promise<void> {
  const { state, name } = upstream;
  if (state.head !== null && state.head >= block) return;
  if ((await upstream.refreshHead()) >= block) return;
  const text = `has only reached block ${state.head}`;
  const hints = { reaction: 'beyond-head' } as const;
  throw new UpstreamFault({ upstream: name, method: METHOD, kind: 'lagging', text, hints });
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
