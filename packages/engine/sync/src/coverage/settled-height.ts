import type { Chain } from '@chainstead/chains';
import type { UpstreamPool } from '@chainstead/rpc';

/** Finalized, or deeper than the maximum reorg depth. */
export async function readSettledHeight(pool: UpstreamPool, chain: Chain): Promise<number> {
  const { value: head } = await pool.getHead();
  const finalized = chain.finalizedTag ? await pool.getFinalized() : null;
  return Math.max(finalized ?? 0, head.number - chain.reorgDepthMax);
}
