import { UpstreamsExhaustedError } from '@chainstead/rpc';
import { type InternalTransaction, readTraces } from '@chainstead/sync';
import type { ReadBlock } from '../reading/read-block.ts';
import type { SearchTurn } from './search-history.ts';

/** Reads the calls inside a block's transactions. */
export interface CallsReader {
  /** Empty where nobody traces: what moved inside is then all that is ever missing. */
  read(block: ReadBlock, signal: AbortSignal): Promise<readonly InternalTransaction[]>;
}

/** After so many failures it goes on without traces: a node may be unable to execute a block again. */
const TRACE_ATTEMPTS = 3;

/** Asks nobody any more once nobody traces. */
export function createCallsReader({ reading: { chain, pool }, node, attempts }: SearchTurn): CallsReader {
  let isTraced = attempts < TRACE_ATTEMPTS;
  return {
    async read({ proven }, signal) {
      if (!isTraced || proven.block.transactionHashes.length === 0) return [];
      node.count(1);
      try {
        const traced = await readTraces({ chain, pool }, proven, signal);
        if ('calls' in traced) return traced.calls.filter(({ traceAddress }) => traceAddress.length > 0);
      } catch (error) {
        // The state that it takes to execute the block again may be gone where the balances are still known.
        if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
      }
      isTraced = false;
      return [];
    },
  };
}
