import { SEND_METHOD } from './broadcast-transaction.ts';
import type { Reaction } from './error-rules.ts';
import { RpcCallError, UpstreamFault, UpstreamsExhaustedError } from './errors.ts';
import type { FailedAttempt, Failover, Operation } from './failover.ts';
import type { ForwardingPool, RawCall, RawResult } from './forwarding-pool.ts';
import { runNullable } from './nullable-operation.ts';
import type { HeadProbe } from './probe-head.ts';
import { isDoubtful, type Upstream } from './upstream.ts';
import type { Answer, RequestOptions } from './upstream-pool.ts';

/** Limits that the call exceeds everywhere: asking again changes nothing. */
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['range', 'density', 'beyond-head', 'missing-data']);
/** A block that is no farther than this above every head may come while it is waited for, milliseconds. */
const NEAR_MS = 2_000;
const UNREACHED_FITNESS = 0.2;
const NULL = Buffer.from('null');

type Forward = ForwardingPool['forward'];

/** A first attempt that failed, or (`error` null) was answered with null. */
type Begun = FailedAttempt | { readonly upstream: Upstream; readonly error: null };

/** Passes calls on over the failover of all calls. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: attempts, and what they leave to the next one, share one call.
export function createCallForwarder(options: {
  readonly failover: Failover;
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly blockTimeMs: number;
  readonly bestHead: () => number | null;
  readonly broadcast: ForwardingPool['broadcast'];
}): Forward {
  const { failover, upstreams, probe, bestHead, broadcast } = options;
  const nearBlocks = Math.max(1, Math.ceil(NEAR_MS / options.blockTimeMs));
  // With one there is nobody to ask instead.
  const isAlone = upstreams.length < 2;

  /** What it announces is not enough: it must give the block. */
  async function requireReached(upstream: Upstream, method: string, block: number): Promise<void> {
    const { number } = await probe.ask(upstream);
    if (number >= block) return;
    const text = `has only reached block ${number}`;
    throw new UpstreamFault({
      upstream: upstream.name,
      method,
      kind: 'lagging',
      text,
      hints: { reaction: 'beyond-head' },
    });
  }

  function createAttempt(call: RawCall, given: RequestOptions, needed: number | null, doubts: Doubts) {
    const { method } = call;
    const { timeoutMs } = given;
    return async (upstream: Upstream, signal: AbortSignal | undefined): Promise<RawResult> => {
      if (needed !== null && reached(upstream) < needed) await requireReached(upstream, method, needed);
      try {
        return await upstream.forward(call, { signal, timeoutMs });
      } catch (error) {
        if (isDoubtful(error)) doubts.add(upstream, error);
        throw error;
      }
    };
  }

  function fitness(block: number | null): Pick<Operation<unknown>, 'fitness'> {
    if (block === null || isAlone) return {};
    return {
      fitness: ({ state }) => ((state.served ?? -1) >= block && !state.lacksHistory(block) ? 1 : UNREACHED_FITNESS),
    };
  }

  function forwardNullable(
    call: RawCall,
    given: RequestOptions,
    doubts: Doubts,
    first: Begun | undefined,
  ): Promise<Answer<RawResult>> {
    const { method, block } = call;
    const { minBlock = null, ...others } = given;
    const attempt = createAttempt(call, given, isAlone ? null : minBlock, doubts);
    return runNullable<RawResult>(
      failover,
      {
        method,
        ...(block === null ? {} : { block }),
        ...fitness(highest(minBlock, block)),
        isOpen,
        patience: 1,
        run: (upstream, signal) => attempt(upstream, signal).then((result) => (isNull(result) ? null : result)),
      },
      others,
      first,
    ).then(({ value, upstream }) => ({ value: value ?? NULL, upstream }));
  }

  async function forwardOther(
    call: RawCall,
    given: RequestOptions,
    doubts: Doubts,
    first: Begun | undefined,
  ): Promise<Answer<RawResult>> {
    const { method } = call;
    const { minBlock = null, ...others } = given;
    const needed = isAlone ? null : highest(minBlock, call.block);
    let rounds = 0;
    let verdict: UpstreamFault | undefined;
    try {
      return await failover.run<RawResult>(
        {
          method,
          run: createAttempt(call, given, needed, doubts),
          ...fitness(needed),
          isOpen,
          settled(faults) {
            rounds++;
            verdict = faults.find((fault) => fault.rpcCode !== undefined);
            if (isAgreed(faults, rounds)) {
              doubts.clear();
              return true;
            }
            const mayCome = needed !== null && needed <= (bestHead() ?? 0) + nearBlocks;
            return faults.every(
              ({ hints: { reaction } }) => ABOUT_THE_CALL.has(reaction) && !(mayCome && reaction === 'beyond-head'),
            );
          },
        },
        others,
        first,
      );
    } catch (error) {
      if (error instanceof UpstreamsExhaustedError && verdict !== undefined) throw asCallError(verdict, error);
      throw error;
    }
  }

  async function forwardWithCare(call: RawCall, given: RequestOptions, first?: Begun): Promise<Answer<RawResult>> {
    const doubts = new Doubts();
    if (first !== undefined && isDoubtful(first.error)) doubts.add(first.upstream, first.error);
    try {
      return await (call.nullable
        ? forwardNullable(call, given, doubts, first)
        : forwardOther(call, given, doubts, first));
    } finally {
      doubts.count();
    }
  }

  /** Whoever asks for it: it must not be sent to the same upstream again. */
  async function forwardSend(call: RawCall, given: RequestOptions): Promise<Answer<RawResult>> {
    const { value, upstream } = await broadcast(String(JSON.parse(call.params)[0]), given);
    return { value: Buffer.from(`"${value}"`), upstream };
  }

  /** Most calls are answered by the first upstream: what the others would need is prepared only when it fails. */
  return (call, given = {}) => {
    const { method, nullable } = call;
    if (method === SEND_METHOD) return forwardSend(call, given);
    if (given.hedge === true && !isAlone) return forwardWithCare(call, given);
    const needed = isAlone ? null : highest(given.minBlock ?? null, call.block);
    const upstream = failover.choose({ method, ...fitness(needed) }, given);
    if (upstream === undefined || (needed !== null && reached(upstream) < needed)) return forwardWithCare(call, given);
    const { name } = upstream;
    return upstream.forward(call, { signal: given.signal, timeoutMs: given.timeoutMs }).then(
      (value) => {
        if (nullable && !isAlone && isNull(value)) return forwardWithCare(call, given, { upstream, error: null });
        return { value, upstream: name };
      },
      (error: unknown) => forwardWithCare(call, given, { upstream, error }),
    );
  };
}

