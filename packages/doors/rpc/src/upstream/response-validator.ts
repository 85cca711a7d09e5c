import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { RequestAbortedError, RpcCallError, UpstreamFault } from '../errors.ts';
import type { UpstreamState } from '../upstream-state.ts';

const AGAIN_MS = 100;

/** Unhealthy, or only refused a client's call? Shared by concurrent callers. Never rejects. */
export function createOwnCheck(options: {
  readonly state: UpstreamState;
  readonly ask: () => Promise<unknown>;
  readonly chain: { readonly key: string };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}): () => Promise<void> {
  const { state, ask, chain, clock, logger, closing } = options;
  let asking: Promise<boolean> | null = null;
  let isRepeating = false;

  async function requestOnce(): Promise<boolean> {
    if (closing.aborted || state.waitMs() !== 0) return true;
    try {
      await ask();
    } catch (error) {
      if (error instanceof UpstreamFault) return false;
      const facts = { chain: chain.key, upstream: state.name, error: errorText(error) };
      const isExpected = error instanceof RpcCallError || error instanceof RequestAbortedError;
      if (!isExpected) logger.error(facts, 'Check of an upstream failed');
    }
    return true;
  }

  function requestShared(): Promise<boolean> {
    asking ??= requestOnce().finally(() => {
      asking = null;
    });
    return asking;
  }

  async function repeat(): Promise<void> {
    isRepeating = true;
    do await sleepUnlessAborted(clock, AGAIN_MS, closing);
    while (!(await requestShared()));
    isRepeating = false;
  }

  return async () => {
    if (!(await requestShared()) && !isRepeating) void repeat();
  };
}
