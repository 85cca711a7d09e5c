import type { DecodeContext } from './dataset.ts';

/** ISO 8601 UTC, whole seconds. @param seconds Unix time */
export function timestampText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Caches the newest block: rows arrive block by block. */
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
