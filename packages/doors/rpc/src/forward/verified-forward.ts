import {
  isDoubtful,
  laggingFault,
  type Reaction,
  type UpstreamFault,
  UpstreamsExhaustedError,
} from '../errors.ts';
import type { FailedAttempt, Failover, UpstreamOperation } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import type { RawCall, RawResult } from '../forwarding-pool.ts';
import type { HeadProbe } from '../heads/probe-head.ts';
import { EXECUTES } from '../transport/error-rules.ts';
import { asVerdict, Doubts, saysTheSame } from '../upstream/doubts.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';

export interface ForwardTools {
  readonly failover: Failover;
  readonly probe: HeadProbe;
  readonly bestHead: () => number | null;
  readonly isAlone: boolean;
  readonly nearBlocks: number;
}

/** A first attempt; `error` null: it returned null. */
export type Begun = FailedAttempt | { readonly upstream: Upstream; readonly error: null };

const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['range', 'density', 'beyond-head', 'missing-data']);
const UNREACHED_FITNESS = 0.2;
const NULL = Buffer.from('null');

/** @throws as Failover.run */
export async function forwardVerified(
  tools: ForwardTools,
  call: RawCall,
  given: RequestOptions,
  first?: Begun,
): Promise<Answer<RawResult>> {
  const { failover, probe, isAlone, bestHead, nearBlocks } = tools;
  const { method, block } = call;
  const { minBlock = null, ...others } = given;
  const doubts = new Doubts();
  if (first !== undefined && isDoubtful(first.error)) doubts.add(first.upstream, first.error);
  try {
    return await (call.nullable ? forwardNullable() : forwardOther());
  } finally {
    doubts.count();
  }

  async function forwardNullable(): Promise<Answer<RawResult>> {
    const needed = isAlone ? null : minBlock;
    const { value, upstream } = await runNullable<RawResult>(
      failover,
      {
        method,
        block: block ?? undefined,
        fitness: fitness(tools, highest(minBlock, block)),
        isOpen,
        patience: 1,
        run: (requested, signal) =>
          attempt(requested, signal, needed).then((result) => (isNull(result) ? null : result)),
      },
      others,
      first,
    );
    return { value: value ?? NULL, upstream };
  }

  async function forwardOther(): Promise<Answer<RawResult>> {
    const needed = isAlone ? null : highest(minBlock, block);
    let rounds = 0;
    let verdict: UpstreamFault | undefined;
    try {
      return await failover.run<RawResult>(
        {
          method,
          run: (upstream, signal) => attempt(upstream, signal, needed),
          fitness: fitness(tools, needed),
          isOpen,
          settled: (faults) => {
            rounds++;
            verdict = faults.find((fault) => fault.said !== undefined);
            if (isAgreed(method, faults, rounds)) {
              doubts.clear();
              return true;
            }
            const mayCome = needed !== null && needed <= (bestHead() ?? 0) + nearBlocks;
            const isFinal = ({ hints: { reaction } }: UpstreamFault): boolean =>
              ABOUT_THE_CALL.has(reaction) && !(mayCome && reaction === 'beyond-head');
            return faults.every(isFinal);
          },
        },
        others,
        first,
      );
    } catch (error) {
      if (!(error instanceof UpstreamsExhaustedError) || verdict === undefined) throw error;
      // A mere failure stays an exhaustion error.
      const isOfCall = ABOUT_THE_CALL.has(verdict.hints.reaction) || isDoubtful(verdict);
      throw (isOfCall ? asVerdict(verdict, 'call') : null) ?? error;
    }
  }

  async function attempt(
    upstream: Upstream,
    signal: AbortSignal | undefined,
    needed: number | null,
  ): Promise<RawResult> {
    if (needed !== null && reached(upstream) < needed) {
      const { number } = await probe.ask(upstream);
      if (number < needed) throw laggingFault(upstream.name, method, number);
    }
    try {
      return await upstream.forward(call, { signal, timeoutMs: given.timeoutMs });
    } catch (error) {
      if (!isDoubtful(error)) throw error;
      doubts.add(upstream, error);
      if (!EXECUTES.test(method) || !doubts.isRepeated) throw error;
      doubts.clear();
      throw asVerdict(error, 'execution') ?? error;
    }
  }
}

export function fitness(
  { isAlone }: Pick<ForwardTools, 'isAlone'>,
  block: number | null,
): UpstreamOperation<unknown>['fitness'] {
  if (block === null || isAlone) return undefined;
  return ({ state }) => ((state.served ?? -1) >= block && !state.lacksHistory(block) ? 1 : UNREACHED_FITNESS);
}

export function reached({ state: { served, head } }: Upstream): number {
  return served === null || head === null ? -1 : Math.min(served, head);
}

export function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

export function isNull(result: RawResult): boolean {
  return Buffer.isBuffer(result) && result.length === 4 && result[0] === 0x6e;
}

function isOpen(result: RawResult): boolean {
  return !Buffer.isBuffer(result);
}

/** An error is the call's if several upstreams report it, or one repeats it. */
function isAgreed(method: string, faults: readonly UpstreamFault[], rounds: number): boolean {
  const [first] = faults;
  if (first === undefined || (faults.length === 1 && rounds < 2)) return false;
  return faults.every((fault) => isDoubtful(fault) && (EXECUTES.test(method) || saysTheSame(fault, first)));
}
