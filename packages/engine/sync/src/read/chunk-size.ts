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
      const wanted = logsPerBlock === 0 ? options.blocksMax : options.logsPerChunk / logsPerBlock;
      size = Math.max(1, Math.min(options.blocksMax, size * GROWTH_MAX, Math.round(wanted)));
    },
  };
}
