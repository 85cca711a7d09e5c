import { isQuantity, parseQuantity } from '@chainstead/core';
import { createLagWatch } from './lag-watch.ts';
import type { Upstream } from './upstream.ts';

/** Asks one upstream for its newest block; concurrent callers share one request. */
export function createHeadReader(options: {
  readonly name: string;
  readonly state: Pick<Upstream['state'], 'setHead'>;
  readonly callSized: Upstream['callSized'];
  readonly fault: Upstream['fault'];
  /** Blocks behind the others that are no fault yet. */
  readonly lagToleranceBlocks: number;
  /** Highest block that upstreams but the named one have given; null before the first. */
  readonly bestOfOthers: (name: string) => number | null;
}): Upstream['refreshHead'] {
  const { name, state, callSized, fault, bestOfOthers } = options;
  const lag = createLagWatch(options.lagToleranceBlocks);
  let request: Promise<number> | null = null;

  async function ask(): Promise<number> {
    // Before it is asked: what others give in the meantime it need not know.
    const best = bestOfOthers(name);
    const { result } = await callSized('eth_blockNumber', [], { urgent: true });
    if (!isQuantity(result) || Number(result) > Number.MAX_SAFE_INTEGER)
      throw fault('malformed', 'eth_blockNumber', `answered ${JSON.stringify(result)?.slice(0, 80)}`);
    const number = parseQuantity(result);
    state.setHead(number);
    const behind = lag.observe(number, best);
    if (behind !== null)
      fault('lagging', 'eth_blockNumber', `has only reached block ${number}, others ${behind} blocks more`);
    return number;
  }

  return () => {
    // Shared by all callers, so no caller's signal or time limit may end it.
    request ??= ask().finally(() => {
      request = null;
    });
    return request;
  };
}
