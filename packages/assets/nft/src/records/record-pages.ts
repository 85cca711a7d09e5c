import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, systemClock } from '@chainstead/core';
import { hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { areTablesSpread, createMissingIndexes } from '@chainstead/pages';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { COLLECTION_COLUMNS, type CollectionFields } from '../collections/collection-fields.ts';
import { readDocument } from '../document-object.ts';
import { getLastSalesOfTokens } from '../sale-prices/get-last-sales.ts';
import { type NftRecord, type RecordKey, recordId } from './nft-record.ts';
import { readRarities } from './read-rarities.ts';
import { requestedTokens } from './request-unread-tokens.ts';
import { NOBODY, PLACE, placeOrder, type TokenMoves, tokenMoves } from './token-moves.ts';

/** Those known within a request's wait. */
export type SendersOf = (chain: Chain, hashes: readonly Hash[]) => Promise<ReadonlyMap<Hash, Address>>;

const BY_TOKEN = 'nft_transfers_by_token';

export type RecordPages = ReturnType<typeof createRecordPages>;

export function createRecordPages(database: ReadDatabase, sendersOf: SendersOf = async () => new Map()) {
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN]);
  return {
    async read(chain: Chain, keys: readonly RecordKey[], { includePrices }: { readonly includePrices: boolean }) {
      const hasMints = (await missing()).length === 0;
      const isSpread = await areTablesSpread(database);
      const unrated = await readRecords(database, chain, keys, { hasMints, isSpread });
      const rarities = await readRarities(database, chain, unrated, isSpread);
      const rows = unrated.map((record) => ({ ...record, rarity: rarities.get(recordId(record)) ?? null }));
      const tokens = keys.map(({ address, tokenId }) => ({ token: address, tokenId }));
      return {
        rows,
        lastSales: includePrices ? await getLastSalesOfTokens(database, chain, tokens) : null,
        minters: await mintersOf(chain, rows, sendersOf),
      };
    },
  };
}

async function mintersOf(
  chain: Chain,
  records: readonly NftRecord[],
  sendersOf: SendersOf,
): Promise<ReadonlyMap<string, Address>> {
  const minted = records.flatMap((record) =>
    record.mint === null || record.contractType === 'ERC1155'
      ? []
      : [{ id: recordId(record), hash: record.mint.transactionHash }],
  );
  if (minted.length === 0) return new Map();
  const senders = await sendersOf(chain, [...new Set(minted.map(({ hash }) => hash))]);
  return new Map(
    minted.flatMap(({ id, hash }) => {
      const sender = senders.get(hash);
      return sender === undefined ? [] : [[id, sender] as const];
    }),
  );
}

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

const DATA_URI_LENGTH_MAX = 8_192;
/** Bytes of documents per response. At least the largest one. */
const DOCUMENTS_BYTES_MAX = 4_194_304;
/** If none of the newest transfers is a mint or burn, the first one may be the mint. */
const MINT_SEARCH_MAX = 256;

const SHOWN_COLUMNS = joinSql(
  COLLECTION_COLUMNS.map(([, column]) => {
    const shown = column === 'name' || column === 'symbol' ? `token_${column} AS ${column}` : column;
    return rawSql(`shown.${shown}`);
  }),
);

interface RecordsReading {
  readonly hasMints: boolean;
  readonly isSpread?: boolean;
}

/** Key lookups and two ranges per token (records-statement.explain.test.ts). */
export function recordsStatement(
  chain: Chain,
  tokens: readonly Pick<RecordKey, 'address' | 'tokenId'>[],
  { hasMints, isSpread = false }: RecordsReading,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  return sql`SELECT ${SHOWN_COLUMNS},
  shown.contract_type, shown.verified, shown.possible_spam,
  CASE WHEN octet_length(known.token_uri) <= ${rawSql(DATA_URI_LENGTH_MAX)} OR left(known.token_uri, 100) !~* '^\\s*(data:|[{])' THEN known.token_uri END AS "tokenUri",
  known.uri_synced_at, known.synced_at AS "documentSyncedAt", known.token_address IS NULL AS "isUnread",
  CASE WHEN sum(octet_length(known.metadata)) OVER (ORDER BY requested.place) <= ${rawSql(DOCUMENTS_BYTES_MAX)} THEN known.metadata END AS metadata,
  ${hexText('minted.transaction_hash')} AS "mintedIn", minted.block_number AS "mintedAt"
FROM ${requestedTokens(tokens, isSpread)}
CROSS JOIN LATERAL ${collectionFacts('requested.token_address', chainId)} AS shown
LEFT JOIN LATERAL (
  SELECT * FROM nft_token_metadata AS own
  WHERE own.token_address = requested.token_address AND own.chain_id = ${chainId} AND own.token_id = requested.token_id LIMIT 1
) AS known ON true
LEFT JOIN LATERAL ${hasMints && !isSpread ? mintOf(chainId) : NO_MINT} AS minted ON true
ORDER BY requested.place`;
}

function mintStatement(
  chain: Chain,
  token: Pick<RecordKey, 'address' | 'tokenId'>,
  contractType: string | null,
): Sql {
  return sql`SELECT ${hexText('minted.transaction_hash')} AS "mintedIn", minted.block_number AS "mintedAt"
FROM ${requestedTokens([token], true)} CROSS JOIN (SELECT ${contractType}::text AS contract_type) AS shown
  CROSS JOIN LATERAL ${mintOf(sql`${chain.id}::bigint`)} AS minted`;
}

const NO_MINT = sql`(SELECT NULL::integer AS block_number, NULL::bytea AS transaction_hash)`;

/**
 * ERC-1155: the first transfer, if a mint. Others: the newest mint without a later burn, or the
 * first transfer of a token that moved very often.
 */
function mintOf(chainId: Sql): Sql {
  const columns = [...PLACE, 'from_address', 'to_address', 'transaction_hash'];
  const moves = (order: TokenMoves['order'], limit: number): Sql =>
    tokenMoves({ chainId, columns, order, limit });
  return sql`(SELECT found.block_number, found.transaction_hash FROM (
    (SELECT 0 AS rank, newest.* FROM (${moves('DESC', MINT_SEARCH_MAX)}) AS newest
      WHERE shown.contract_type IS DISTINCT FROM 'ERC1155' AND (newest.from_address = ${NOBODY}) <> (newest.to_address = ${NOBODY})
      ORDER BY ${placeOrder('newest', 'DESC')} LIMIT 1)
    UNION ALL
    SELECT 1, first.* FROM (${moves('ASC', 1)}) AS first
    ORDER BY 1 LIMIT 1
  ) AS found WHERE found.from_address = ${NOBODY} LIMIT 1)`;
}
