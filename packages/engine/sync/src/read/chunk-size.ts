export type ChunkSizing = ReturnType<typeof createChunkSizing>;
interface ChunkSizingOptions {
  readonly logsPerChunk: number;
  readonly blocksFirst: number;
  readonly blocksMax: number;
}

const NEWEST_WEIGHT = 0.5;
const GROWTH_MAX = 4;

export function createChunkSizing(options: ChunkSizingOptions) {
  let size = Math.min(options.blocksFirst, options.blocksMax);
  let logsPerBlock: number | null = null;
  return {
    next: () => size,
    seen: (blocks: number, logs: number): void => {
      const density = logs / Math.max(1, blocks);
      logsPerBlock =
        logsPerBlock === null ? density : logsPerBlock * (1 - NEWEST_WEIGHT) + density * NEWEST_WEIGHT;
      size = Math.min(size * GROWTH_MAX, chunkBlocks(options, logsPerBlock));
    },
  };
}

/** The size that chunks grow to. */
export function chunkBlocks(
  { blocksMax, logsPerChunk }: Pick<ChunkSizingOptions, 'blocksMax' | 'logsPerChunk'>,
  logsPerBlock: number,
): number {
  const wanted = logsPerBlock === 0 ? blocksMax : logsPerChunk / logsPerBlock;
  return Math.max(1, Math.min(blocksMax, Math.round(wanted)));
}
