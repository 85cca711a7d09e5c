import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { CollectionFields } from '../collections/collection-fields.ts';
import { readDocument } from '../document-object.ts';
import type { NftRecord, RecordKey } from './nft-record.ts';
import {
  DOCUMENTS_BYTES_MAX,
  mintStatement,
  type RecordsReading,
  recordsStatement,
} from './records-statement.ts';

export async function readRecords(
  database: ReadDatabase,
  chain: Chain,
  keys: readonly RecordKey[],
  reading: RecordsReading,
): Promise<readonly NftRecord[]> {
  if (keys.length === 0) return [];
  const rows =
    reading.isSpread === true
      ? await readSpread(database, chain, keys, reading)
      : await database.select<StoredRecord>(recordsStatement(chain, keys, reading));
  return rows.flatMap((row, index) => {
    const key = keys[index];
    return key === undefined ? [] : toRecord(key, row);
  });
}

async function readSpread(
  database: ReadDatabase,
  chain: Chain,
  keys: readonly RecordKey[],
  reading: RecordsReading,
): Promise<readonly StoredRecord[]> {
  const rows: StoredRecord[] = [];
  let bytes = 0;
  for (const key of keys) {
    const [row] = await database.select<StoredRecord>(recordsStatement(chain, [key], reading));
    if (row === undefined) throw new Error('The statement gives a row for each token');
    bytes += Buffer.byteLength(row.metadata ?? '');
    const [mint] = reading.hasMints
      ? await database.select<Pick<StoredRecord, 'mintedIn' | 'mintedAt'>>(
          mintStatement(chain, key, row.contractType),
        )
      : [];
    rows.push({ ...row, ...mint, ...(bytes > DOCUMENTS_BYTES_MAX && { metadata: null }) });
  }
  return rows;
}

interface StoredRecord
  extends CollectionFields,
    Omit<NftRecord, keyof RecordKey | 'collection' | 'mint' | 'document' | 'rarity'> {
  readonly metadata: string | null;
  readonly mintedIn: Hash | null;
  readonly mintedAt: number | null;
}

function toRecord(key: RecordKey, stored: StoredRecord): NftRecord {
  const { contractType, verified, possibleSpam, tokenUri, uriSyncedAt, documentSyncedAt, isUnread, ...rest } =
    stored;
  const { metadata, mintedIn, mintedAt, ...collection } = rest;
  return {
    ...key,
    ...{ contractType, verified, possibleSpam, tokenUri, uriSyncedAt, documentSyncedAt, isUnread },
    collection,
    mint: mintedAt === null || mintedIn === null ? null : { blockNumber: mintedAt, transactionHash: mintedIn },
    document: readDocument(metadata),
    rarity: null,
  };
}
