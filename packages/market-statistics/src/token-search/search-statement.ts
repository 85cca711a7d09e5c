import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, isLowerHex, parseAddress } from '@chainstead/core';
import { addressBytes, type Bind, hexText, type Statement } from '@chainstead/db';

/** Rows that a text may read from each index, and tokens that are ranked. */
const SCANNED_MAX = 10_000;
const CANDIDATES_MAX = 1_000;
/** Shorter texts have no three letters for the index, so they are searched at the beginning of a name. Characters. */
const PART_LENGTH_MIN = 3;

/** A token that matches a search. */
export interface Candidate {
  readonly chainId: number;
  readonly address: Address;
  /** Whether name, symbol or address is the whole query. */
  readonly isExact: boolean;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly isVerified: boolean;
  readonly isSpam: boolean;
  /** Base units, decimal digits. */
  readonly totalSupply: string | null;
  readonly createdBlock: number | null;
  /** Unix seconds. */
  readonly createdAt: number | null;
}

export interface CandidatesQuery {
  readonly chains: readonly Chain[];
  readonly query: string;
  readonly verifiedOnly: boolean;
}

/**
 * Builds the statement for tokens with a text in their name or symbol (token-search.explain.test.ts). Each range stops after
 * {@link SCANNED_MAX} rows, however common the text is; those of imported lists have a separate range.
 */
export function textStatement({ chains, query, verifiedOnly }: CandidatesQuery): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const here = `chain_id = ANY (${bind(chains.map(({ id }) => id))}::bigint[]) AND coalesce(standard NOT IN ('erc721', 'erc1155'), true)`;
  const text = `lower(${bind(query)}::text)`;
  const pattern = `lower(${bind(patternOf(query))}::text)`;
  const contains = `(lower(name) LIKE ${pattern} OR lower(symbol) LIKE ${pattern})`;
  const range = (condition: string): string =>
    `(SELECT address, chain_id FROM (SELECT address, chain_id, verified, possible_spam FROM tokens WHERE ${here} AND ${condition} LIMIT ${SCANNED_MAX}) AS read
      ORDER BY verified DESC, possible_spam, address, chain_id LIMIT ${CANDIDATES_MAX})`;
  const ranges = [`lower(symbol) = ${text}`, `lower(name) = ${text}`, contains];
  const verified = verifiedOnly ? ' AND verified' : '';
  const found = [`verified AND ${contains}`, ...ranges.map((one) => `${one}${verified}`)].map(range);
  const isExact = `coalesce(lower(symbol) = ${text}, false) OR coalesce(lower(name) = ${text}, false)`;
  return {
    text: `WITH found AS MATERIALIZED (${found.join(' UNION ')})
SELECT ${COLUMNS}, ${isExact} AS "isExact" FROM found JOIN tokens USING (address, chain_id)
ORDER BY "isExact" DESC, verified DESC, possible_spam, address, chain_id LIMIT ${CANDIDATES_MAX}`,
    values,
  };
}

/** Builds the statement for tokens of given chains and addresses. */
export function addressesStatement(
  tokens: readonly { readonly chain: Chain; readonly address: Address }[],
  verifiedOnly: boolean,
): Statement {
  return {
    text: `SELECT ${COLUMNS}, true AS "isExact"
FROM unnest($1::bytea[], $2::bigint[]) AS found (address, chain_id) JOIN tokens USING (address, chain_id)
WHERE coalesce(standard NOT IN ('erc721', 'erc1155'), true)${verifiedOnly ? ' AND verified' : ''} ORDER BY chain_id, address`,
    values: [tokens.map(({ address }) => addressBytes(address)), tokens.map(({ chain }) => chain.id)],
  };
}

const COLUMNS = `${hexText('address')} AS address, chain_id AS "chainId", name, symbol, decimals, logo, verified AS "isVerified",
  possible_spam AS "isSpam", total_supply::text AS "totalSupply", created_block AS "createdBlock",
  extract(epoch FROM created_at)::float8 AS "createdAt"`;

/** Pattern of a text for `LIKE`. Wildcards in it stand for themselves. */
function patternOf(query: string): string {
  const literal = query.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return [...query].length < PART_LENGTH_MIN ? `${literal}%` : `%${literal}%`;
}

/** Length of a pool's id with 0x. Characters. */
const POOL_ID_LENGTH = 66;

/** Address of a token or pool, or 32-byte id of a pool at a pool manager; null: the query is a text. */
export function addressOf(query: string): Hex | null {
  if (isAddress(query)) return parseAddress(query);
  const lower = query.toLowerCase();
  return isLowerHex(lower, POOL_ID_LENGTH) ? lower : null;
}
