/** A final answer stays permanently only if two upstreams return it: one may answer for another chain for a while. */
import { type Clock, getOrCompute, type Logger, type Registry, systemClock, within } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ForwardingPool } from '@chainstead/rpc';
import { createAnswerCache } from '../cache/answer-cache.ts';
import { createAnswerStore } from '../cache/answer-store.ts';
import { createStoredAnswers } from '../cache/stored-answers.ts';
import type { GatewayChain } from '../call.ts';
import { createHeadFloor, type HeadFloor } from '../heads/head-floor.ts';
import { createHeadStore } from '../heads/head-store.ts';
import { createAnswerCall } from './handle-call.ts';

interface CallHandlerSettings {
  readonly memoryBytes?: number;
  readonly storedDays?: number;
  readonly storedBytes?: number;
  /** Wait for the store until calls do without it. @default 1000 for the head, 250 for responses */
  readonly storeTimeoutMs?: number;
  /** Per `eth_getFilterChanges`; one block may exceed it. @default 16,000,000 */
  readonly filterCharacters?: number;
}

export interface CallHandlerOptions {
  readonly database: Database;
  readonly settings?: CallHandlerSettings;
  readonly strictForward: (chain: GatewayChain) => ForwardingPool['forward'];
  readonly clientVersion: string;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
}

/** At the end, for second upstreams that confirm final responses. */
const CONFIRMATIONS_MS = 1_000;

export function createCallHandler(options: CallHandlerOptions) {
  const { database, settings = {}, logger, clock = systemClock } = options;
  const limits = { ...given('days', settings.storedDays), ...given('bytes', settings.storedBytes) };
  const heads = createHeadStore({ database });
  const store = createAnswerStore({ database, limits });
  const stored = createStoredAnswers({
    store,
    clock,
    logger,
    ...given('readTimeoutMs', settings.storeTimeoutMs),
  });
  const floors = new Map<GatewayChain, HeadFloor>();
  function headFloor(offered: GatewayChain): HeadFloor {
    const { chain, pool, pinsHead } = offered;
    const store = pinsHead ? heads : null;
    return getOrCompute(floors, offered, () =>
      createHeadFloor({ chain, pool, store, logger, clock, ...given('storeTimeoutMs', settings.storeTimeoutMs) }),
    );
  }
  const confirmations = new Set<Promise<void>>();
  const answer = createAnswerCall({
    confirmations,
    headFloor,
    cache: createAnswerCache({ stored, clock, ...given('bytesMax', settings.memoryBytes) }),
    forwardOf: (chain) =>
      chain.integrity === 'strict'
        ? options.strictForward(chain)
        : (call, given) => chain.pool.forward(call, given),
    clientVersion: options.clientVersion,
    logger,
    metrics: options.metrics,
  });
  return {
    answer,
    headFloor,
    /** Writes pending responses. The database stays open. */
    async close(): Promise<void> {
      for (const floor of floors.values()) floor.close();
      await within(CONFIRMATIONS_MS, Promise.all(confirmations), () => undefined);
      await stored.close();
    },
  };
}

function given<Name extends string>(name: Name, value: number | undefined): Partial<Record<Name, number>> {
  const option: Partial<Record<string, number>> = value === undefined ? {} : { [name]: value };
  return option;
}
