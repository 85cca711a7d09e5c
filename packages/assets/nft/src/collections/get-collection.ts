import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { collectionFacts } from './collection-facts-statement.ts';
import { COLLECTION_COLUMNS, type CollectionFields } from './collection-fields.ts';

export interface Collection extends CollectionFields {
  readonly status: 'pending' | 'known' | 'not-nft' | 'not-contract' | 'failed' | null;
  /** As read, or named by an imported list, or shown by its events. */
  readonly isNft: boolean;
  readonly isRefusalOver: boolean;
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly baseUri: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  readonly syncedAt: Date | null;
}

export async function getCollection(
  database: ReadDatabase,
  chainId: ChainId,
  address: Address,
): Promise<Collection> {
  const [row] = await database.select<Collection>(sql`
SELECT own.status, own.base_uri, own.synced_at, ${FIELDS}, facts.verified,
  facts.contract_type, facts.possible_spam,
  coalesce(own.status = 'known', false) OR coalesce(token.seen_as, 0) & 6 <> 0 OR coalesce(token.standard IN ('erc721', 'erc1155'), false)
    OR EXISTS (SELECT FROM collection_list_entries AS entry WHERE entry.token_address = requested.address AND entry.chain_id = requested.chain_id) AS "isNft",
  coalesce(own.due_at <= now(), true) AS "isRefusalOver"
FROM (SELECT ${addressBytes(address)}::bytea AS address, ${chainId}::bigint AS chain_id) AS requested
LEFT JOIN nft_collections AS own ON own.token_address = requested.address AND own.chain_id = requested.chain_id
LEFT JOIN tokens AS token ON token.address = requested.address AND token.chain_id = requested.chain_id
CROSS JOIN LATERAL ${collectionFacts('requested.address', rawSql('requested.chain_id'))} AS facts`);
  if (row === undefined) throw new Error('The statement gives one row');
  return row;
}

const FIELDS = joinSql(COLLECTION_COLUMNS.map(([, column]) => rawSql(`facts.${column}`)));
