import { type MalformedNftLog, nftTransferTopics, readNftLogs } from '@chainstead/events/token-events';
import { type Dataset, defineTable } from '@chainstead/sync/datasets';
import { type NftMalformedLogRow, nftMalformedLogs as table } from './schema.ts';

/** Logs that yielded no transfer: counted, so that none is dropped silently. */
export const nftMalformedLogs: Dataset<NftMalformedLogRow> = {
  name: 'nft-malformed-logs',
  topics: nftTransferTopics,
  table: defineTable(table),
  decode: (logs, { chain }) => {
    const rows: NftMalformedLogRow[] = [];
    for (const read of readNftLogs(logs, chain)) if ('reason' in read) rows.push(toRow(read, chain.id));
    return rows;
  },
};

function toRow({ log, reason }: MalformedNftLog, chainId: number): NftMalformedLogRow {
  const { address, blockNumber, transactionIndex, logIndex, transactionHash } = log;
  return { tokenAddress: address, chainId, blockNumber, transactionIndex, logIndex, transactionHash, reason };
}
