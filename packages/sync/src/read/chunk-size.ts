/**
 * Sizes the next backfill chunk in blocks so that it holds about the target number of logs. It follows the observed
 * density, limited by `GROWTH_MAX` and the cap. Pure.
 */
export interface ChunkSizing {
  next(): number;
  /** Reports the logs found in a chunk of this many blocks. */
  seen(blocks: number, logs: number): void;
}

export interface ChunkSizingOptions {
  readonly logsPerChunk: number;
  readonly blocksFirst: number;
  readonly blocksMax: number;
}

/** Weight of the newest chunk in the running density. */
const NEWEST_WEIGHT = 0.5;
const GROWTH_MAX = 4;

export function createChunkSizing(options: ChunkSizingOptions): ChunkSizing {
  let size = Math.min(options.blocksFirst, options.blocksMax);
  let logsPerBlock: number | null = null;
  return {
    next: () => size,
    seen: (blocks, logs) => {
      const density = logs / Math.max(1, blocks);
      logsPerBlock = logsPerBlock === null ? density : logsPerBlock * (1 - NEWEST_WEIGHT) + density * NEWEST_WEIGHT;
      const wanted = logsPerBlock === 0 ? options.blocksMax : options.logsPerChunk / logsPerBlock;
      size = Math.max(1, Math.min(options.blocksMax, size * GROWTH_MAX, Math.round(wanted)));
    },
  };
}
