import type { Log } from '@chainstead/core';
import { WORD_DIGITS } from './abi-words.ts';
import { idsToExpand, readConsecutiveRange } from './consecutive.ts';
import { CONSECUTIVE_TRANSFER_TOPIC, TRANSFER_BATCH_TOPIC } from './topics.ts';

/** At most so many movements come of this log: a batch's id and amount take two words. */
export function movementsMax(log: Log): number {
  switch (log.topics[0]) {
    case TRANSFER_BATCH_TOPIC:
      return Math.ceil(log.data.length / (2 * WORD_DIGITS));
    case CONSECUTIVE_TRANSFER_TOPIC: {
      const range = readConsecutiveRange(log);
      return typeof range === 'number' ? 1 : (idsToExpand(range) ?? 1);
    }
    default:
      return 1;
  }
}
