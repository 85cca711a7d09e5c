/**
 * SQL for a wallet's known balances. Arguments are SQL expressions, never values. Reads `covered` (subjectCoverage)
 * and, on chains with a wrapped native token, `coin_covered` (coinCoverage).
 *
 * A balance is the contract's value at a block plus the later movements. That is correct if every block in between is
 * indexed for the wallet, and the token is known to add up. See docs/concepts/balances.md.
 */
import { expectedTrueOld } from '@chainstead/db';
import { COIN_COVERED_FROM } from '../wrapped/coin-coverage.ts';

export interface WalletInSql {
  readonly wallet: string;
  readonly chainId: string;
  /** The chain has no data below it. */
  readonly firstBlock: string;
  /** The wrapped native token, whose deposits and withdrawals are not transfers; null for none. */
  readonly wrapped: string | null;
  /** Maximum age of a read for tokens whose transfers don't determine balances. Seconds. */
  readonly liveSeconds: string;
  /** Reads from this moment on are fresh whatever their age. */
  readonly freshFrom: string;
  /** Whether tables are distributed: then the wallet column selects the node. */
  readonly isSpread: boolean;
}

/** Interval after which a contract is read again to confirm its transfers, or to see if it now returns a value. */
const ASK_AGAIN = "interval '24 hours'";

/**
 * `tokens` as stored for the wallet: all that it may hold, or the named ones regardless of stored rows. Needs an alias.
 */
export function heldTokens({ wallet, chainId, wrapped, isSpread }: WalletInSql, named: string | null): string {
  const ofWallet = `wallet = ${wallet} AND chain_id = ${chainId}`;
  if (named === null)
    return `(SELECT ${COLUMNS.map(([name]) => name).join(', ')} FROM erc20_wallet_tokens
      WHERE ${ofWallet} AND ${expectedTrueOld(`(moved_block >= 0 OR anchor_value > 0${wrapped === null ? '' : ` OR token = ${wrapped}`})`)})`;
  const columns = COLUMNS.map(([name, absent]) =>
    name === 'token' ? 'requested.token' : `coalesce(own.${name}, ${absent}) AS ${name}`,
  );
  return `(SELECT ${columns.join(', ')} FROM (SELECT DISTINCT given.token FROM ${named} AS given(token)) AS requested
    LEFT JOIN LATERAL ${heldToken('requested.token', { wallet, chainId, isSpread }, 'own')})`;
}

/**
 * The stored row of one token, for LEFT JOIN LATERAL. Selects the first row at or after the key: with an equality, the
 * planner may scan all of a wallet's rows by the movement index if it expects few.
 */
export function heldToken(
  token: string,
  { wallet, chainId, isSpread }: Pick<WalletInSql, 'wallet' | 'chainId' | 'isSpread'>,
  alias: string,
): string {
  const key = ['wallet', 'chain_id', 'token'];
  const given = [wallet, chainId, token];
  const place = isSpread ? `next.wallet = ${wallet} AND ` : '';
  return `(SELECT * FROM erc20_wallet_tokens AS next WHERE ${place}(${key.map((column) => `next.${column}`).join(', ')}) >= (${given.join(', ')})
      ORDER BY ${key.map((column) => `next.${column}`).join(', ')} LIMIT 1) AS ${alias}
    ON ${key.map((column, index) => `${alias}.${column} = ${given[index]}`).join(' AND ')}`;
}

/** Columns with defaults for a token without a stored row. */
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

/**
 * Token data to show, such as the name, and whether it is an NFT contract. Columns of `tokens`, null without a row.
 * Needs an alias.
 */
export function factsOf(token: string, { chainId }: WalletInSql): string {
  return `(SELECT name, symbol, decimals, facts_status, logo, coalesce(verified, false) AS verified, coalesce(possible_spam, false) AS possible_spam,
      total_supply, coalesce(supply_read_at < now() - interval '1 hour', true) AS is_supply_old, standard IN ('erc721', 'erc1155') IS TRUE AS is_nft
    FROM (VALUES (true)) AS one LEFT JOIN tokens ON tokens.address = ${token} AND tokens.chain_id = ${chainId} LIMIT 1)`;
}

/**
 * SQL for a held token (alias `held`, token data as `shown`): its `class`, whether it is known to add up (`adds_up`),
 * and its `balance` with the block, if one can be shown. `due`: the contract must be read `now`, as there is nothing to
 * show yet, or `again`. Needs an alias.
 */
export function resolvedBalance(wallet: WalletInSql): string {
  const { chainId, wrapped } = wallet;
  const known = "coalesce(known.class, 'new')";
  const kind =
    wrapped === null
      ? known
      : `CASE WHEN held.token = ${wrapped} AND NOT ${isCoinKnownFrom('coalesce(held.anchor_block, covered.indexed_to) + 1')} THEN 'live' ELSE ${known} END`;
  return `(SELECT class, adds_up, coalesce(read_balance, CASE WHEN ${isBySum(wallet)} THEN held.total END) AS balance,
      CASE WHEN class = 'live' THEN held.anchor_block ELSE covered.indexed_to END AS balance_block,
      CASE WHEN class = 'none' THEN CASE WHEN told_at < now() - ${ASK_AGAIN} THEN 'again' END
        WHEN read_balance IS NULL THEN 'now'
        WHEN class <> 'live' AND held.anchored_at < now() - ${ASK_AGAIN} THEN 'again' END AS due
    FROM (SELECT class, told_at, adds_up, ${readBalance(wallet)} AS read_balance
      FROM (SELECT class, told_at, class = 'sum' OR class = 'new' AND shown.verified AS adds_up
        FROM (SELECT ${kind} AS class, known.told_at
          FROM (VALUES (true)) AS one
          LEFT JOIN erc20_token_classes AS known ON known.token = held.token AND known.chain_id = ${chainId} LIMIT 1) AS named) AS classed
    ) AS reported)`;
}

function readBalance({ liveSeconds, freshFrom }: WalletInSql): string {
  return `CASE class
        WHEN 'live' THEN CASE WHEN held.anchored_at >= least(now() - make_interval(secs => ${liveSeconds}::float8), ${freshFrom}::timestamptz) THEN held.anchor_value END
        WHEN 'none' THEN NULL
        ELSE CASE WHEN ${IS_SOUND} AND held.anchored_at IS NOT NULL AND (adds_up OR held.since = 0) AND held.anchor_value + held.since >= 0 THEN held.anchor_value + held.since END END`;
}

/** Whether deposits and withdrawals of the wrapped native token are indexed for every block from this one on. */
export function isCoinKnownFrom(block: string): string {
  return `coalesce(${block} >= ${COIN_COVERED_FROM}, false)`;
}

/** Every block from the anchor on is indexed for the wallet. */
export const IS_SOUND = 'held.anchor_block + 1 >= covered.indexed_from AND held.anchor_block <= covered.indexed_to';

/** Every block of the chain is indexed for the wallet. */
export function isWhole(firstBlock: string): string {
  return `covered.chain_to IS NOT NULL AND covered.indexed_from <= ${firstBlock}`;
}

/** Before the first contract read, transfers are trusted for tokens known to add up if all of them are indexed. */
function isBySum({ firstBlock, wrapped }: WalletInSql): string {
  const ofCoin = wrapped === null ? '' : ` AND (held.token <> ${wrapped} OR ${isCoinKnownFrom(firstBlock)})`;
  return `adds_up AND held.total >= 0 AND ${isWhole(firstBlock)}${ofCoin}`;
}
