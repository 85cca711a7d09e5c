import type { Chain } from '@chainstead/chains';
import type { Failover } from '../failover/failover.ts';
import type { UpstreamPool } from '../upstream-pool.ts';
import { callOptions, runAt } from './fetch-blocks.ts';
import { BlockSize } from './read-in-parts.ts';
import { BLOCK_RECEIPTS, type FetchedBlock, readReceipts, readWhole, startReading } from './read-receipts.ts';

export function createReceiptFetcher(options: {
  readonly failover: Failover;
  readonly chain: Pick<Chain, 'key' | 'receiptsRoot'>;
}): Pick<UpstreamPool, 'getReceipts' | 'getWholeBlock'> {
  const { failover, chain } = options;
  return {
    getReceipts(block, given = {}) {
      const earlier = startReading();
      return failover.run(
        {
          method: BLOCK_RECEIPTS,
          isRepeatable: true,
          run: (upstream, signal) =>
            readReceipts({
              ...{ chain, upstream, earlier, block },
              size: new BlockSize(block.header.number, upstream, undefined),
              given: callOptions(given, signal),
            }),
        },
        given,
      );
    },
    getWholeBlock(at, given = {}) {
      const { transactions, bytesMax, isLarge } = given;
      const earlier = startReading();
      return runAt<FetchedBlock>(failover, at, given, (upstream, options) =>
        readWhole({ chain, upstream, earlier }, at, { transactions, bytesMax, isLarge, ...options }),
      );
    },
  };
}
