import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase, Sql } from '@chainstead/db';
import type { CollectionFields } from '../collections/collection-fields.ts';
import { readDocument } from './document-object.ts';
import type { NftRecord, RecordKey } from './nft-record.ts';
import { DOCUMENTS_BYTES_MAX, mintStatement, type RecordsReading, recordsStatement } from './records-statement.ts';

/**
 * Returns all values of records in one statement: one record per key, in key order. Beyond four MiB of documents in
 * total, documents are left out.
 */
export async function readRecords(
  database: ReadDatabase,
  chain: Chain,
  keys: readonly RecordKey[],
  reading: RecordsReading,
): Promise<readonly NftRecord[]> {
  if (keys.length === 0) return [];
  const read: Read = (statement) => database.select(statement);
  const rows =
    reading.isSpread === true
      ? await readSpread(read, chain, keys, reading)
      : await read<Row>(recordsStatement(chain, keys, reading));
  return rows.flatMap((row, index) => {
    const key = keys[index];
    return key === undefined ? [] : [toRecord(key, row)];
  });
}

/** Reads each token separately, and its mint in another statement: contracts and transfers are on different nodes. */
async function readSpread(
  read: Read,
  chain: Chain,
  keys: readonly RecordKey[],
  reading: RecordsReading,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let bytes = 0;
  for (const key of keys) {
    const [row] = await read<Row>(recordsStatement(chain, [key], reading));
    if (row === undefined) throw new Error('The statement gives a row for each token');
    bytes += Buffer.byteLength(row.metadata ?? '');
    const minted = reading.hasMints ? await read<MintRow>(mintStatement(chain, key, row.contract_type)) : [];
    rows.push({ ...row, ...minted[0], ...(bytes > DOCUMENTS_BYTES_MAX && { metadata: null }) });
  }
  return rows;
}

type Read = <Found extends object>(statement: Sql) => Promise<readonly Found[]>;

type MintRow = Pick<Row, 'minted_in' | 'minted_at'>;

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