/** Errors of which only the other upstreams' answers tell whether they were the upstream's fault or the call's. */
class Doubts {
  #faults: { readonly upstream: Upstream; readonly fault: UpstreamFault }[] | null = null;

  add(upstream: Upstream, fault: UpstreamFault): void {
    this.#faults ??= [];
    this.#faults.push({ upstream, fault });
  }

  /** They were the call's. */
  clear(): void {
    this.#faults = null;
  }

  /** They were the upstreams'. */
  count(): void {
    for (const { upstream, fault } of this.#faults ?? []) upstream.suspect(fault);
    this.#faults = null;
  }
}

/** Several say the same, or one says it again: then it is about the call. */
function isAgreed(faults: readonly UpstreamFault[], rounds: number): boolean {
  const [first] = faults;
  if (first === undefined || (faults.length === 1 && rounds < 2)) return false;
  return faults.every((fault) => isDoubtful(fault) && fault.rpcCode === first.rpcCode && fault.text === first.text);
}

/** What every upstream refuses is answered with the node's own error; what they merely failed at is not. */
function asCallError(verdict: UpstreamFault, error: UpstreamsExhaustedError): Error {
  const { rpcCode, hints, upstream, method, text } = verdict;
  if (rpcCode === undefined || !(ABOUT_THE_CALL.has(hints.reaction) || isDoubtful(verdict))) return error;
  return new RpcCallError({ upstream, method, rpcCode, rpcMessage: text });
}

/** The block that the upstream has given, and has not gone back behind since. */
function reached({ state: { served, head } }: Upstream): number {
  return served === null || head === null ? -1 : Math.min(served, head);
}

function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function isOpen(result: RawResult): boolean {
  return !Buffer.isBuffer(result);
}

function isNull(result: RawResult): boolean {
  return Buffer.isBuffer(result) && result.length === 4 && result[0] === 0x6e;
}
