import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/token-events';
import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import type { TransactionRecord } from './transaction-record.ts';

const totalSchema = z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '152' }) });

export const blockStatsSchema = z
  .object({ transactions: totalSchema, nft_transfers: totalSchema, token_transfers: totalSchema })
  .openapi('BlockStats');

export interface BlockCounts {
  readonly transactions: number;
  readonly nftTransfers: number;
  readonly tokenTransfers: number;
}

export function showBlockStats(counts: BlockCounts): z.infer<typeof blockStatsSchema> {
  const total = (count: number) => ({ total: String(count) });
  return {
    transactions: total(counts.transactions),
    nft_transfers: total(counts.nftTransfers),
    token_transfers: total(counts.tokenTransfers),
  };
}

export function countBlock(
  chain: Chain,
  { block, transactions }: { readonly block: BlockRecord; readonly transactions: readonly TransactionRecord[] },
): BlockCounts {
  const logs = transactions.flatMap((transaction) => logsOf(transaction, block));
  return {
    transactions: transactions.length,
    nftTransfers: decodeNftTransfers(logs, chain).transfers.length,
    tokenTransfers: logs.filter((log) => decodeErc20Transfer(log, chain) !== null).length,
  };
}

function logsOf({ hash, index: transactionIndex, logs }: TransactionRecord, block: BlockRecord): Log[] {
  return logs.map(({ index, address, topics, data }) => ({
    address: address as Address,
    topics: topics as Hash[],
    data: data as Hex,
    blockNumber: block.number,
    blockHash: block.hash as Hash,
    blockTimestamp: block.timestamp,
    transactionHash: hash as Hash,
    transactionIndex,
    logIndex: index,
  }));
}
