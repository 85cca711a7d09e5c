import { type Clock, InvalidPrimitiveError } from '@chainstead/core';
import { backOffMs } from './back-off.ts';
import { type Asked, createUpstreamChoice, type UpstreamChoice } from './choose-upstream.ts';
import type { Deadlines } from './deadlines.ts';
import { asVerdict } from './doubts.ts';
import type { Reaction } from './error-rules.ts';
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
  /** Whether two upstreams may run it at once: a second one is asked when the first is far later than usual. */
  readonly isRepeatable?: boolean;
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
/** An upstream that takes so many times as long as it nearly always does is thought to hang. */
const HANG_FACTOR = 10;
const NONE: Set<string> = new Set();

/** What every run of a chain uses. */
interface RunTools {
  readonly chain: { readonly key: string };
  readonly upstreams: readonly Upstream[];
  readonly choice: UpstreamChoice;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly deadlines: Deadlines;
}

/** @param options.bestHead the highest head known, which lag is measured by */
export function createFailover(
  options: Omit<RunTools, 'choice'> & { readonly bestHead: () => number | null },
): Failover {
  const choice = createUpstreamChoice(options);
  const tools: RunTools = { ...options, choice };
  return {
    choose: (operation, given) => choice.next(operation, given, { reasons: new Map(), tried: NONE }),
    run: async (operation, given = {}, first) => new Run(tools, operation, given).run(first),
  };
}

/** What one run has learnt so far. */
interface Attempts extends Asked {
  readonly tried: Set<string>;
  faults: UpstreamFault[];
  disputed: RpcCallError | null;
}

/** One operation, and what its attempts so far tell the next one. Runs once. */
class Run<T> {
  readonly #tools: RunTools;
  readonly #operation: Operation<T>;
  readonly #given: RequestOptions;
  readonly #attempts: Attempts = { reasons: new Map(), tried: new Set(), faults: [], disputed: null };

  constructor(tools: RunTools, operation: Operation<T>, given: RequestOptions) {
    this.#tools = tools;
    this.#operation = operation;
    this.#given = given;
  }

  async run(first: FailedAttempt | undefined): Promise<Answer<T>> {
    const { chain, choice, clock, limits } = this.#tools;
    const attempts = this.#attempts;
    const operation = this.#operation;
    const given = this.#given;
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
      const answer = await this.#round();
      if (answer !== null) return answer;
      if (attempts.disputed !== null) throw attempts.disputed;
      const unasked = choice.allowed(given, attempts.reasons).filter(({ name }) => !attempts.tried.has(name));
      if (unasked.every(({ state }) => state.lacks(operation.method))) {
        const unserved = unservedMethod(attempts);
        if (unserved !== null) throw unserved;
      }
      if (attempts.faults.some((fault) => fault.hints.reaction !== 'throttled')) rounds++;
      const pause = this.#pauseBefore(rounds);
      const settled = attempts.faults.length > 0 && operation.settled?.(attempts.faults, unasked) === true;
      if (settled || pause === null || rounds >= limits.rounds || clock.now() + pause - started > limits.deadlineMs)
        throw exhausted(chain.key, operation.method, attempts, unasked);
      await pauseFor(clock, pause, operation.method, given.signal);
    }
  }

  async #round(): Promise<Answer<T> | null> {
    const attempts = this.#attempts;
    const operation = this.#operation;
    const given = this.#given;
    for (;;) {
      if (given.signal?.aborted) throw new RequestAbortedError(operation.method, given.signal.reason);
      const upstream = this.#tools.choice.next(operation, given, attempts);
      if (upstream === undefined) return null;
      attempts.tried.add(upstream.name);
      try {
        return await this.#attemptHedged(upstream);
      } catch (error) {
        take(attempts, error);
      }
    }
  }

  /** The first upstream alone, or with a second one once the first takes longer than it usually does. */
  #attemptHedged(first: Upstream): Promise<Answer<T>> {
    const { choice, deadlines } = this.#tools;
    const attempts = this.#attempts;
    const operation = this.#operation;
    const given = this.#given;
    const asked = async (upstream: Upstream, signal: AbortSignal | undefined): Promise<Answer<T>> => ({
      value: await attempt(operation, upstream, given, signal),
      upstream: upstream.name,
    });
    const delayMs = this.#hedgeDelayMs(first);
    if (delayMs === null) return asked(first, given.signal);
    return hedge({
      first,
      ask: asked,
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

  /** When a second upstream is asked; null: never. */
  #hedgeDelayMs({ state }: Upstream): number | null {
    const { method, isRepeatable } = this.#operation;
    const { hedge: isHedged, only } = this.#given;
    const { upstreams, limits } = this.#tools;
    if (upstreams.length < 2 || only !== undefined) return null;
    const usual = state.percentile(method, 0.95);
    if (isHedged === true && !NEVER_HEDGED.test(method))
      return usual === 0 ? HEDGE_UNKNOWN_MS : Math.max(HEDGE_MIN_MS, usual);
    return isRepeatable === true ? Math.max(limits.hangMinMs, usual * HANG_FACTOR) : null;
  }

  /** Milliseconds before another round makes sense; null when nothing will change in time. */
  #pauseBefore(round: number): number | null {
    const { choice, limits } = this.#tools;
    let soonest: number | null = null;
    for (const upstream of choice.allowed(this.#given, this.#attempts.reasons)) {
      const wait = upstream.state.waitMs();
      if (wait !== null && (soonest === null || wait < soonest)) soonest = wait;
    }
    if (soonest === null) return null;
    return Math.max(soonest, backOffMs(round, limits.backOffBaseMs, limits.backOffMaxMs, Math.random()));
  }
}

/** What an upstream answers, once it has reached the block that is needed. */
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

async function reaches(upstream: Upstream, block: number): Promise<boolean> {
  if (upstream.state.head !== null && upstream.state.head >= block) return true;
  return (await upstream.refreshHead()) >= block;
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

function exhausted(
  chain: string,
  method: string,
  { reasons, faults }: Attempts,
  unasked: readonly Upstream[],
): UpstreamsExhaustedError {
  const failures: UpstreamFailure[] = [...reasons].map(([upstream, reason]) => ({ upstream, reason }));
  const areAllWithout = faults.every(({ hints }) => LACKS.has(hints.reaction)) && unasked.length === 0;
  const isPruned = areAllWithout && faults.some(({ hints }) => hints.isPruned === true);
  return new UpstreamsExhaustedError({ chain, method, failures, isPruned });
}

/** The upstream is well, but has not got what is asked for. */
const LACKS: ReadonlySet<Reaction> = new Set(['missing-data', 'beyond-head']);

/** How nodes and plans say that a method is not there at all, as opposed to refused this time. */
const NO_SUCH_METHOD: ReadonlySet<number | undefined> = new Set([-32601, -32604, -32004, -32612, -32613, 35]);

/** Where everybody who was asked says that there is no such method, that is the answer. */
function unservedMethod(attempts: Attempts): RpcCallError | null {
  const [first] = attempts.faults;
  const isAnswer = attempts.faults.every(
    (fault) => fault.hints.reaction === 'unsupported' && NO_SUCH_METHOD.has(fault.said?.code),
  );
  return first === undefined || !isAnswer ? null : asVerdict(first, 'method');
}

async function pauseFor(clock: Clock, ms: number, method: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throw new RequestAbortedError(method, error);
  }
}
