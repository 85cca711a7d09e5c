import type { Clock } from '@chainstead/core';

/** Delays before a block that contradicts its own header is read again. Gives up on a chain if they never help. */
export interface Rereads {
  /**
   * @param readings number of repeated reads so far
   * @param isRequired the block may not be stored unproven: never gives up early
   * @returns false: the block is not to be read again
   */
  wait(readings: number, isRequired: boolean, signal: AbortSignal | undefined): Promise<boolean>;
  /** True if the contents of a block match its header. */
  ended(isProven: boolean): void;
}

/** Nodes briefly serve receipts without their logs. */
const WAITS_MS = [100, 200, 400, 800, 1_600];
/** A chain with its own form of roots contradicts every header: this many blocks in a row prove that. */
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
