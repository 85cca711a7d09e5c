/** SQL of known balances (docs/concepts/balances.md). Reads `covered` and `coin_covered`. */
import type { Chain } from '@chainstead/chains';
import { addressBytes, expectedTrue, rawSql, type Sql, sql } from '@chainstead/db';
import { COIN_COVERED_FROM } from '../wrapped/dataset.ts';

export interface QueriedWallet {
  readonly wallet: Sql;
  readonly chain: Pick<Chain, 'id' | 'firstBlock' | 'erc20Exclusions'>;
  /** Its deposits and withdrawals are not transfers. Null: none. */
  readonly wrapped: Sql | null;
  readonly liveMaxAgeMs: number;
  /** Reads from this moment on are fresh whatever their age; null: none. */
  readonly freshFrom: Date | null;
  /** On distributed tables, the wallet column selects the node. */
  readonly isSpread: boolean;
}

/** Until a read confirms transfers again, or finds a value where there was none. */
const ASK_AGAIN = sql`interval '24 hours'`;

/** All that the wallet may hold, or the named ones in any case. Needs an alias. */
export function heldTokens(of: QueriedWallet, named: Sql | null): Sql {
  const { wallet, chain, wrapped } = of;
  const isToken = (token: string) =>
    chain.erc20Exclusions.length === 0
      ? rawSql('')
      : sql` AND ${expectedTrue(sql`${rawSql(token)} <> ALL (${chain.erc20Exclusions.map(addressBytes)}::bytea[])`)}`;
  if (named === null) {
    const isCoin = wrapped === null ? rawSql('') : sql` OR token = ${wrapped}`;
    return sql`(SELECT ${rawSql(COLUMNS.map(([name]) => name).join(', '))} FROM erc20_wallet_tokens
      WHERE wallet = ${wallet} AND chain_id = ${chain.id} AND ${expectedTrue(sql`(moved_block >= 0 OR anchor_value > 0${isCoin})`)}${isToken('token')})`;
  }
  const columns = COLUMNS.map(([name, absent]) =>
    name === 'token' ? 'requested.token' : `coalesce(own.${name}, ${absent}) AS ${name}`,
  );
  return sql`(SELECT ${rawSql(columns.join(', '))} FROM (SELECT DISTINCT given.token FROM ${named} AS given(token)) AS requested
    LEFT JOIN LATERAL ${heldToken('requested.token', of, 'own')}
    WHERE true${isToken('requested.token')})`;
}

/** The first row at or after the key: with an equality, the planner may scan all of a wallet. */
export function heldToken(
  tokenColumn: string,
  { wallet, chain, isSpread }: Pick<QueriedWallet, 'wallet' | 'chain' | 'isSpread'>,
  aliasName: string,
): Sql {
  const [token, alias] = [rawSql(tokenColumn), rawSql(aliasName)];
  const place = isSpread ? sql`next.wallet = ${wallet} AND ` : rawSql('');
  return sql`(SELECT * FROM erc20_wallet_tokens AS next WHERE ${place}(next.wallet, next.chain_id, next.token) >= (${wallet}, ${chain.id}, ${token})
      ORDER BY next.wallet, next.chain_id, next.token LIMIT 1) AS ${alias}
    ON ${alias}.wallet = ${wallet} AND ${alias}.chain_id = ${chain.id} AND ${alias}.token = ${token}`;
}

/** With the default without a row. */
const COLUMNS: readonly (readonly [string, string])[] = [
  ['token', 'NULL'],
  ['total', '0'],
  ['moved_block', '-1'],
  ['moved_transaction', '-1'],
  ['moved_log', '-1'],
  ['anchor_block', 'NULL'],
  ['anchor_value', 'NULL'],
  ['since', '0'],
  ['anchored_at', 'NULL'],
];

/** Columns of `tokens` are null without a row. Needs an alias. */
export function factsOfHeld({ chain }: Pick<QueriedWallet, 'chain'>): Sql {
  return sql`(SELECT name, symbol, decimals, facts_status, logo, coalesce(verified, false) AS verified, coalesce(possible_spam, false) AS possible_spam,
      total_supply, coalesce(supply_read_at < now() - interval '1 hour', true) AS is_supply_old, standard IN ('erc721', 'erc1155') IS TRUE AS is_nft
    FROM (VALUES (true)) AS one LEFT JOIN tokens ON tokens.address = held.token AND tokens.chain_id = ${chain.id} LIMIT 1)`;
}

/** `due`: read the contract `now`, as nothing can be shown, or `again`. Needs an alias. */
export function resolvedBalance(wallet: QueriedWallet): Sql {
  const { chain, wrapped } = wallet;
  const known = sql`coalesce(known.class, 'new')`;
  const kind =
    wrapped === null
      ? known
      : sql`CASE WHEN held.token = ${wrapped} AND NOT ${isCoinKnownFrom(sql`coalesce(held.anchor_block, covered.indexed_to) + 1`)} THEN 'live' ELSE ${known} END`;
  return sql`(SELECT class, adds_up, coalesce(read_balance, CASE WHEN ${isBySum(wallet)} THEN held.total END) AS balance,
      CASE WHEN class = 'live' THEN held.anchor_block ELSE covered.indexed_to END AS balance_block,
      CASE WHEN class = 'none' THEN CASE WHEN told_at < now() - ${ASK_AGAIN} THEN 'again' END
        WHEN read_balance IS NULL THEN 'now'
        WHEN class <> 'live' AND held.anchored_at < now() - ${ASK_AGAIN} THEN 'again' END AS due
    FROM (SELECT class, told_at, adds_up, ${readBalance(wallet)} AS read_balance
      FROM (SELECT class, told_at, class = 'sum' OR class = 'new' AND shown.verified AS adds_up
        FROM (SELECT ${kind} AS class, known.told_at
          FROM (VALUES (true)) AS one
          LEFT JOIN erc20_token_classes AS known ON known.token = held.token AND known.chain_id = ${chain.id} LIMIT 1) AS named) AS classed
    ) AS reported)`;
}

function readBalance({ liveMaxAgeMs, freshFrom }: QueriedWallet): Sql {
  const fresh = freshFrom === null ? sql`'infinity'` : sql`${freshFrom}`;
  return sql`CASE class
        WHEN 'live' THEN CASE WHEN held.anchored_at >= least(now() - make_interval(secs => ${liveMaxAgeMs / 1_000}::float8), ${fresh}::timestamptz) THEN held.anchor_value END
        WHEN 'none' THEN NULL
        ELSE CASE WHEN ${IS_SOUND} AND held.anchored_at IS NOT NULL AND (adds_up OR held.since = 0) AND held.anchor_value + held.since >= 0 THEN held.anchor_value + held.since END END`;
}

export function isCoinKnownFrom(block: Sql): Sql {
  return sql`coalesce(${block} >= ${COIN_COVERED_FROM}, false)`;
}

export const IS_SOUND = sql`held.anchor_block + 1 >= covered.indexed_from AND held.anchor_block <= covered.indexed_to`;

export function isWhole(firstBlock: number): Sql {
  return sql`covered.chain_to IS NOT NULL AND covered.indexed_from <= ${firstBlock}`;
}

/** Before the first contract read: for tokens that add up, if all transfers are indexed. */
function isBySum({ chain: { firstBlock }, wrapped }: QueriedWallet): Sql {
  const ofCoin =
    wrapped === null
      ? rawSql('')
      : sql` AND (held.token <> ${wrapped} OR ${isCoinKnownFrom(sql`${firstBlock}`)})`;
  return sql`adds_up AND held.total >= 0 AND ${isWhole(firstBlock)}${ofCoin}`;
}
