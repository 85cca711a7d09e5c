import type { Address, Hash } from '@chainstead/core';
import { COPY_NULL, copyHex } from '@chainstead/db';
import type { Dataset, MentionedContract } from '@chainstead/sync';
import { readNftLogs } from '../nft-events/decode-nft-movements.ts';
import { MOVEMENT_KINDS, type MovementKind, type NftMovement } from '../nft-events/movement.ts';
import { nftTransferTopics } from '../nft-events/topics.ts';
import { createBlockTimes } from '../timestamp-text.ts';
import { nftBalances } from './balances.ts';
import { nftHistories } from './histories.ts';

/** One token, or an amount of one, that moved, as the table holds it (schema.ts). Hexadecimal text is lower case. */
export interface NftTransferRow {
  readonly tokenAddress: Address;
  readonly chainId: number;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** Place within the log, from 0. */
  readonly item: number;
  readonly kind: MovementKind;
  /** Decimal digits, as `lastTokenId` and `amount`. */
  readonly tokenId: string;
  readonly lastTokenId: string | null;
  readonly fromAddress: Address;
  readonly toAddress: Address;
  readonly amount: string;
  readonly operator: Address | null;
  readonly transactionHash: Hash;
  readonly blockHash: Hash;
  /** ISO 8601 UTC with whole seconds, made once a block. */
  readonly blockTimestamp: string;
}

/**
 * NFT transfers, one row for each token that moves; mints and burns have the zero address on their open side. Self-transfers
 * and amounts of zero are rows like all others. What the rows add up to, balances and holdings, is kept beside them.
 */
export const nftTransfers: Dataset<NftTransferRow> = {
  name: 'nft-transfers',
  topics: nftTransferTopics,
  table: 'nft_transfers',
  columns: [
    'token_address',
    'chain_id',
    'block_number',
    'transaction_index',
    'log_index',
    'item',
    'kind',
    'token_id',
    'last_token_id',
    'from_address',
    'to_address',
    'amount',
    'operator',
    'transaction_hash',
    'block_hash',
    'block_timestamp',
  ],
  key: ['token_address', 'chain_id', 'block_number', 'transaction_index', 'log_index', 'item'],
  bulkIndexes: [
    {
      name: 'nft_transfers_by_token',
      definition:
        'ON nft_transfers USING btree (token_address, chain_id, token_id, block_number, transaction_index, log_index, item)',
    },
  ],
  decode: (logs, context) => [...eachRow(logs, context)],
  eachRow,
  copyLine,
  contracts,
  derived: nftBalances,
  histories: nftHistories,
};

function* eachRow(...[logs, context]: Parameters<Dataset['decode']>): Generator<NftTransferRow> {
  const times = createBlockTimes(context);
  for (const read of readNftLogs(logs, context.chain))
    if (!('reason' in read)) yield toRow(read, context.chain.id, times(read.log.blockNumber));
}

function toRow(movement: NftMovement, chainId: number, blockTimestamp: string): NftTransferRow {
  const { log } = movement;
  return {
    tokenAddress: movement.token,
    chainId,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    item: movement.item,
    kind: movement.kind,
    tokenId: movement.tokenId,
    lastTokenId: movement.lastTokenId,
    fromAddress: movement.from,
    toAddress: movement.to,
    amount: movement.amount,
    operator: movement.operator,
    transactionHash: log.transactionHash,
    blockHash: log.blockHash,
    blockTimestamp,
  };
}

function copyLine(row: NftTransferRow): string {
  return [
    copyHex(row.tokenAddress),
    row.chainId,
    row.blockNumber,
    row.transactionIndex,
    row.logIndex,
    row.item,
    row.kind,
    row.tokenId,
    row.lastTokenId ?? COPY_NULL,
    copyHex(row.fromAddress),
    copyHex(row.toAddress),
    row.amount,
    row.operator === null ? COPY_NULL : copyHex(row.operator),
    copyHex(row.transactionHash),
    copyHex(row.blockHash),
    row.blockTimestamp,
  ].join('\t');
}

function* contracts(rows: readonly NftTransferRow[]): Generator<MentionedContract> {
  const seen = { erc721: new Set<Address>(), erc1155: new Set<Address>() };
  for (const { tokenAddress: address, kind } of rows) {
    const standard = isErc1155(kind) ? 'erc1155' : 'erc721';
    if (seen[standard].has(address)) continue;
    seen[standard].add(address);
    yield { address, standard };
  }
}

function isErc1155(kind: MovementKind): boolean {
  return kind === MOVEMENT_KINDS.erc1155Single || kind === MOVEMENT_KINDS.erc1155Batch;
}
