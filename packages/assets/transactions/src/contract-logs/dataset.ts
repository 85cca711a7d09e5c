import type { Chain } from '@chainstead/chains';
import type { ChainId, Log } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { type Dataset, defineTable } from '@chainstead/sync/datasets';
import { type LogRow, logs as table } from './schema.ts';

export const logs: Dataset<LogRow> = {
  name: 'logs',
  topics: () => [],
  table: defineTable(table, { bulkIndexes: ['logs_by_topic'] }),
  decode: (given, { chain }) => given.map((log) => logRow(log, chain.id)),
  wholeBlocks: {
    reads: (chain) => (areAllKept(chain) ? ['transactions'] : []),
    storesSender: () => false,
    decode: ({ transactions }, { chain }) =>
      transactions.flatMap((transaction) => transaction.logs.map((log) => logRow(log, chain.id))),
  },
  histories: {
    ofWallet: () => [],
    ofContract: () => [],
    ofEmitter: (chain, contract) => (areAllKept(chain) ? [] : [{ topics: [], addresses: [contract] }]),
    mayBeCut: true,
  },
};

function areAllKept({ logs: kept }: Chain): boolean {
  return kept === 'all';
}

function logRow(log: Log, chainId: ChainId): LogRow {
  const { address, blockNumber, transactionIndex, logIndex, transactionHash, data } = log;
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return {
    ...{ addressKey: addressKey(address), chainId, blockNumber, transactionIndex, logIndex },
    ...{ transactionHash, address, topic0, topic1, topic2, topic3, data },
  };
}
