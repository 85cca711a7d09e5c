import { UpstreamFault, UpstreamsExhaustedError } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import type { UpstreamOperation } from './choose-upstream.ts';
import type { FailedAttempt, Failover } from './failover.ts';

/** One upstream's null is not trusted while another may have the value. */
export interface NullableOperation<T> {
  readonly method: string;
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T | null>;
  /** An upstream's null counts only if it has reached this block. */
  readonly block?: number;
  readonly fitness?: UpstreamOperation<T>['fitness'];
  readonly isOpen?: UpstreamOperation<T>['isOpen'];
  readonly isRepeatable?: boolean;
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
        ...(fitness === undefined ? {} : { fitness }),
        ...(isOpen === undefined ? {} : { isOpen }),
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
