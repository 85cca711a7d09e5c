import { type Clock, InvalidPrimitiveError } from '@chainstead/core';
import { backOffMs } from './back-off.ts';
import type { Deadlines } from './deadlines.ts';
import {
  RequestAbortedError,
  RpcCallError,
  type UpstreamFailure,
  UpstreamFault,
  UpstreamsExhaustedError,
} from './errors.ts';
import { hedge } from './hedge.ts';
import { MalformedAnswerError } from './parse-log.ts';
import type { PoolLimits } from './pool-limits.ts';
import type { Upstream } from './upstream.ts';
import type { Answer, RequestOptions } from './upstream-pool.ts';

/** Something to get from any one upstream. */
export interface Operation<T> {
  /** For errors, capabilities and latencies. */
  readonly method: string;
  /** Gets and checks it. Faults that it throws send it to the next upstream. */
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T>;
  /** How well an upstream suits it, beside its health: 0 to 1. */
  readonly fitness?: (upstream: Upstream) => number;
  /** Whether a value is still coming in, so that an abort must go on to reach it. */
  readonly isOpen?: (value: T) => boolean;
  /** Whether a failed round settles it: no further rounds. `unasked` are upstreams in use that were not available. */
  readonly settled?: (faults: readonly UpstreamFault[], unasked: readonly Upstream[]) => boolean;
}

/** An attempt that was made before the failover began, and failed. */
export interface FailedAttempt {
  readonly upstream: Upstream;
  readonly error: unknown;
}

/** Runs operations on the best upstream that is available, and on the next ones where it fails. */
export interface Failover {
  /** @throws UpstreamsExhaustedError, RpcCallError, RequestAbortedError */
  run<T>(operation: Operation<T>, options?: RequestOptions, first?: FailedAttempt): Promise<Answer<T>>;
  /** The upstream that a run would ask first; undefined where none is available. */
  choose(operation: Pick<Operation<unknown>, 'method' | 'fitness'>, options: RequestOptions): Upstream | undefined;
}

/** Writes and filters belong to one upstream. */
const NEVER_HEDGED = /^(eth_sendRawTransaction|eth_newFilter|eth_getFilter|eth_uninstallFilter|eth_subscribe)/;
/** Hedge delay while the latency of a method is unknown, milliseconds. */
const HEDGE_UNKNOWN_MS = 500;
const HEDGE_MIN_MS = 10;
const NONE: Set<string> = new Set();

/** What one run has learnt so far. */
interface Attempts {
  readonly reasons: Map<string, string>;
  readonly tried: Set<string>;
  faults: UpstreamFault[];
  disputed: RpcCallError | null;
}

