import { inParts } from '@chainstead/core';
import { type Reaction, UpstreamFault, UpstreamsExhaustedError } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions, UpstreamPool } from '../upstream-pool.ts';
import type { FailedAttempt, Failover, UpstreamOperation } from './failover.ts';

/** One upstream's null is not trusted while another may have the value. */
interface NullableOperation<T> extends Omit<UpstreamOperation<T>, 'run' | 'settled'> {
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T | null>;
  /** An upstream's null counts only if it has reached this block. */
  readonly block?: number | undefined;
  /** A null is a fault if the upstream reported the block as reached. */
  readonly countNull?: boolean;
  /** Rounds of nulls: load-balanced nodes lack a new block for about 100 ms. */
  readonly patience: number;
}

/** An upstream's null, as a fault that moves the operation to the next upstream. */
class NullAnswer extends UpstreamFault {}

/** Null `value`: every upstream that can know returned null. `first`: an attempt without value. */
export async function runNullable<T>(
  failover: Failover,
  operation: NullableOperation<T>,
  given: RequestOptions,
  first?: FailedAttempt | { readonly upstream: Upstream; readonly error: null },
): Promise<Answer<T | null>> {
  const { method, block, patience, fitness, isOpen, isRepeatable = false } = operation;
  let rounds = 0;
  let believed: string | null = null;
  const begun = first?.error === null ? { ...first, error: await nullAnswer(operation, first.upstream) } : first;
  try {
    return await failover.run<T>(
      {
        method,
        isRepeatable,
        fitness,
        isOpen,
        async run(upstream, signal) {
          const value = await operation.run(upstream, signal);
          if (value !== null) return value;
          throw await nullAnswer(operation, upstream);
        },
        settled(faults, unrequested) {
          rounds++;
          if (!faults.every((fault) => fault instanceof NullAnswer)) return false;
          const couldKnow = unrequested.filter(
            ({ state }) => block === undefined || (state.head ?? block) >= block,
          );
          const nobodyThere = faults.every((fault) => fault.kind === 'lagging');
          if (couldKnow.length > 0 || (!nobodyThere && rounds < patience)) return false;
          believed = faults[0]?.upstream ?? '';
          return true;
        },
      },
      given,
      begun,
    );
  } catch (error) {
    if (error instanceof UpstreamsExhaustedError && believed !== null) return { value: null, upstream: believed };
    throw error;
  }
}

async function nullAnswer(
  operation: Pick<NullableOperation<unknown>, 'method' | 'block' | 'countNull'>,
  upstream: Upstream,
): Promise<UpstreamFault> {
  const { method, block } = operation;
  const { state, name } = upstream;
  if (block !== undefined && !(await hasReached(upstream, block))) {
    const text = `has only reached block ${state.head}`;
    return new NullAnswer({ upstream: name, method, kind: 'lagging', text, hints: { reaction: 'beyond-head' } });
  }
  const text =
    block === undefined ? 'answered null' : `answered null for block ${block}, its head is ${state.head}`;
  const hints = { reaction: 'missing-data' } as const;
  const fault = new NullAnswer({ upstream: name, method, kind: 'missing-block', text, hints });
  if (operation.countNull === true) state.failed(fault);
  return fault;
}

async function hasReached(upstream: Upstream, block: number): Promise<boolean> {
  const { head } = upstream.state;
  if (head !== null && head >= block) return true;
  try {
    return (await upstream.refreshHead()) >= block;
  } catch (error) {
    if (head === null || !(error instanceof UpstreamFault)) throw error;
    return false;
  }
}

const CALLS_PER_RUN = 100;
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['beyond-head', 'missing-data']);

export function createManyRequester({ failover }: { readonly failover: Failover }): UpstreamPool['requestMany'] {
  async function some(
    method: string,
    params: readonly (readonly unknown[])[],
    given: RequestOptions,
  ): Promise<Answer<unknown>[]> {
    const found = new Map<number, Answer<unknown>>();
    const nulls = new Map<number, Answer<null>>();

    // Only missing calls go to the next upstream.
    async function run(upstream: Upstream, signal: AbortSignal | undefined): Promise<void> {
      const rest = [...params.keys()].filter((index) => !found.has(index));
      const calls = rest.map((index) => ({ method, params: params[index] ?? [] }));
      const outcomes = await upstream.callMany(calls, { signal, timeoutMs: given.timeoutMs });
      let problem: Error | null = null;
      for (const [place, outcome] of outcomes.entries()) {
        const index = rest[place] ?? 0;
        if (!outcome.ok) problem = outcome.error;
        else if (outcome.result !== null) found.set(index, { value: outcome.result, upstream: upstream.name });
        else nulls.set(index, { value: null, upstream: upstream.name });
      }
      if (problem !== null) throw problem;
      if (found.size === params.length) return;
      // Another may have the value. Not counted as a fault.
      const { name } = upstream;
      const hints = { reaction: 'missing-data' } as const;
      throw new UpstreamFault({ upstream: name, method, kind: 'missing-block', text: 'answered null', hints });
    }

    try {
      const settled = (faults: readonly UpstreamFault[]): boolean =>
        faults.every((fault) => ABOUT_THE_CALL.has(fault.hints.reaction));
      await failover.run({ method, isRepeatable: true, settled, run }, given);
    } catch (error) {
      const isAnswered = [...params.keys()].every((index) => found.has(index) || nulls.has(index));
      if (!(error instanceof UpstreamsExhaustedError) || !isAnswered) throw error;
    }
    return [...params.keys()].flatMap((index) => found.get(index) ?? nulls.get(index) ?? []);
  }

  return async (method, params, given = {}) => {
    const parts = inParts(params, CALLS_PER_RUN).map((part) => some(method, part, given));
    return (await Promise.all(parts)).flat();
  };
}
