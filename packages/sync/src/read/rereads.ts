import type { Clock } from '@chainstead/core';

/** Delays before a block that contradicts its own header is read again. Gives up on a chain if they never help. */
export interface Rereads {
  /**
   * Waits before the next read of a block.
   *
   * @param readings number of repeated reads so far
   * @param isRequired whether the block may not be stored unproven: then it never gives up early
   * @returns whether to read it again
   */
  wait(readings: number, isRequired: boolean, signal: AbortSignal | undefined): Promise<boolean>;
  /** Reports the result of a block: `true` if its contents match its header. */
  ended(isProven: boolean): void;
}

/** Milliseconds. Nodes briefly serve receipts without their logs. */
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
