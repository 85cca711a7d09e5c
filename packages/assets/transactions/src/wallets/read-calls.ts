import { UpstreamsExhaustedError } from '@chainstead/rpc';
import { readTraces } from '@chainstead/sync';
import type { InternalTransaction } from '@chainstead/sync/datasets';
import type { ReadBlock } from '../reading/read-block.ts';
import type { SearchTurn } from './search-history.ts';

export interface CallsReader {
  read(block: ReadBlock, signal: AbortSignal): Promise<readonly InternalTransaction[]>;
}

/** After these failures it continues without traces: nodes may be unable to execute a block. */
const TRACE_ATTEMPTS = 3;

/** Makes no more calls once no node traces. */
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
        // The state to execute a block may be pruned while balances are known.
        if (!(error instanceof UpstreamsExhaustedError && error.isPruned)) throw error;
      }
      isTraced = false;
      return [];
    },
  };
}
