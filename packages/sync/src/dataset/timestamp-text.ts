import type { DecodeContext } from './dataset.ts';

/** Returns a block's time as ISO 8601 UTC with whole seconds. @param seconds Unix time */
export function timestampText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/**
 * Returns a function from block number to time text. It caches the newest block, because rows arrive block by block.
 */
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
