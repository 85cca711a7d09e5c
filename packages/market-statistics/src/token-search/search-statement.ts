import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, isLowerHex, parseAddress } from '@chainstead/core';
import { addressBytes, type Bind, hexTextOld, type Statement } from '@chainstead/db';

/** Rows that a text may read from each index, and tokens that are ranked. */
const SCANNED_MAX = 2_000;
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
 * Builds the statement for tokens with a text in their name or symbol (token-search.explain.test.ts). Exact matches and texts at the beginning
 * are ranges of ordered indexes, and each stops after {@link SCANNED_MAX} rows. Only if they are fewer than {@link CANDIDATES_MAX}, the text is
 * also searched within names: that reads every match from an index, so it is not done for common texts. Tokens of imported lists are few, and
 * are always found.
 * @param isSpread whether tables are distributed: pools then have no say, because Citus refuses to look for one pool of each token
 */
export function textStatement(search: CandidatesQuery, isSpread: boolean): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const ranges = rangesOf(search, bind);
  const hasPool = search.verifiedOnly || isSpread ? 'false' : HAS_POOL;
  return {
    text: `WITH ${search.verifiedOnly ? `found AS MATERIALIZED ${ranges.listed}` : foundTokens(search, ranges, bind)}
SELECT ${COLUMNS}, ${ranges.isExact} AS "isExact", ${hasPool} AS "hasPool" FROM found
ORDER BY "isExact" DESC, verified DESC, "hasPool" DESC, possible_spam, address, chain_id LIMIT ${CANDIDATES_MAX}`,
    values,
  };
}

/** SQL of a search. */
interface Ranges {
  /** The query in lower case. */
  readonly text: string;
  readonly contains: string;
  readonly isExact: string;
  /** Tokens of imported lists with the text. */
  readonly listed: string;
  range(condition: string, order?: string): string;
}

function rangesOf({ chains, query }: CandidatesQuery, bind: Bind): Ranges {
  const here = `chain_id = ANY (${bind(chains.map(({ id }) => id))}::bigint[]) AND coalesce(standard NOT IN ('erc721', 'erc1155'), true)`;
  const text = `lower(${bind(query)}::text)`;
  const pattern = `lower(${bind(patternOf(query))}::text)`;
  const range = (condition: string, order = ''): string =>
    `(SELECT ${READ} FROM tokens WHERE ${here} AND ${condition}${order} LIMIT ${SCANNED_MAX})`;
  const contains = `(lower(name) LIKE ${pattern} OR lower(symbol) LIKE ${pattern})`;
  return {
    ...{ text, contains, range, listed: range(`verified AND ${contains}`) },
    isExact: `coalesce(lower(symbol) = ${text}, false) OR coalesce(lower(name) = ${text}, false)`,
  };
}

/** CTEs of the matches, those of imported lists or not. */
function foundTokens({ query }: CandidatesQuery, { text, contains, listed, range }: Ranges, bind: Bind): string {
  const start = `left(${text}, ${INDEXED_CHARACTERS})`;
  const end = `(${start} || ${bind(LAST_CHARACTER)}::text)`;
  // By operators of the ordered index alone, and in its order: a bitmap, also of the index by parts, would read every match.
  const ordered = ['lower(symbol)', `left(lower(name), ${INDEXED_CHARACTERS})`].flatMap((column) => {
    const order = ` ORDER BY ${column} USING ~<~`;
    const from = `${column} ~>=~ ${start}`;
    return [range(`${from} AND ${column} ~<=~ ${start}`, order), range(`${from} AND ${column} ~<~ ${end}`, order)];
  });
  const isFew = `(SELECT count(*) FROM ordered) < ${CANDIDATES_MAX}`;
  const within = [...query].length < PART_LENGTH_MIN ? '' : ` UNION ${range(`${contains} AND ${isFew}`)}`;
  return `ordered AS MATERIALIZED (${ordered.join(' UNION ')}),
found AS MATERIALIZED (${listed} UNION SELECT * FROM ordered${within})`;
}

/** Characters of a name in the ordered index (packages/tokens/src/schema.ts). */
const INDEXED_CHARACTERS = 256;

/** The last character of Unicode, above those of names. */
const LAST_CHARACTER = '\u{10ffff}';

/** Whether any proven pool has the token. Not by EXISTS, for which a plan may read all pools into a hash table. */
const HAS_POOL = `coalesce(${['token0', 'token1']
  .map(
    (side) =>
      `(SELECT true FROM pools WHERE address_key(${side}) = address_key(address) AND pools.chain_id = found.chain_id AND ${side} = address AND status = 'proven' LIMIT 1)`,
  )
  .join(', ')}, false)`;

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

/** Columns that {@link COLUMNS} need. */
const READ =
  'address, chain_id, name, symbol, decimals, logo, verified, possible_spam, total_supply, created_block, created_at';

const COLUMNS = `${hexTextOld('address')} AS address, chain_id AS "chainId", name, symbol, decimals, logo, verified AS "isVerified",
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
