import type { DecodeContext } from './dataset.ts';

/** A block's time as ISO 8601 UTC with whole seconds. @param seconds Unix time */
export function timestampText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Times of blocks as text; the newest is kept, since rows come block by block. */
export function createBlockTimes({ timestampOf }: DecodeContext): (blockNumber: number) => string {
  let newest = -1;
  let text = '';
  return (blockNumber) => {
    if (blockNumber !== newest) {
      newest = blockNumber;
      text = timestampText(timestampOf(blockNumber));
    }
    return text;
  };
}
