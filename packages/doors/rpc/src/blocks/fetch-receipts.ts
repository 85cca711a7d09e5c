import type { Chain } from '@chainstead/chains';
import type { Block, Hash, Receipt } from '@chainstead/core';
import type { Failover } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import type { Answer, RequestOptions, WholeBlockOptions } from '../upstream-pool.ts';
import { BlockSize } from './read-in-parts.ts';
import { BLOCK_RECEIPTS, type FetchedBlock, readReceipts, readWhole, startReading } from './read-receipts.ts';

interface ReceiptFetcher {
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  getWholeBlock(at: number | Hash, options?: WholeBlockOptions): Promise<Answer<FetchedBlock> | null>;
}

const NULL_PATIENCE = 3;

export function createReceiptFetcher(options: {
  readonly failover: Failover;
  readonly chain: Pick<Chain, 'key' | 'receiptsRoot'>;
}): ReceiptFetcher {
  const { failover, chain } = options;
  return {
    getReceipts(block, given = {}) {
      const earlier = startReading();
      const { timeoutMs, background } = given;
      return failover.run(
        {
          method: BLOCK_RECEIPTS,
          isRepeatable: true,
          run: (upstream, signal) =>
            readReceipts({
              ...{ chain, upstream, earlier, block },
              size: new BlockSize(block.header.number, upstream, undefined),
              given: { signal, timeoutMs, rank: background === true ? 'history' : 'follow' },
            }),
        },
        given,
      );
    },
    async getWholeBlock(at, given = {}) {
      const { transactions, timeoutMs, bytesMax, isLarge, background } = given;
      const earlier = startReading();
      const answer = await runNullable<FetchedBlock>(
        failover,
        {
          method: 'eth_getBlockByNumber',
          isRepeatable: true,
          patience: NULL_PATIENCE,
          countNull: typeof at === 'number',
          ...(typeof at === 'number' ? { block: at } : {}),
          run: (upstream, signal) =>
            readWhole({ chain, upstream, earlier }, at, {
              ...{ transactions, bytesMax, isLarge, signal, timeoutMs },
              rank: background === true ? 'history' : 'follow',
            }),
        },
        given,
      );
      return answer.value === null ? null : { value: answer.value, upstream: answer.upstream };
    },
  };
}
