import { type BlockRange, mergeRanges } from '@chainstead/core';
import { UsageError } from '../errors/usage-error.ts';
import type { BlockRangeOptions } from './block-range-options.ts';

const RANGE = /^(\d+)(?:-|\.\.)(\d+)$/;
const BLOCK = /^\d+$/;

export function readBlockRanges(options: BlockRangeOptions): BlockRange[] {
  const ranges = (options.range ?? []).map((text) => {
    const [, first, last] = RANGE.exec(text) ?? [];
    if (first === undefined || last === undefined)
      throw new UsageError(`--range ${text} is not valid`, 'Use the form 100-200');
    return ordered(parseBlock('--range', first), parseBlock('--range', last));
  });
  const { from, to } = options;
  if (from !== undefined && to !== undefined)
    ranges.push(ordered(parseBlock('--from', from), parseBlock('--to', to)));
  else if (from !== undefined || to !== undefined)
    throw new UsageError(`--${from === undefined ? 'from' : 'to'} is missing`, 'Use both --from and --to');
  if (ranges.length === 0)
    throw new UsageError('No block range given', 'Use --from and --to, or --range 100-200 (repeatable)');
  return mergeRanges(ranges);
}

function parseBlock(option: string, text: string): number {
  const block = BLOCK.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(block))
    throw new UsageError(`${option} ${text} is not a block number`, 'Use a whole number from 0');
  return block;
}

function ordered(from: number, to: number): BlockRange {
  if (to < from) throw new UsageError(`The last block ${to} is below the first ${from}`, 'Swap the two');
  return { from, to };
}
