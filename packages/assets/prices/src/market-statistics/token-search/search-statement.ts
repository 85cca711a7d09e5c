import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, isLowerHex, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { areTablesSpread } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';

const SCANNED_MAX = 2_000;
const CANDIDATES_MAX = 1_000;
/** Characters. Shorter texts have no three letters for the index: they match the beginning. */
const PART_LENGTH_MIN = 3;

export interface Candidate extends Omit<TokenFacts, 'isNft'> {
  readonly chainId: number;
  readonly isExact: boolean;
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
  /** @default false */
  readonly includesNfts?: boolean;
}

/**
 * Exact matches and beginnings are ranges of ordered indexes, up to {@link SCANNED_MAX} rows.
 * Within names every match is read: only rare texts are searched (token-search.explain.test.ts).
 * @param isSpread pools don't rank: Citus refuses to look for one pool of each token
 */
export function textStatement(search: CandidatesQuery, isSpread: boolean): Sql {
  const ranges = rangesOf(search);
  const hasPool = search.verifiedOnly || isSpread ? sql`false` : HAS_POOL;
  return sql`WITH ${search.verifiedOnly ? sql`found AS MATERIALIZED ${ranges.listed}` : foundTokens(search, ranges)}
SELECT ${COLUMNS}, ${ranges.isExact} AS "isExact", ${hasPool} AS "hasPool" FROM found
ORDER BY "isExact" DESC, verified DESC, "hasPool" DESC, possible_spam, address, chain_id LIMIT ${rawSql(CANDIDATES_MAX)}`;
}

interface Ranges {
  readonly text: Sql;
  readonly contains: Sql;
  readonly isExact: Sql;
  readonly listed: Sql;
  range(condition: Sql, order?: Sql): Sql;
}

function rangesOf({ chains, query, includesNfts = false }: CandidatesQuery): Ranges {
  const isFungible = sql` AND coalesce(standard NOT IN ('erc721', 'erc1155'), true)`;
  const here = sql`chain_id = ANY (${chains.map(({ id }) => id)}::bigint[])${includesNfts ? rawSql('') : isFungible}`;
  const text = sql`lower(${query}::text)`;
  const pattern = sql`lower(${patternOf(query)}::text)`;
  const range = (condition: Sql, order = rawSql('')): Sql =>
    sql`(SELECT ${READ} FROM tokens WHERE ${here} AND ${condition}${order} LIMIT ${rawSql(SCANNED_MAX)})`;
  const contains = sql`(lower(name) LIKE ${pattern} OR lower(symbol) LIKE ${pattern})`;
  return {
    ...{ text, contains, range, listed: range(sql`verified AND ${contains}`) },
    isExact: sql`coalesce(lower(symbol) = ${text}, false) OR coalesce(lower(name) = ${text}, false)`,
  };
}

function foundTokens({ query }: CandidatesQuery, { text, contains, listed, range }: Ranges): Sql {
  const start = sql`left(${text}, ${rawSql(INDEXED_CHARACTERS)})`;
  const end = sql`(${start} || ${LAST_CHARACTER}::text)`;
  // By the ordered index alone, in its order: a bitmap would read every match.
  const ordered = [sql`lower(symbol)`, sql`left(lower(name), ${rawSql(INDEXED_CHARACTERS)})`].flatMap(
    (column) => {
      const order = sql` ORDER BY ${column} USING ~<~`;
      const from = sql`${column} ~>=~ ${start}`;
      return [
        range(sql`${from} AND ${column} ~<=~ ${start}`, order),
        range(sql`${from} AND ${column} ~<~ ${end}`, order),
      ];
    },
  );
  const isFew = sql`(SELECT count(*) FROM ordered) < ${rawSql(CANDIDATES_MAX)}`;
  const within =
    [...query].length < PART_LENGTH_MIN ? rawSql('') : sql` UNION ${range(sql`${contains} AND ${isFew}`)}`;
  return sql`ordered AS MATERIALIZED (${joinSql(ordered, ' UNION ')}),
found AS MATERIALIZED (${listed} UNION SELECT * FROM ordered${within})`;
}

/** As in the index (packages/assets/tokens/src/schema.ts). */
const INDEXED_CHARACTERS = 256;

const LAST_CHARACTER = '\u{10ffff}';

/** Not by EXISTS, for which a plan may read all pools into a hash table. */
const HAS_POOL = sql`coalesce(${joinSql(
  [sql`token0`, sql`token1`].map(
    (side) =>
      sql`(SELECT true FROM pools WHERE address_key(${side}) = address_key(address) AND pools.chain_id = found.chain_id AND ${side} = address AND status = 'proven' LIMIT 1)`,
  ),
)}, false)`;

export function addressesStatement(
  tokens: readonly { readonly chain: Chain; readonly address: Address }[],
  verifiedOnly: boolean,
): Sql {
  return sql`SELECT ${COLUMNS}, true AS "isExact"
FROM unnest(${tokens.map(({ address }) => addressBytes(address))}::bytea[], ${tokens.map(({ chain }) => chain.id)}::bigint[]) AS found (address, chain_id) JOIN tokens USING (address, chain_id)
WHERE coalesce(standard NOT IN ('erc721', 'erc1155'), true)${verifiedOnly ? sql` AND verified` : rawSql('')} ORDER BY chain_id, address`;
}

const READ = sql`address, chain_id, name, symbol, decimals, logo, verified, possible_spam, total_supply, created_block, created_at`;

const COLUMNS = sql`${hexText('address')} AS address, chain_id, name, symbol, decimals, logo, verified,
  possible_spam, total_supply::text, created_block,
  extract(epoch FROM created_at)::float8 AS "createdAt"`;

function patternOf(query: string): string {
  const literal = query.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return [...query].length < PART_LENGTH_MIN ? `${literal}%` : `%${literal}%`;
}

const POOL_ID_LENGTH = 66;

export function addressOf(query: string): Hex | null {
  if (isAddress(query)) return parseAddress(query);
  const lower = query.toLowerCase();
  return isLowerHex(lower, POOL_ID_LENGTH) ? lower : null;
}

/** Tokens and NFT collections by part of their name or symbol, without figures. Exact matches come first, then imported lists. */
export async function findTokens(
  reads: ReadDatabase,
  chains: readonly Chain[],
  query: string,
  limit: number,
): Promise<readonly Candidate[]> {
  const search = { chains, query, verifiedOnly: false, includesNfts: true };
  const found = await reads.select<Candidate>(textStatement(search, await areTablesSpread(reads)));
  return found.slice(0, limit);
}
