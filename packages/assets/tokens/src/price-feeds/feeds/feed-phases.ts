import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, type Hex, isAddress, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { returnedNumber } from '@chainstead/events/abi';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';

export interface FeedPhase {
  readonly aggregator: Address;
  readonly decimals: number;
}

export interface FeedPhasesReader {
  /** Null: the phase is unchanged. Empty: no feed. A feed without phases is an aggregator. */
  read(signal: AbortSignal): Promise<readonly FeedPhase[] | null>;
}

/** Selectors of Chainlink's EACAggregatorProxy. */
export const DECIMALS = '0x313ce567';
export const PHASE_ID = '0x58303b10';
const PHASE_AGGREGATORS = '0xc1597304';

/** uint16: anything larger is no proxy. */
export const PHASE_ID_MAX = 65_535n;
/** Newest phases. Feeds have up to ten; a contract may claim thousands. */
const PHASES_READ_MAX = 100;
export const DECIMALS_MAX = 77n;

export function phaseAggregator(phase: number): Hex {
  return `${PHASE_AGGREGATORS}${phase.toString(16).padStart(64, '0')}`;
}

export function createFeedPhasesReader(pool: UpstreamPool, feed: Pick<PriceFeed, 'proxy'>): FeedPhasesReader {
  let lastPhase: bigint | null = null;

  async function call(data: Hex, signal: AbortSignal): Promise<bigint | null> {
    try {
      const { value } = await pool.request('eth_call', [{ to: feed.proxy, data }, 'latest'], { signal });
      return typeof value === 'string' ? returnedNumber(value) : null;
    } catch (error) {
      // The contract has no such function.
      if (isAnswerOfCall(error)) return null;
      throw error;
    }
  }

  return {
    async read(signal) {
      const phase = await call(PHASE_ID, signal);
      if (phase !== null && phase === lastPhase) return null;
      const decimals = await call(DECIMALS, signal);
      if (decimals === null || decimals > DECIMALS_MAX) return [];
      if (phase === null || phase === 0n || phase > PHASE_ID_MAX)
        return [{ aggregator: feed.proxy, decimals: Number(decimals) }];
      const newest = Number(phase);
      const phases: FeedPhase[] = [];
      for (let id = Math.max(1, newest - PHASES_READ_MAX + 1); id <= newest; id++) {
        const word = await call(phaseAggregator(id), signal);
        if (word === null) continue;
        const text = `0x${word.toString(16).padStart(40, '0')}`;
        if (isAddress(text) && text !== ZERO_ADDRESS)
          phases.push({ aggregator: parseAddress(text), decimals: Number(decimals) });
      }
      lastPhase = phase;
      return phases;
    },
  };
}
