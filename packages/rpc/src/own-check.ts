import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { RequestAbortedError, RpcCallError, UpstreamFault } from './errors.ts';
import type { UpstreamState } from './upstream-state.ts';

/** Finds out with a call of our own whether an upstream is ill, or only did not like what somebody else asked. */
export interface OwnCheck {
  /**
   * Settles after one call of our own, whose outcome is in the state then; at once where the upstream may not be asked
   * anyway. While such calls fail they go on in the background, until one is answered or the state rules the upstream out.
   * Callers at the same time share the call. Never rejects.
   */
  check(): Promise<void>;
}

/** Between two calls of a check that fails, milliseconds. */
const AGAIN_MS = 100;

/** @param options.ask the call, which tells the state what came of it */
export function createOwnCheck(options: {
  readonly state: UpstreamState;
  readonly ask: () => Promise<unknown>;
  readonly chain: { readonly key: string };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the upstream is closed. */
  readonly closing: AbortSignal;
}): OwnCheck {
  const { state, ask, chain, clock, logger, closing } = options;
  let asking: Promise<boolean> | null = null;
  let isRepeating = false;

  /** @returns whether there is nothing more to find out */
  async function askOnce(): Promise<boolean> {
    if (closing.aborted || state.waitMs() !== 0) return true;
    try {
      await ask();
    } catch (error) {
      if (error instanceof UpstreamFault) return false;
      if (!(error instanceof RpcCallError || error instanceof RequestAbortedError))
        logger.error(
          { chain: chain.key, upstream: state.name, error: errorText(error) },
          'Check of an upstream failed',
        );
    }
    return true;
  }

  function askShared(): Promise<boolean> {
    asking ??= askOnce().finally(() => {
      asking = null;
    });
    return asking;
  }

  async function repeat(): Promise<void> {
    isRepeating = true;
    do await sleepUnlessAborted(clock, AGAIN_MS, closing);
    while (!(await askShared()));
    isRepeating = false;
  }

  return {
    async check() {
      if (!(await askShared()) && !isRepeating) void repeat();
    },
  };
}
