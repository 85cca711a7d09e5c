import type { Chain } from '@chainstead/chains';
import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { NFT_TRANSFER_KINDS, type NftTransferKind } from '@chainstead/events/token-events';
import { addressOf, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { nftTransfers } from '../../transfers/dataset.ts';
import type { NftTransferRow } from '../../transfers/schema.ts';

export const ALICE = addressOf(0xa11ce);
export const BOB = addressOf(0xb0b);
export const APES = addressOf(0xa9e5);
export const CARDS = addressOf(0xca4d5);

/** A transfer to seed. Default: Alice sends Bob her ape 7. */
export interface SeededMove {
  readonly token?: Address;
  readonly id?: string;
  /** Last id of the mint of a range. */
  readonly last?: string;
  readonly from?: Address;
  readonly to?: Address;
  readonly amount?: string;
  readonly operator?: Address;
  readonly kind?: NftTransferKind;
  readonly blockNumber: number;
  readonly transactionIndex?: number;
  readonly logIndex?: number;
  readonly item?: number;
}

/** One transfer in each of these blocks. */
export function movesIn(first: number, last: number, facts: Omit<SeededMove, 'blockNumber'> = {}): SeededMove[] {
  return Array.from({ length: last - first + 1 }, (_, index) => ({ ...facts, blockNumber: first + index }));
}

/** A mint of ids from `id` to `last` that is stored as a range. */
export function rangeIn(
  blockNumber: number,
  id: string,
  last: string,
  facts: Partial<SeededMove> = {},
): SeededMove {
  return { kind: NFT_TRANSFER_KINDS.consecutive, from: ZERO_ADDRESS, id, last, ...facts, blockNumber };
}

/** Writes transfers with the rows of their blocks, into one partition unless the chain has any. Writes no coverage. */
export async function seedMoves(database: Database, chain: Chain, moves: readonly SeededMove[]): Promise<void> {
  await seedRows(
    database,
    chain,
    moves.map((move) => rowOf(chain, move)),
  );
}

async function seedRows(database: Database, chain: Chain, rows: readonly NftTransferRow[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await createPartitions(transaction, 'nft_transfers', chain.id);
    const { table } = nftTransfers;
    await transaction.copy(
      table.name,
      table.columns,
      rows.map((row) => table.copyLine(row)),
    );
    const numbers = [...new Set(rows.map((row) => row.blockNumber))];
    await transaction.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT ${chain.id}, * FROM unnest(${numbers}::bigint[], ${numbers.map((number) => hexBytes(hashOf(1, number)))}::bytea[], ${numbers.map((number) => new Date(timestampOf(number) * 1000).toISOString())}::timestamptz[]) ON CONFLICT DO NOTHING`,
    );
  });
}

function rowOf(chain: Chain, move: SeededMove): NftTransferRow {
  const { token = APES, id = '7', blockNumber, transactionIndex = 0 } = move;
  return {
    collectionKey: addressKey(token),
    chainId: chain.id,
    blockNumber,
    transactionIndex,
    logIndex: move.logIndex ?? 0,
    item: move.item ?? 0,
    kind: move.kind ?? NFT_TRANSFER_KINDS.erc721,
    tokenAddress: token,
    tokenId: id,
    lastTokenId: move.last ?? null,
    fromAddress: move.from ?? ALICE,
    toAddress: move.to ?? BOB,
    amount: move.amount ?? '1',
    operator: move.operator ?? null,
    transactionHash: hashOf(2, blockNumber * 1_000 + transactionIndex),
  };
}

/** The same for logs, as the engine decodes them. */
export async function seedNftLogs(database: Database, chain: Chain, logs: readonly Log[]): Promise<void> {
  await seedRows(database, chain, nftTransfers.decode(logs, { chain, timestampOf }));
}
