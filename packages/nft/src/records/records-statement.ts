import type { Chain } from '@chainstead/chains';
import { hexText, type Statement } from '@chainstead/db';
import { collectionFacts } from '../collections/collection-facts-statement.ts';
import { COLLECTION_COLUMNS } from '../collections/collection-fields.ts';
import { askedTokens } from './asked-tokens.ts';
import type { RecordKey } from './nft-record.ts';
import { NOBODY, PLACE, type TokenMoves, tokenMoves } from './token-moves.ts';

/** A URI that holds its document is shown up to here. Characters. */
export const DATA_URI_LENGTH_MAX = 8_192;
/** What the documents of one answer may be together; those that come after are left out. Of at least the largest document. Bytes. */
export const DOCUMENTS_BYTES_MAX = 4_194_304;
/** So many of a token's newest transfers are searched for its mint; where all are neither mint nor burn, its first transfer may be. */
const MINT_SEARCH_MAX = 256;

/** Of a token are shown the name and the symbol that its contract gives. */
const SHOWN_COLUMNS = COLLECTION_COLUMNS.map(([field, column]) => {
  const shown = column === 'name' || column === 'symbol' ? `token_${column}` : column;
  return `shown.${shown} AS "${field}"`;
}).join(', ');

/** How records are read. */
export interface RecordsReading {
  /** Whether mints can be looked for: not without their index. */
  readonly hasMints: boolean;
  /** Whether tables are distributed: then the statement is of one token, and without its mint ({@link mintStatement}). */
  readonly isSpread?: boolean;
}

/**
 * All that records show of these tokens, one row each, in their order. Of each token it probes the keys of what is known of contracts and
 * of documents, and reads two ranges of `nft_transfers_by_token` (records-statement.explain.test.ts).
 */
export function recordsStatement(
  chain: Chain,
  tokens: readonly Pick<RecordKey, 'address' | 'tokenId'>[],
  { hasMints, isSpread = false }: RecordsReading,
): Statement {
  const asked = askedTokens(chain, tokens, isSpread);
  const text = `SELECT ${SHOWN_COLUMNS},
  shown.contract_type, shown.verified, shown.possible_spam,
  CASE WHEN octet_length(known.token_uri) <= ${DATA_URI_LENGTH_MAX} OR left(known.token_uri, 100) !~* '^\\s*(data:|[{])' THEN known.token_uri END AS token_uri,
  known.uri_synced_at, known.synced_at, known.token_address IS NULL AS is_unread,
  CASE WHEN sum(octet_length(known.metadata)) OVER (ORDER BY asked.place) <= ${DOCUMENTS_BYTES_MAX} THEN known.metadata END AS metadata,
  ${hexText('minted.transaction_hash')} AS minted_in, minted.block_number AS minted_at
FROM ${asked.relation}
CROSS JOIN LATERAL ${collectionFacts('asked.token_address', '$1::bigint')} AS shown
LEFT JOIN LATERAL (
  SELECT * FROM nft_token_metadata AS own
  WHERE own.token_address = asked.token_address AND own.chain_id = $1 AND own.token_id = asked.token_id LIMIT 1
) AS known ON true
LEFT JOIN LATERAL ${hasMints && !isSpread ? MINT : NO_MINT} AS minted ON true
ORDER BY asked.place`;
  return { text, values: asked.values };
}

/** The mint of one token by itself, as `minted_in` and `minted_at`: no row, or nulls, where it has none. @param contractType of its contract */
export function mintStatement(
  chain: Chain,
  token: Pick<RecordKey, 'address' | 'tokenId'>,
  contractType: string | null,
): Statement {
  const asked = askedTokens(chain, [token], true);
  return {
    text: `SELECT ${hexText('minted.transaction_hash')} AS minted_in, minted.block_number AS minted_at
FROM ${asked.relation} CROSS JOIN (SELECT $4::text AS contract_type) AS shown CROSS JOIN LATERAL ${MINT} AS minted`,
    values: [...asked.values, contractType],
  };
}

const MOVED = `${PLACE.map((column) => `moved.${column}`).join(', ')}, moved.from_address, moved.to_address, moved.transaction_hash`;
const OF_TOKEN = { address: 'asked.token_address', tokenId: 'asked.token_id', chainId: '$1::bigint', columns: MOVED };

const NO_MINT = '(SELECT NULL::integer AS block_number, NULL::bytea AS transaction_hash)';

const moves = (order: TokenMoves['order'], limit: number): string =>
  tokenMoves({ ...OF_TOKEN, order, limit: String(limit) });

/**
 * The mint that counts. Of ERC-1155 it is the first transfer if that is a mint; of others the newest one with no burn behind it: nearly
 * always the first transfer too, which is what is left to believe of a token that moved very often.
 */
const MINT = `(SELECT found.block_number, found.transaction_hash FROM (
    (SELECT 0 AS rank, newest.* FROM (${moves('DESC', MINT_SEARCH_MAX)}) AS newest
      WHERE shown.contract_type IS DISTINCT FROM 'ERC1155' AND (newest.from_address = ${NOBODY}) <> (newest.to_address = ${NOBODY})
      ORDER BY ${PLACE.map((column) => `newest.${column} DESC`).join(', ')} LIMIT 1)
    UNION ALL
    SELECT 1, first.* FROM (${moves('ASC', 1)}) AS first
    ORDER BY 1 LIMIT 1
  ) AS found WHERE found.from_address = ${NOBODY} LIMIT 1)`;
