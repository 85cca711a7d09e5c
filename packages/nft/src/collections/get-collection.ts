import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type ReadDatabase } from '@chainstead/db';
import { COLLECTION_COLUMNS, type CollectionFields } from './collection-fields.ts';

/** What is known of a contract, from everywhere. */
export interface Collection extends CollectionFields {
  /** Of its row; null where nobody has asked for it yet. */
  readonly status: 'pending' | 'known' | 'not-nft' | 'not-contract' | 'failed' | null;
  /** Whether it has been read, an imported list names it, or its events showed an NFT. */
  readonly isNft: boolean;
  /** Whether a refusal (not an NFT, not a contract) has ended. */
  readonly isRefusalOver: boolean;
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly baseUri: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  readonly syncedAt: Date | null;
}

/**
 * A collection with what is known of it. Of every field the first source decides that says something: imported lists (by name of
 * the source), the contract's document, its own `name()` and `symbol()`, the token's metadata.
 */
export async function getCollection(database: ReadDatabase, chainId: ChainId, address: Address): Promise<Collection> {
  const [row] = await database.select<CollectionRow>(STATEMENT, [addressBytes(address), chainId]);
  if (row === undefined) throw new Error('The statement gives one row');
  const { verified, possible_spam, ...shown } = row;
  return {
    ...shown,
    verified: verified ?? false,
    possibleSpam: possible_spam ?? false,
  };
}

type CollectionRow = Omit<Collection, 'verified' | 'possibleSpam'> & {
  readonly verified: boolean | null;
  readonly possible_spam: boolean | null;
};

/** The columns of an entry that say something, of the first source by name. */
const LIST_COLUMNS = [...COLLECTION_COLUMNS.map(([, column]) => column), 'verified', 'possible_spam'];

const FIELDS = COLLECTION_COLUMNS.map(([field, column]) => {
  const sources = [`list.${column}`, `own.${column}`];
  if (column === 'name' || column === 'symbol') sources.push(`token.${column}`);
  return `coalesce(${sources.join(', ')}) AS "${field}"`;
}).join(', ');

const STATEMENT = `
SELECT own.status, own.base_uri AS "baseUri", own.synced_at AS "syncedAt", ${FIELDS},
  coalesce(own.status = 'known', false) OR list.entries > 0 OR coalesce(token.seen_as, 0) & 6 <> 0
    OR coalesce(token.standard IN ('erc721', 'erc1155'), false) AS "isNft",
  coalesce(own.due_at <= now(), true) AS "isRefusalOver",
  coalesce(own.contract_type, CASE
    WHEN token.standard IN ('erc721', 'erc1155') THEN upper(token.standard)
    WHEN token.seen_as & 2 <> 0 THEN 'ERC721'
    WHEN token.seen_as & 4 <> 0 THEN 'ERC1155' END) AS "contractType",
  coalesce(list.verified, token.verified) AS verified,
  -- A list of scams counts always, the rule for names only where no list knows better.
  EXISTS (SELECT FROM spam_list_entries AS spam WHERE spam.address = asked.address AND spam.chain_id IN (asked.chain_id, 0))
    OR coalesce(list.possible_spam, CASE WHEN list.verified THEN false END, token.possible_spam, false) AS possible_spam
FROM (SELECT $1::bytea AS address, $2::bigint AS chain_id) AS asked
LEFT JOIN nft_collections AS own ON own.token_address = asked.address AND own.chain_id = asked.chain_id
LEFT JOIN tokens AS token ON token.address = asked.address AND token.chain_id = asked.chain_id
CROSS JOIN LATERAL (
  SELECT count(*) AS entries, ${LIST_COLUMNS.map((column) => `(array_agg(${column} ORDER BY source) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`).join(', ')}
  FROM collection_list_entries AS entry WHERE entry.token_address = asked.address AND entry.chain_id = asked.chain_id
) AS list`;
