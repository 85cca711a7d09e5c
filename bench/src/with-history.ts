import { fileURLToPath } from 'node:url';
import { BLOCKS_ABOVE, CHAIN_ID, LOG_LIMIT } from './bench-chain.ts';
import type { HistoryUpstream, HistoryUpstreamPlan } from './history-upstream.ts';
import { startProcess } from './measured-process.ts';

const PROGRAM = fileURLToPath(new URL('./history-upstream.ts', import.meta.url));

/** Starts a node and a Portal over one chain, does the work, and ends both. */
export async function withHistory<T>(
  blocks: number,
  options: Omit<HistoryUpstreamPlan, 'blocks'>,
  work: (upstream: HistoryUpstream) => Promise<T>,
): Promise<T> {
  const plan: HistoryUpstreamPlan = {
    chainId: CHAIN_ID,
    ...options,
    blocks: blocks + BLOCKS_ABOVE,
    faults: { logLimit: LOG_LIMIT, ...options.faults },
  };
  const upstream = startProcess({ args: [PROGRAM, JSON.stringify(plan)], env: {} });
  try {
    return await work(
      await upstream.line((line): HistoryUpstream | undefined =>
        line.startsWith('{') ? JSON.parse(line) : undefined,
      ),
    );
  } finally {
    await upstream.stop();
  }
}
