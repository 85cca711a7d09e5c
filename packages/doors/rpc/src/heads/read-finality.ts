import { parseQuantity } from '@chainstead/core';
import { RpcCallError, UpstreamsExhaustedError } from '../errors.ts';
import type { Failover } from '../failover/failover.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { RequestOptions, UpstreamPool } from '../upstream-pool.ts';
import type { HeadTracker } from './head-tracker.ts';
import type { HeadProbe } from './probe-head.ts';

const NO_TAG = /finalized|commitment|malformed block ?number|invalid block ?hash/i;
const METHOD = 'eth_getBlockByNumber';

/** Only moves forward, bounded by known heads. */
export function createFinalityReader(options: {
  readonly chain: { readonly finalizedTag: boolean };
  readonly failover: Failover;
  readonly probe: HeadProbe;
  readonly heads: HeadTracker;
}): Pick<UpstreamPool, 'getFinalized'> {
  const { chain, failover, probe, heads } = options;
  let finalized: number | null = null;

  async function read(given: RequestOptions, onNoTag: () => void): Promise<number | null> {
    const { value, upstream } = await failover.run(
      {
        method: METHOD,
        async run(requested, signal) {
          const json = await requested.call(METHOD, ['finalized', false], { signal, timeoutMs: given.timeoutMs });
          if (json === null) return null;
          if (typeof json !== 'object' || !('number' in json))
            throw new MalformedAnswerError('A block has no number');
          return parseQuantity(json.number);
        },
        settled(faults) {
          const isAboutTag = faults.every(
            ({ hints, text }) => hints.reaction === 'missing-data' || NO_TAG.test(text),
          );
          if (isAboutTag) onNoTag();
          return isAboutTag;
        },
      },
      given,
    );
    // A value above every known head is wrong, and would block every rollback below it.
    const head = Math.max(probe.last(upstream)?.number ?? 0, heads.bestNumber() ?? 0);
    return value !== null && head > 0 && value > head ? null : value;
  }

  return {
    async getFinalized(given = {}) {
      if (!chain.finalizedTag) return null;
      let hasNoTag = false;
      try {
        const number = await read(given, () => {
          hasNoTag = true;
        });
        if (number !== null) finalized = Math.max(finalized ?? 0, number);
      } catch (error) {
        const isAnswer = error instanceof RpcCallError || (error instanceof UpstreamsExhaustedError && hasNoTag);
        if (!isAnswer) throw error;
      }
      return finalized;
    },
  };
}
