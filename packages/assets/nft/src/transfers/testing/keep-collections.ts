import type { Chain } from '@chainstead/chains';
import { type Address, waitingAtMost } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS, type NftTransferKind } from '@chainstead/events/token-events';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { nftCollectionOwners } from '../collection-owners.ts';
import { nftTransfers } from '../dataset.ts';
import { type MovedIn, storedCollections, summedCollections } from './summed-collections.ts';

/** Requests a collection's owners, so that they are maintained from now on. */
export async function keepCollection(database: Database, chain: Chain, collection: Address): Promise<void> {
  const of = { dataset: nftTransfers, state: nftCollectionOwners };
  const projections = createSubjectProjections(database);
  const progress = await waitingAtMost(60_000, () => projections.keep(chain, of, collection));
  if (progress !== 'built') throw new Error(`Who holds ${collection} is not counted: ${progress}`);
}

/**
 * Returns the owners of every collection that ever moved on the chain: stored, and computed from the stored transfers.
 */
export async function comparedCollections(
  database: Database,
  chain: Chain,
): Promise<{ readonly stored: string[]; readonly expected: string[] }> {
  const rows = await database.query<StoredMove>(
    sql`SELECT block_number, ${hexText('token_address')} AS token, token_id, last_token_id, ${hexText('from_address')} AS from,
       ${hexText('to_address')} AS to, amount, kind FROM nft_transfers WHERE chain_id = ${chain.id}
     ORDER BY block_number, transaction_index, log_index, item`,
  );
  for (const collection of new Set(rows.map(({ token }) => token)))
    await keepCollection(database, chain, collection);
  return { stored: await storedCollections(database, chain.id), expected: summedCollections(rows.map(toMove)) };
}

interface StoredMove {
  readonly blockNumber: number;
  readonly token: Address;
  readonly tokenId: string;
  readonly lastTokenId: string | null;
  readonly from: Address;
  readonly to: Address;
  readonly amount: string;
  readonly kind: NftTransferKind;
}

const SEVERAL: readonly NftTransferKind[] = [NFT_TRANSFER_KINDS.erc1155Single, NFT_TRANSFER_KINDS.erc1155Batch];

function toMove({ blockNumber, token, tokenId, lastTokenId, from, to, amount, kind }: StoredMove): MovedIn {
  const move = { token, id: BigInt(tokenId), from, to, amount: BigInt(amount) };
  return {
    block: blockNumber,
    isSingle: !SEVERAL.includes(kind),
    move: lastTokenId === null ? move : { ...move, last: BigInt(lastTokenId) },
  };
}
