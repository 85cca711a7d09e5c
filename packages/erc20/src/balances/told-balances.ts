/**
 * What is known of a wallet's balances, in SQL. Arguments are SQL expressions, never values; `covered` (subjectCoverage) is read, and on chains
 * with a wrapped coin `coin_covered` (coinCoverage).
 *
 * A balance is what the contract said at a block, and what has moved since: that is right while every block in between is indexed for the
 * wallet, and the token is known to add up. See docs/balances.md.
 */
import { expectedTrue } from '@chainstead/db';
import { COIN_COVERED_FROM } from '../wrapped/coin-coverage.ts';

export interface WalletInSql {
  readonly wallet: string;
  readonly chainId: string;
  /** Below it there is nothing of the chain. */
  readonly firstBlock: string;
  /** The wrapped native currency, which is deposited and withdrawn without transfers; null for none. */
  readonly wrapped: string | null;
  /** So old a reading of a token may be whose transfers don't tell its balances. Seconds. */
  readonly liveSeconds: string;
  /** Readings from this moment on are fresh whatever their age. */
  readonly freshFrom: string;
  /** Whether tables are distributed: then the wallet itself says on which node what is kept of it lies. */
  readonly isSpread: boolean;
}

/** After this a contract is asked again whether its transfers still tell its balances, and one that answered nothing, whether it does. */
const ASK_AGAIN = "interval '24 hours'";

/** `tokens` as they are kept of the wallet: all that it may hold, or those that are named, whatever is known of them. To be given an alias. */
export function heldTokens({ wallet, chainId, wrapped, isSpread }: WalletInSql, named: string | null): string {
  const ofWallet = `wallet = ${wallet} AND chain_id = ${chainId}`;
  if (named === null)
    return `(SELECT ${COLUMNS.map(([name]) => name).join(', ')} FROM erc20_wallet_tokens
      WHERE ${ofWallet} AND ${expectedTrue(`(moved_block >= 0 OR anchor_value > 0${wrapped === null ? '' : ` OR token = ${wrapped}`})`)})`;
  const columns = COLUMNS.map(([name, absent]) =>
    name === 'token' ? 'asked.token' : `coalesce(own.${name}, ${absent}) AS ${name}`,
  );
  return `(SELECT ${columns.join(', ')} FROM (SELECT DISTINCT given.token FROM ${named} AS given(token)) AS asked
    LEFT JOIN LATERAL ${heldToken('asked.token', { wallet, chainId, isSpread }, 'own')})`;
}

/**
 * To be joined LEFT LATERAL: what is kept of one token. The first row of the key from there on: asked for by equality, the planner may read all of
 * a wallet's by the index by movement, where it expects few.
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

/** With what stands for those of a token of which nothing is kept. */
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

/** What is shown of a token: name and all that, and whether it is of NFTs. Columns of `tokens`, nulls where it has no row. To be given an alias. */
export function factsOf(token: string, { chainId }: WalletInSql): string {
  return `(SELECT name, symbol, decimals, facts_status, logo, coalesce(verified, false) AS verified, coalesce(possible_spam, false) AS possible_spam,
      total_supply, coalesce(supply_read_at < now() - interval '1 hour', true) AS is_supply_old, standard IN ('erc721', 'erc1155') IS TRUE AS is_nft
    FROM (VALUES (true)) AS one LEFT JOIN tokens ON tokens.address = ${token} AND tokens.chain_id = ${chainId} LIMIT 1)`;
}

/**
 * Of a held token (alias `held`, with its facts as `shown`): its `class`, whether it is known to add up (`adds_up`), its `balance` where one
 * can be shown, the block that it is of, and whether its contract is `due` to be asked: `now`, since there is nothing to show before, or `again`. To
 * be given an alias.
 */
export function toldBalance(wallet: WalletInSql): string {
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
    ) AS told)`;
}

function readBalance({ liveSeconds, freshFrom }: WalletInSql): string {
  return `CASE class
        WHEN 'live' THEN CASE WHEN held.anchored_at >= least(now() - make_interval(secs => ${liveSeconds}::float8), ${freshFrom}::timestamptz) THEN held.anchor_value END
        WHEN 'none' THEN NULL
        ELSE CASE WHEN ${IS_SOUND} AND held.anchored_at IS NOT NULL AND (adds_up OR held.since = 0) AND held.anchor_value + held.since >= 0 THEN held.anchor_value + held.since END END`;
}

/** Whether of every block from this one on it is indexed what was deposited and withdrawn of the wrapped coin. */
export function isCoinKnownFrom(block: string): string {
  return `coalesce(${block} >= ${COIN_COVERED_FROM}, false)`;
}

/** Every block from the anchor on is indexed for the wallet. */
export const IS_SOUND = 'held.anchor_block + 1 >= covered.indexed_from AND held.anchor_block <= covered.indexed_to';

/** Every block of the chain is indexed for the wallet. */
export function isWhole(firstBlock: string): string {
  return `covered.chain_to IS NOT NULL AND covered.indexed_from <= ${firstBlock}`;
}

/** Until the contract is asked, transfers are believed of tokens that are known to add up, where there is all of them. */
function isBySum({ firstBlock, wrapped }: WalletInSql): string {
  const ofCoin = wrapped === null ? '' : ` AND (held.token <> ${wrapped} OR ${isCoinKnownFrom(firstBlock)})`;
  return `adds_up AND held.total >= 0 AND ${isWhole(firstBlock)}${ofCoin}`;
}
