import { type Clock, InvalidPrimitiveError } from '@chainstead/core';
import { pauseFor } from '../aborting.ts';
import {
  BlockTooLargeError,
  isAboutSize,
  laggingFault,
  type Reaction,
  RequestAbortedError,
  RpcCallError,
  UpstreamFault,
  UpstreamsExhaustedError,
} from '../errors.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import type { Deadlines } from '../transport/deadlines.ts';
import { asVerdict } from '../upstream/doubts.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import { hedge } from './hedge.ts';

export interface FailedAttempt {
  readonly upstream: Upstream;
  readonly error: unknown;
}

export interface Failover {
  /** @throws UpstreamsExhaustedError, RpcCallError, BlockTooLargeError, RequestAbortedError */
  run<T>(operation: UpstreamOperation<T>, options?: RequestOptions, first?: FailedAttempt): Promise<Answer<T>>;
  choose(operation: Choosable, options: RequestOptions): Upstream | undefined;
}

const NEVER_HEDGED = /^(eth_sendRawTransaction|eth_newFilter|eth_getFilter|eth_uninstallFilter|eth_subscribe)/;
const HEDGE_UNKNOWN_MS = 500;
const HEDGE_MIN_MS = 10;
/** An upstream that takes this many times its p95 latency is assumed to hang. */
const HANG_FACTOR = 10;
const NONE: Set<string> = new Set();

interface RunTools {
  readonly chain: { readonly key: string };
  readonly upstreams: readonly Upstream[];
  readonly choice: UpstreamChoice;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly deadlines: Deadlines;
}

export function createFailover(
  options: Omit<RunTools, 'choice'> & { readonly bestHead: () => number | null },
): Failover {
  const choice = createUpstreamChoice(options);
  const tools: RunTools = { ...options, choice };
  return {
    choose: (operation, given) => choice.next(operation, given, { reasons: new Map(), tried: NONE }),
    run: (operation, given = {}, first) => runOn(tools, operation, given, first),
  };
}

