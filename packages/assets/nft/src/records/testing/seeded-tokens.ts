import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { createPartitions, hashOf } from '@chainstead/testkit';

/** One transfer; a mint without a sender, a burn without a receiver. */
export interface SeededMove {
  readonly token: Address;
  readonly id: string;
  readonly block: number;
  /** Default: none. */
  readonly from?: Address;
  readonly to?: Address;
  /** Default: 1. */
  readonly amount?: string;
  /** Default: ERC-721. */
  readonly kind?: keyof typeof NFT_TRANSFER_KINDS;
  /** Last id of a range. */
  readonly last?: string;
}

/** The transaction of a seeded block's transfers. */
export function transactionOf(block: number): Hash {
  return hashOf(9, block);
}

/** Inserts rows as the sync engine does, each in a separate log. */
export async function seedMoves(database: Database, chain: Chain, moves: readonly SeededMove[]): Promise<void> {
  await createPartitions(database, 'nft_transfers', chain.id);
  const column = <Value>(read: (move: SeededMove) => Value): Value[] => moves.map(read);
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
       last_token_id, from_address, to_address, amount, operator, transaction_hash)
     SELECT address_key(token), ${chain.id}, block, 0, place, 0, kind, token, id, last, giver, receiver, amount, NULL, hash
     FROM unnest(${column(({ token }) => addressBytes(token))}::bytea[], ${column(({ id }) => id)}::numeric[], ${column(({ last }) => last ?? null)}::numeric[], ${column(({ from }) => addressBytes(from ?? ZERO_ADDRESS))}::bytea[], ${column(({ to }) => addressBytes(to ?? ZERO_ADDRESS))}::bytea[], ${column(({ amount }) => amount ?? '1')}::numeric[], ${column(({ kind }) => NFT_TRANSFER_KINDS[kind ?? 'erc721'])}::smallint[], ${column(({ block }) => block)}::int[], ${column(({ block }) => hexBytes(transactionOf(block)))}::bytea[])
       WITH ORDINALITY AS moved(token, id, last, giver, receiver, amount, kind, block, hash, place)`,
  );
}

/** The metadata of a token. */
export async function seedMetadata(
  database: Database,
  chain: Chain,
  token: { readonly address: Address; readonly id: string },
  read: { readonly uri?: string; readonly text?: string; readonly status?: string },
): Promise<void> {
  await database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, token_uri, metadata, synced_at, uri_synced_at)
     VALUES (${addressBytes(token.address)}, ${chain.id}, ${token.id}::numeric, ${read.status ?? 'known'}, ${read.uri ?? null}, ${read.text ?? null}, '2024-01-02T03:04:05.678Z', '2024-01-02T03:04:05Z')`,
  );
}
