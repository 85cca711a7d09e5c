import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/token-events';
import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import type { TransactionRecord } from './transaction-record.ts';

const totalSchema = z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '152' }) });

/** How many transactions and transfers a block has (docs/provider-contract.md#blocks). */
export const blockStatsSchema = z
  .object({ transactions: totalSchema, nft_transfers: totalSchema, token_transfers: totalSchema })
  .openapi('BlockStats');

/** Counts what the block's logs say of tokens, as the datasets of transfers do. */
export function showBlockStats(
  chain: Chain,
  { block, transactions }: { readonly block: BlockRecord; readonly transactions: readonly TransactionRecord[] },
): z.infer<typeof blockStatsSchema> {
  const logs = transactions.flatMap((one) => logsOf(one, block));
  const total = (count: number) => ({ total: String(count) });
  return {
    transactions: total(transactions.length),
    nft_transfers: total(decodeNftTransfers(logs, chain).transfers.length),
    token_transfers: total(logs.filter((log) => decodeErc20Transfer(log, chain) !== null).length),
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