interface Attempts extends Requested {
  readonly tried: Set<string>;
  faults: UpstreamFault[];
  disputed: RpcCallError | null;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: rounds, hedges and pauses share the attempts of one operation.
async function runOn<T>(
  { chain, upstreams, choice, clock, limits, deadlines }: RunTools,
  operation: UpstreamOperation<T>,
  given: RequestOptions,
  first: FailedAttempt | undefined,
): Promise<Answer<T>> {
  const attempts: Attempts = { reasons: new Map(), tried: new Set(), faults: [], disputed: null };
  const started = clock.now();
  if (first !== undefined) {
    attempts.tried.add(first.upstream.name);
    take(attempts, first.error);
  }
  for (let rounds = 0, isBegun = first !== undefined; ; isBegun = false) {
    if (!isBegun) {
      attempts.tried.clear();
      attempts.faults = [];
    }
    const answer = await round();
    if (answer !== null) return answer;
    if (attempts.disputed !== null) throw attempts.disputed;
    const unrequested = choice.allowed(given, attempts.reasons).filter(({ name }) => !attempts.tried.has(name));
    if (unrequested.every(({ state }) => state.lacks(operation.method))) {
      const unserved = unservedMethod(attempts);
      if (unserved !== null) throw unserved;
    }
    const tooLarge = unrequested.length > 0 ? null : tooLargeForAll(attempts.faults);
    if (tooLarge !== null) throw tooLarge;
    if (attempts.faults.some((fault) => fault.hints.reaction !== 'throttled')) rounds++;
    const pause = pauseBefore(rounds);
    const settled = attempts.faults.length > 0 && operation.settled?.(attempts.faults, unrequested) === true;
    if (settled || pause === null || rounds >= limits.rounds || clock.now() + pause - started > limits.deadlineMs)
      throw exhausted(chain.key, operation.method, attempts, unrequested);
    await pauseFor(clock, pause, given.signal, operation.method);
  }

  async function round(): Promise<Answer<T> | null> {
    for (;;) {
      if (given.signal?.aborted) throw new RequestAbortedError(operation.method, given.signal.reason);
      const upstream = choice.next(operation, given, attempts);
      if (upstream === undefined) return null;
      attempts.tried.add(upstream.name);
      try {
        return await attemptHedged(upstream);
      } catch (error) {
        take(attempts, error);
      }
    }
  }

  function attemptHedged(first: Upstream): Promise<Answer<T>> {
    const requested = async (upstream: Upstream, signal: AbortSignal | undefined): Promise<Answer<T>> => ({
      value: await attempt(operation, upstream, given, signal),
      upstream: upstream.name,
    });
    const delayMs = hedgeDelayMs(first);
    if (delayMs === null) return requested(first, given.signal);
    return hedge({
      first,
      ask: requested,
      delayMs,
      chooseSecond() {
        const second = choice.next(operation, given, attempts);
        if (second !== undefined) attempts.tried.add(second.name);
        return second;
      },
      onFault: (fault) => note(attempts, fault),
      leavesLoser: given.hedge !== true,
      isOpen: (answer) => operation.isOpen?.(answer.value) === true,
      signal: given.signal,
      deadlines,
    });
  }

  function hedgeDelayMs({ state }: Upstream): number | null {
    const { method, isRepeatable } = operation;
    const { hedge: isHedged, only } = given;
    if (upstreams.length < 2 || only !== undefined) return null;
    const usual = state.percentile(method, 0.95);
    // Invariant: GATEWAY-WRITE-ONCE
    if (isHedged === true && !NEVER_HEDGED.test(method))
      return usual === 0 ? HEDGE_UNKNOWN_MS : Math.max(HEDGE_MIN_MS, usual);
    return isRepeatable === true ? Math.max(limits.hangMinMs, usual * HANG_FACTOR) : null;
  }

  /** Null if nothing will change in time. */
  function pauseBefore(round: number): number | null {
    let soonest: number | null = null;
    for (const upstream of choice.allowed(given, attempts.reasons)) {
      const wait = upstream.state.waitMs();
      if (wait !== null && (soonest === null || wait < soonest)) soonest = wait;
    }
    if (soonest === null) return null;
    return Math.max(soonest, backOffMs(round, limits.backOffBaseMs, limits.backOffMaxMs));
  }
}

async function attempt<T>(
  operation: UpstreamOperation<T>,
  upstream: Upstream,
  given: RequestOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (given.minBlock !== undefined) await requireHead(upstream, operation.method, given.minBlock);
  try {
    return await operation.run(upstream, signal);
  } catch (error) {
    if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
      throw upstream.fault('malformed', operation.method, error.message);
    throw error;
  }
}

/** Clients return an empty result or an error above their head. @throws UpstreamFault */
export async function requireHead(upstream: Upstream, method: string, block: number): Promise<void> {
  const { state, name } = upstream;
  if ((state.head ?? -1) >= block || (await upstream.refreshHead()) >= block) return;
  throw laggingFault(name, method, state.head);
}

/** @throws the error if no other upstream needs to be tried */
function take(attempts: Attempts, error: unknown): void {
  if (error instanceof UpstreamFault) note(attempts, error);
  else if (error instanceof RpcCallError && error.disputable && attempts.disputed === null)
    attempts.disputed = error;
  else throw error;
}

function note(attempts: Attempts, fault: UpstreamFault): void {
  attempts.faults.push(fault);
  attempts.reasons.set(fault.upstream, `${fault.kind}: ${fault.text}`);
}

function exhausted(
  chain: string,
  method: string,
  { reasons, faults }: Attempts,
  unrequested: readonly Upstream[],
): UpstreamsExhaustedError {
  const failures = [...reasons].map(([upstream, reason]) => ({ upstream, reason }));
  const areAllWithout = faults.every(({ hints }) => LACKS.has(hints.reaction)) && unrequested.length === 0;
  const isPruned = areAllWithout && faults.some(({ hints }) => hints.isPruned === true);
  const isTooLarge = faults.length > 0 && unrequested.length === 0 && faults.every((fault) => isAboutSize(fault));
  return new UpstreamsExhaustedError({ chain, method, failures, isPruned, isTooLarge });
}

function tooLargeForAll(faults: readonly UpstreamFault[]): BlockTooLargeError | null {
  const errors = faults.map(({ hints }) => hints.cause).filter((cause) => cause instanceof BlockTooLargeError);
  return errors.length === faults.length ? (errors[0] ?? null) : null;
}

const LACKS: ReadonlySet<Reaction> = new Set(['missing-data', 'beyond-head']);

/** The method does not exist, as opposed to refused this time. */
const NO_SUCH_METHOD: ReadonlySet<number | undefined> = new Set([-32601, -32604, -32004, -32612, -32613, 35]);

function unservedMethod(attempts: Attempts): RpcCallError | null {
  const [first] = attempts.faults;
  const isAnswer = attempts.faults.every(
    (fault) => fault.hints.reaction === 'unsupported' && NO_SUCH_METHOD.has(fault.said?.code),
  );
  return first === undefined || !isAnswer ? null : asVerdict(first, 'method');
}

export interface UpstreamOperation<T> {
  readonly method: string;
  /** Fetches and checks. A fault moves on to the next upstream. */
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T>;
  /** A second upstream may start if the first is far slower than usual. */
  readonly isRepeatable?: boolean;
  /** Suitability apart from health, 0 to 1. */
  readonly fitness?: ((upstream: Upstream) => number) | undefined;
  /** The value still streams: an abort must reach it. */
  readonly isOpen?: ((value: T) => boolean) | undefined;
  /** A failed round is final. `unrequested`: in use, but unavailable. */
  readonly settled?: (faults: readonly UpstreamFault[], unrequested: readonly Upstream[]) => boolean;
}

type Choosable = Pick<UpstreamOperation<unknown>, 'method' | 'fitness'>;

interface Requested {
  readonly reasons: Map<string, string>;
  readonly tried: ReadonlySet<string>;
}

interface UpstreamChoice {
  allowed(given: RequestOptions, reasons: Map<string, string>): Upstream[];
  next(operation: Choosable, given: RequestOptions, requested: Requested): Upstream | undefined;
}

function createUpstreamChoice(options: {
  readonly upstreams: readonly Upstream[];
  readonly bestHead: () => number | null;
}): UpstreamChoice {
  const { upstreams, bestHead } = options;
  return {
    allowed: (given, reasons) => upstreams.filter((upstream) => isAllowed(upstream, given, reasons)),
    next(operation, given, { reasons, tried }) {
      let best: Upstream | undefined;
      let bestValue = -1;
      let isBestServing = false;
      let isServed = false;
      for (const upstream of upstreams) {
        if (!isAllowed(upstream, given, reasons) || tried.has(upstream.name)) continue;
        const isServing = !upstream.state.lacks(operation.method);
        isServed ||= isServing;
        // "Unsupported" counts only while another upstream is left to try.
        if (!isServing && (isServed || tried.size > 0)) continue;
        if (upstream.state.waitMs() !== 0) {
          reasons.set(upstream.name, upstream.state.obstacle);
          continue;
        }
        if (upstreams.length === 1 || (given.sticky === true && isServing)) return upstream;
        const value =
          (upstream.state.score(bestHead()) * (operation.fitness?.(upstream) ?? 1)) / (1 + upstream.load);
        if (value > bestValue || (isServing && !isBestServing)) {
          best = upstream;
          bestValue = value;
          isBestServing = isServing;
        }
      }
      return isServed && !isBestServing ? undefined : best;
    },
  };
}

export function isAllowed(
  { name, state }: Upstream,
  given: RequestOptions,
  reasons: Map<string, string>,
): boolean {
  if (given.only !== undefined && given.only !== name) return false;
  if (given.exclude?.has(name)) reasons.set(name, 'excluded by the caller');
  else if (state.disabledReason !== null) reasons.set(name, state.disabledReason);
  else return true;
  return false;
}
