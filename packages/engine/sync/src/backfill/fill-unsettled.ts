/** Blocks that may be rolled back: filled under that lock, if they still have the hashes read. */
import { type BlockRange, errorText } from '@chainstead/core';
import { ReorgedWhileReadingError } from '../errors.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { createRereads } from '../read/rereads.ts';
import { commitRead, readClaimed } from './backfill-chunk.ts';
import type { BackfillOptions } from './backfill-options.ts';
import { type BackfillRange, chunksOf, planRanges } from './backfill-ranges.ts';

/** Small: the follower waits for the commit. */
const CHUNK = { logsPerChunk: 2_000, blocksFirst: 8, blocksMax: 64 } as const;

/** One try per block: failed or abandoned ones still lack the dataset. */
export async function fillUnsettled(
  settings: BackfillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
) {
  if (ranges.length === 0) return;
  // Filtered logs do not show the hashes of blocks without logs.
  const options = {
    ...settings,
    rereads: createRereads(settings.clock),
    proof: 'receipts',
    isUnsettled: true,
  } as const;
  const sizing = createChunkSizing(CHUNK);
  for (const span of await planRanges(options, ranges))
    for (const range of chunksOf(options, span.range, sizing))
      await tryChunk(options, span, range, sizing, signal);
}

async function tryChunk(
  options: BackfillOptions,
  span: BackfillRange,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<void> {
  const { chain, logger, owner } = options;
  try {
    const read = await readClaimed(options, span, range, sizing, signal);
    if (read !== null) await commitRead(options, span, read, signal);
  } catch (error) {
    signal.throwIfAborted();
    const fields = { chain: chain.key, block_range: `${range.from}-${range.to}`, error: errorText(error) };
    logger[error instanceof ReorgedWhileReadingError ? 'debug' : 'warn'](
      fields,
      'Blocks that a reorg may replace could not be filled, they are tried again',
    );
    await owner.release(chain.id, range);
  }
}
