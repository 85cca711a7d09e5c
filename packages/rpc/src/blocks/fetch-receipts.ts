import type { Block, Hash, Receipt } from '@chainstead/core';
import type { Failover } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';
import { BLOCK_RECEIPTS, type BlockWithReceipts, readReceipts, readWhole } from './read-receipts.ts';

/** Fetches the receipts of blocks and checks each set against its block. */
export interface ReceiptFetcher {
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  getWholeBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<BlockWithReceipts> | null>;
}

const NULL_PATIENCE = 3;

/** Prefers `eth_getBlockReceipts` and falls back to one call per transaction. */
export function createReceiptFetcher(options: {
  readonly failover: Failover;
  readonly chain: { readonly receiptsRoot: string };
}): ReceiptFetcher {
  const { failover, chain } = options;
  return {
    getReceipts(block, given = {}) {
      const withoutList = new Set<string>();
      const { timeoutMs, background } = given;
      return failover.run(
        {
          method: BLOCK_RECEIPTS,
          isRepeatable: true,
          run: (upstream, signal) =>
            readReceipts({
              chain,
              upstream,
              withoutList,
              block,
              given: { signal, timeoutMs, urgent: background !== true },
            }),
        },
        given,
      );
    },
    async getWholeBlock(at, given = {}) {
      const { transactions, timeoutMs, background } = given;
      const withoutList = new Set<string>();
      const answer = await runNullable<BlockWithReceipts>(
        failover,
        {
          method: 'eth_getBlockByNumber',
          isRepeatable: true,
          patience: NULL_PATIENCE,
          countNull: typeof at === 'number',
          ...(typeof at === 'number' ? { block: at } : {}),
          run: (upstream, signal) =>
            readWhole({ chain, upstream, withoutList }, at, {
              transactions,
              signal,
              timeoutMs,
              urgent: background !== true,
            }),
        },
        given,
      );
      return answer.value === null ? null : { value: answer.value, upstream: answer.upstream };
    },
  };
}
