import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { Hash, Logger } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import type { WatchNeeds } from './block-watcher.ts';
import { type ProvenBlock, readProvenBlock } from './proven-block.ts';
import { readInternalTransfers } from './traces/read-internal-transfers.ts';

/** What whole blocks are read with. */
export interface WatchedReader {
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly policy: ProofPolicy;
  readonly logger: Logger;
}

/**
 * A proven block with all that is needed of it: transaction objects come with the block, internal transfers from its traces.
 * Null when no upstream has the block. @throws UnprovenBlockError, UpstreamsExhaustedError
 */
export async function readWatchedBlock(
  reader: WatchedReader,
  at: number | Hash,
  needs: WatchNeeds,
  signal?: AbortSignal,
): Promise<ProvenBlock | null> {
  const { pool, chain, policy } = reader;
  const block = await readProvenBlock(pool, chain, policy, at, signal, new Set(), needs.transactions);
  if (block === null || !needs.internalTransfers) return block;
  return { ...block, internalTransfers: await readInternalTransfers(reader, block, signal) };
}