/** @param options.bestHead the highest head known, which lag is measured by */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the order of upstreams and what each attempt tells of them are one state.
export function createFailover(options: {
  readonly chain: { readonly key: string };
  readonly upstreams: readonly Upstream[];
  readonly bestHead: () => number | null;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly deadlines: Deadlines;
}): Failover {
  const { chain, upstreams, bestHead, clock, limits, deadlines } = options;

  /** Whether the caller allows it and it is in use; else why not. */
  function isAllowed({ name, state }: Upstream, given: RequestOptions, reasons: Map<string, string>): boolean {
    if (given.only !== undefined && given.only !== name) return false;
    if (given.exclude?.has(name)) reasons.set(name, 'excluded by the caller');
    else if (state.disabledReason !== null) reasons.set(name, state.disabledReason);
    else return true;
    return false;
  }

  function allowed(given: RequestOptions, reasons: Map<string, string>): Upstream[] {
    return upstreams.filter((upstream) => isAllowed(upstream, given, reasons));
  }

  function next(
    operation: Pick<Operation<unknown>, 'method' | 'fitness'>,
    given: RequestOptions,
    attempts: Pick<Attempts, 'reasons' | 'tried'>,
  ): Upstream | undefined {
    let best: Upstream | undefined;
    let bestValue = -1;
    let isBestServing = false;
    let isServed = false;
    for (const upstream of upstreams) {
      if (!isAllowed(upstream, given, attempts.reasons) || attempts.tried.has(upstream.name)) continue;
      const isServing = !upstream.state.lacks(operation.method);
      isServed ||= isServing;
      // A mark "does not serve this method" is believed only while somebody else is left to ask.
      if (!isServing && (isServed || attempts.tried.size > 0)) continue;
      if (upstream.state.waitMs() !== 0) {
        attempts.reasons.set(upstream.name, upstream.state.obstacle);
        continue;
      }
      if (upstreams.length === 1 || (given.sticky === true && isServing)) return upstream;
      const value = (upstream.state.score(bestHead()) * (operation.fitness?.(upstream) ?? 1)) / (1 + upstream.load);
      if (value > bestValue || (isServing && !isBestServing)) {
        best = upstream;
        bestValue = value;
        isBestServing = isServing;
      }
    }
    return isServed && !isBestServing ? undefined : best;
  }

  async function attempt<T>(
    operation: Operation<T>,
    upstream: Upstream,
    given: RequestOptions,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (given.minBlock !== undefined && !(await reaches(upstream, given.minBlock)))
      throw new UpstreamFault({
        upstream: upstream.name,
        method: operation.method,
        kind: 'lagging',
        text: `has only reached block ${upstream.state.head}`,
        hints: { reaction: 'beyond-head' },
      });
    try {
      return await operation.run(upstream, signal);
    } catch (error) {
      if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
        throw upstream.fault('malformed', operation.method, error.message);
      throw error;
    }
  }

  /** The first upstream alone, or with a second one once the first takes longer than it usually does. */
  function attemptHedged<T>(
    operation: Operation<T>,
    first: Upstream,
    given: RequestOptions,
    attempts: Attempts,
  ): Promise<Answer<T>> {
    const asked = async (upstream: Upstream, signal: AbortSignal | undefined): Promise<Answer<T>> => ({
      value: await attempt(operation, upstream, given, signal),
      upstream: upstream.name,
    });
    const isHedged = given.hedge === true && upstreams.length > 1 && !NEVER_HEDGED.test(operation.method);
    if (!isHedged) return asked(first, given.signal);
    const usual = first.state.percentile(operation.method, 0.95);
    return hedge({
      first,
      ask: asked,
      delayMs: usual === 0 ? HEDGE_UNKNOWN_MS : Math.max(HEDGE_MIN_MS, usual),
      chooseSecond() {
        const second = next(operation, given, attempts);
        if (second !== undefined) attempts.tried.add(second.name);
        return second;
      },
      onFault: (fault) => note(attempts, fault),
      isOpen: (answer) => operation.isOpen?.(answer.value) === true,
      signal: given.signal,
      deadlines,
    });
  }

  async function reaches(upstream: Upstream, block: number): Promise<boolean> {
    if (upstream.state.head !== null && upstream.state.head >= block) return true;
    return (await upstream.refreshHead()) >= block;
  }

  /** Milliseconds before another round makes sense; null when nothing will change in time. */
  function pauseBefore(round: number, given: RequestOptions, attempts: Attempts): number | null {
    let soonest: number | null = null;
    for (const upstream of allowed(given, attempts.reasons)) {
      const wait = upstream.state.waitMs();
      if (wait !== null && (soonest === null || wait < soonest)) soonest = wait;
    }
    if (soonest === null) return null;
    return Math.max(soonest, backOffMs(round, limits.backOffBaseMs, limits.backOffMaxMs, Math.random()));
  }

  async function round<T>(
    operation: Operation<T>,
    given: RequestOptions,
    attempts: Attempts,
  ): Promise<Answer<T> | null> {
    for (;;) {
      if (given.signal?.aborted) throw new RequestAbortedError(operation.method, given.signal.reason);
      const upstream = next(operation, given, attempts);
      if (upstream === undefined) return null;
      attempts.tried.add(upstream.name);
      try {
        return await attemptHedged(operation, upstream, given, attempts);
      } catch (error) {
        take(attempts, error);
      }
    }
  }

  return {
    choose: (operation, given) => next(operation, given, { reasons: new Map(), tried: NONE }),
    async run(operation, given = {}, first) {
      const started = clock.now();
      const attempts: Attempts = { reasons: new Map(), tried: new Set(), faults: [], disputed: null };
      if (first !== undefined) {
        attempts.tried.add(first.upstream.name);
        take(attempts, first.error);
      }
      for (let rounds = 0, isBegun = first !== undefined; ; isBegun = false) {
        if (!isBegun) {
          attempts.tried.clear();
          attempts.faults = [];
        }
        const answer = await round(operation, given, attempts);
        if (answer !== null) return answer;
        if (attempts.disputed !== null) throw attempts.disputed;
        const unasked = allowed(given, attempts.reasons).filter(({ name }) => !attempts.tried.has(name));
        if (unasked.every(({ state }) => state.lacks(operation.method))) {
          const unserved = unservedMethod(attempts);
          if (unserved !== null) throw unserved;
        }
        if (attempts.faults.some((fault) => fault.hints.reaction !== 'throttled')) rounds++;
        const pause = pauseBefore(rounds, given, attempts);
        const settled = attempts.faults.length > 0 && operation.settled?.(attempts.faults, unasked) === true;
        if (settled || pause === null || rounds >= limits.rounds || clock.now() + pause - started > limits.deadlineMs)
          throw exhausted(chain.key, operation.method, attempts);
        await pauseFor(clock, pause, operation.method, given.signal);
      }
    },
  };
}

/** @throws the error itself, where nobody else need be asked */
function take(attempts: Attempts, error: unknown): void {
  if (error instanceof UpstreamFault) note(attempts, error);
  else if (error instanceof RpcCallError && error.disputable && attempts.disputed === null) attempts.disputed = error;
  else throw error;
}

function note(attempts: Attempts, fault: UpstreamFault): void {
  attempts.faults.push(fault);
  attempts.reasons.set(fault.upstream, `${fault.kind}: ${fault.text}`);
}

function exhausted(chain: string, method: string, attempts: Attempts): UpstreamsExhaustedError {
  const failures: UpstreamFailure[] = [...attempts.reasons].map(([upstream, reason]) => ({ upstream, reason }));
  return new UpstreamsExhaustedError({ chain, method, failures });
}

/** How nodes and plans say that a method is not there at all, as opposed to refused this time. */
const NO_SUCH_METHOD: ReadonlySet<number | undefined> = new Set([-32601, -32604, -32004, -32612, -32613, 35]);

/** Where everybody who was asked says that there is no such method, that is the answer. */
function unservedMethod(attempts: Attempts): RpcCallError | null {
  const [first] = attempts.faults;
  const isAnswer = attempts.faults.every(
    (fault) => fault.hints.reaction === 'unsupported' && NO_SUCH_METHOD.has(fault.rpcCode),
  );
  if (first === undefined || !isAnswer) return null;
  return new RpcCallError({
    upstream: first.upstream,
    method: first.method,
    rpcCode: first.rpcCode ?? -32601,
    rpcMessage: first.text,
  });
}

async function pauseFor(clock: Clock, ms: number, method: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throw new RequestAbortedError(method, error);
  }
}
