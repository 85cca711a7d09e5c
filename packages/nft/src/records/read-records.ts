import type { TablesInUse } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { CollectionFields } from '../collections/collection-fields.ts';
import { readDocument } from './document-object.ts';
import type { NftRecord, RecordKey } from './nft-record.ts';
import { recordsStatement } from './records-statement.ts';

/**
 * All that records show, in one statement: one for each key, in their order. Documents that are more than four MiB together are left out
 * from there on.
 * @param tables that hold transfers; null where they can't be read by token
 */
export async function readRecords(
  database: ReadDatabase,
  chain: Chain,
  keys: readonly RecordKey[],
  tables: TablesInUse | null,
): Promise<readonly NftRecord[]> {
  if (keys.length === 0) return [];
  const statement = recordsStatement(chain, keys, tables);
  const rows = await database.select<Row>(statement.text, statement.values);
  return rows.flatMap((row, index) => {
    const key = keys[index];
    return key === undefined ? [] : [toRecord(key, row)];
  });
}

interface Row extends CollectionFields {
  readonly contract_type: NftRecord['contractType'];
  readonly verified: boolean;
  readonly possible_spam: boolean;
  readonly token_uri: string | null;
  readonly uri_synced_at: Date | null;
  readonly synced_at: Date | null;
  readonly is_unread: boolean;
  readonly metadata: string | null;
  readonly minted_in: Hash | null;
  readonly minted_at: number | null;
}

function toRecord(key: RecordKey, row: Row): NftRecord {
  return {
    ...key,
    contractType: row.contract_type,
    collection: fieldsOf(row),
    possibleSpam: row.possible_spam,
    verified: row.verified,
    mint:
      row.minted_at === null || row.minted_in === null
        ? null
        : { blockNumber: row.minted_at, transactionHash: row.minted_in },
    tokenUri: row.token_uri,
    uriSyncedAt: row.uri_synced_at,
    document: readDocument(row.metadata),
    documentSyncedAt: row.synced_at,
    isUnread: row.is_unread,
    rarity: null,
  };
}

function fieldsOf(row: CollectionFields): CollectionFields {
  const { name, symbol, collectionLogo, collectionBannerImage, collectionCategory, projectUrl, wikiUrl } = row;
  const { discordUrl, telegramUrl, twitterUsername, instagramUsername } = row;
  return {
    name,
    symbol,
    collectionLogo,
    collectionBannerImage,
    collectionCategory,
    projectUrl,
    wikiUrl,
    discordUrl,
    telegramUrl,
    twitterUsername,
    instagramUsername,
  };
}
