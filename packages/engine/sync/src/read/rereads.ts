import type { Clock } from '@chainstead/core';

/** Gives up on a chain if rereading a block that contradicts its header never helps. */
export interface Rereads {
  /** @param isRequired never gives up early. @returns false: don't read again */
  wait(readings: number, isRequired: boolean, signal: AbortSignal | undefined): Promise<boolean>;
  ended(isProven: boolean): void;
}

/** Nodes briefly serve receipts without their logs. */
const WAITS_MS = [100, 200, 400, 800, 1_600];
/** Blocks in a row that prove that a chain has its own form of roots. */
const VAIN_BLOCKS_MAX = 3;

export function createRereads(clock: Clock): Rereads {
  let vainBlocks = 0;
  return {
    async wait(readings, isRequired, signal) {
      const wait = WAITS_MS[readings];
      if (wait === undefined || (!isRequired && vainBlocks >= VAIN_BLOCKS_MAX)) return false;
      await clock.sleep(wait, signal);
      return true;
    },
    ended(isProven) {
      vainBlocks = isProven ? 0 : vainBlocks + 1;
    },
  };
}
