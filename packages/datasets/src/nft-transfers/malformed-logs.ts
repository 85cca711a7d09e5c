import type { Address, Hash } from '@chainstead/core';
import { copyHex } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';
import { readNftLogs } from '../nft-events/decode-nft-movements.ts';
import type { MalformedNftLog, MalformedReason } from '../nft-events/movement.ts';
import { nftTransferTopics } from '../nft-events/topics.ts';

/** A log that names an event of NFTs and could not be read, as the table holds it (schema.ts). */
export interface NftMalformedLogRow {
  readonly tokenAddress: Address;
  readonly chainId: number;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly transactionHash: Hash;
  readonly reason: MalformedReason;
}

/** Logs of NFT events that no transfer was made of: counted, so that nothing is left out in silence. */
export const nftMalformedLogs: Dataset<NftMalformedLogRow> = {
  name: 'nft-malformed-logs',
  topics: nftTransferTopics,
  table: 'nft_malformed_logs',
  columns: [
    'token_address',
    'chain_id',
    'block_number',
    'transaction_index',
    'log_index',
    'transaction_hash',
    'reason',
  ],
  key: ['token_address', 'chain_id', 'block_number', 'transaction_index', 'log_index'],
  decode: (logs, { chain }) => {
    const rows: NftMalformedLogRow[] = [];
    for (const read of readNftLogs(logs, chain)) if ('reason' in read) rows.push(toRow(read, chain.id));
    return rows;
  },
  copyLine: (row) =>
    [
      copyHex(row.tokenAddress),
      row.chainId,
      row.blockNumber,
      row.transactionIndex,
      row.logIndex,
      copyHex(row.transactionHash),
      row.reason,
    ].join('\t'),
};

function toRow({ log, reason }: MalformedNftLog, chainId: number): NftMalformedLogRow {
  return {
    tokenAddress: log.address,
    chainId,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    transactionHash: log.transactionHash,
    reason,
  };
}
