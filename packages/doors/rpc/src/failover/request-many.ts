import type { Reaction } from '../errors.ts';
import { UpstreamFault, UpstreamsExhaustedError } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import type { Failover } from './failover.ts';

export type ManyRequester = (
  method: string,
  params: readonly (readonly unknown[])[],
  options?: RequestOptions,
) => Promise<Answer<unknown>[]>;

const CALLS_PER_RUN = 100;
const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['beyond-head', 'missing-data']);

export function createManyRequester({ failover }: { readonly failover: Failover }): ManyRequester {
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
    const parts: Promise<Answer<unknown>[]>[] = [];
    for (let from = 0; from < params.length; from += CALLS_PER_RUN)
      parts.push(some(method, params.slice(from, from + CALLS_PER_RUN), given));
    return (await Promise.all(parts)).flat();
  };
}
