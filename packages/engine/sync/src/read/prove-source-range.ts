import { type BlockRange, rangeSize } from '@chainstead/core';
import { type BlockSource, SourceError } from '@chainstead/sources';
import { readSourceBlocks, type SourceReading } from './read-source-blocks.ts';
import { isOfFile } from './source-stream.ts';

interface SourceTrial {
  /** Blocks that were proven, from the start of the range. */
  readonly blocks: number;
  /** Null: the source returned no wrong or incomplete block. */
  readonly failure: SourceError | null;
}

/** Reads whole blocks as a backfill does, and writes nothing. */
export async function proveSourceRange(
  reading: Omit<SourceReading, 'unitWeight'>,
  source: BlockSource,
  range: BlockRange,
  signal: AbortSignal,
): Promise<SourceTrial> {
  let blocks = 0;
  const failures: unknown[] = [];
  const chosen = {
    source,
    range,
    succeeded(proven: BlockRange): void {
      blocks += rangeSize(proven);
    },
    completed: (): void => undefined,
    failed(error: unknown): void {
      if (!isOfFile(error)) failures.push(error);
    },
  };
  for await (const _ of readSourceBlocks({ ...reading, unitWeight: UNIT_WEIGHT }, chosen, signal));
  const [error] = failures;
  if (error === undefined) return { blocks, failure: null };
  // Nodes that fail are no failure of the source.
  if (!(error instanceof SourceError)) throw error;
  return { blocks, failure: error };
}

const UNIT_WEIGHT = 6_000;
