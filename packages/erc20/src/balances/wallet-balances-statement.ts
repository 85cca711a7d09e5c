import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrue, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { MOVED_DELTA, MOVED_TABLES, movedRows } from '../moved-tables.ts';

import { erc20Transfers } from '../transfers/dataset.ts';
import { firstInOrderOfBlocks } from '../transfers/page/transfer-place.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage } from '../wrapped/coin-coverage.ts';
import { HELD_TOKENS } from './held-token-rows.ts';
import { factsOf, heldTokens, isCoinKnownFrom, toldBalance, type WalletInSql } from './told-balances.ts';

/** What to read. */
export interface WalletBalancesQuery {
  readonly wallet: Address;
  /** Null: all that the wallet ever moved. */
  readonly tokens: readonly Address[] | null;
  readonly excludeSpam: boolean;
  /** Keeps tokens of imported lists only. */
  readonly verifiedOnly: boolean;
  /** Balances after this block; null: after the newest that is indexed. */
  readonly toBlock: number | null;
  /** Tokens wanted; one more is read to see whether others follow. */
  readonly limit: number;
  /** Null: newest movement first. */
  readonly order: SettledOrder | null;
  /** So old a reading of a token may be whose transfers don't tell its balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
  /** Readings from this moment on are fresh whatever their age; null: none. */
  readonly freshFrom: Date | null;
}

/**
 * Tokens of lists first; of both kinds those that only moved of late by address, then the others by their newest movement before. What is of late
 * can still be reorganised: where the block is pinned, no token changes its place, whatever arrives between two pages.
 */
export interface SettledOrder {
  /** The newest block at the first page; null: on that page. */
  readonly pinned: number | null;
  /** So many blocks up to it are of late. */
  readonly depth: number;
  /** Strictly behind this one; null: from the first. */
  readonly after: SettledKey | null;
}

interface SettledKey {
  readonly verified: boolean;
  readonly place: Place;
  readonly token: Address;
}

/** Of a movement: block, transaction, log. */
export type Place = readonly number[];

/**
 * The statement behind a wallet's balances. Newest movement first it is one range of the index by movement, backwards, which ends after
 * `limit` + 1 tokens that have something to show or are to be read; with tokens named, a look-up for each of them; in settled order all
 * of the wallet's. What is known of tokens is looked up by key.
 * @param isSpread whether tables are distributed
 */
export function walletBalancesStatement(
  chain: Chain,
  query: WalletBalancesQuery,
  select: string = HELD_TOKENS.select,
  isSpread = false,
): Statement {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const wallet: WalletInSql = {
    wallet: bind(addressBytes(query.wallet)),
    chainId: bind(chain.id),
    firstBlock: bind(chain.firstBlock),
    wrapped: chain.wrappedNative === null ? null : `${bind(addressBytes(chain.wrappedNative))}::bytea`,
    liveSeconds: bind(query.liveMaxAgeMs / 1_000),
    freshFrom: query.freshFrom === null ? `'infinity'` : bind(query.freshFrom),
    isSpread,
  };
  const subject = {
    kind: 'wallet',
    subject: wallet.wallet,
    chainId: wallet.chainId,
    dataset: erc20Transfers.name,
    states: [erc20WalletTokens],
  } as const;
  // Bound where it is used: Postgres refuses parameters that stand nowhere.
  const rowsOfWallet = (): string =>
    `account_key = ${bind(addressKey(query.wallet))} AND account = ${wallet.wallet} AND chain_id = ${wallet.chainId}`;
  const named = query.tokens === null ? null : `unnest(${bind(query.tokens.map(addressBytes))}::bytea[])`;
  const toBlock = query.toBlock === null ? null : `${bind(query.toBlock)}::bigint`;
  const back = toBlock === null ? null : movedSince(chain, rowsOfWallet(), toBlock);
  const order =
    query.order === null
      ? BY_MOVEMENT
      : settledOrder(chain, query.order, { rowsOfWallet: rowsOfWallet(), toBlock, wallet, bind });
  const unknown = toBlock === null || wallet.wrapped === null ? null : isCoinUnknown(wallet.wrapped, toBlock);
  const conditions = [
    ...order.conditions,
    expectedTrue(`(told.balance > 0 OR ${IS_UNTOLD}${toBlock === null ? '' : mayHaveHeld(toBlock, unknown)})`),
    expectedTrue('NOT shown.is_nft'),
    ...(query.excludeSpam ? [expectedTrue('NOT shown.possible_spam')] : []),
    ...(query.verifiedOnly ? [expectedTrue('shown.verified')] : []),
  ];
  const text = `WITH ${subjectCoverage(subject)}${wallet.wrapped === null ? '' : `, ${coinCoverage(subject)}`}, state AS MATERIALIZED (
  SELECT now() AS read_at, ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
), packed AS MATERIALIZED (SELECT packed.* FROM covered CROSS JOIN LATERAL (SELECT ${select} FROM (
  SELECT held.token, ${order.place} AS place, told.class, ${unknown === null ? 'told.adds_up' : `told.adds_up AND NOT ${unknown} AS adds_up`}, ${back === null ? 'told.balance' : 'told.balance - coalesce(moved.delta, 0)'} AS balance,
    told.balance_block, told.due, shown.*
  FROM ${heldTokens(wallet, named)} AS held
    CROSS JOIN LATERAL ${factsOf('held.token', wallet)} AS shown CROSS JOIN LATERAL ${toldBalance(wallet)} AS told ${order.join}
    ${back === null ? '' : `LEFT JOIN (${back}) AS moved ON moved.token = held.token`}
  ${where(conditions)} ORDER BY ${order.by} LIMIT ${bind(query.limit + 1)}
) AS page) AS packed)
SELECT state.*, packed.* FROM state CROSS JOIN packed`;
  return { text, values };
}

interface OrderInSql {
  readonly join: string;
  readonly place: string;
  readonly by: string;
  readonly conditions: readonly string[];
}

const BY_MOVEMENT: OrderInSql = {
  join: '',
  place: 'ARRAY[held.moved_block, held.moved_transaction, held.moved_log]',
  by: 'held.moved_block DESC, held.moved_transaction DESC, held.moved_log DESC, held.token DESC',
  conditions: [],
};

function settledOrder(
  chain: Chain,
  { pinned, depth, after }: SettledOrder,
  {
    rowsOfWallet,
    toBlock,
    wallet,
    bind,
  }: {
    readonly rowsOfWallet: string;
    readonly toBlock: string | null;
    readonly wallet: WalletInSql;
    readonly bind: Bind;
  },
): OrderInSql {
  const { wrapped, isSpread } = wallet;
  const newestBlock =
    pinned === null
      ? `least(${toBlock ?? 'NULL'}, ${isSpread ? '(SELECT indexed_to FROM covered)' : 'covered.indexed_to'})`
      : `${bind(pinned)}::bigint`;
  const settled = `${newestBlock} - ${bind(depth)}::bigint`;
  const order = {
    place: 'settled.place',
    by: 'shown.verified DESC, settled.place DESC, held.token',
    conditions: after === null ? [] : [behind(after, bind)],
  };
  if (isSpread) return { ...order, join: spreadPlaces(chain, wallet, rowsOfWallet, settled) };
  const [transfers, moves] = MOVED_TABLES;
  const newestOf = (table: string, condition: string): string =>
    `SELECT ARRAY[block_number, transaction_index, log_index] AS place FROM ${table} AS transfer
    WHERE ${condition} AND ${rowsOfWallet} AND token_key(token) = token_key(held.token) AND token = held.token AND block_number <= ${settled}
    ${firstInOrderOfBlocks('DESC', '1')}`;
  const newestTransfer = newestOf(transfers.name, 'true');
  const before =
    wrapped === null
      ? newestTransfer
      : `SELECT max(place) FROM ((${newestTransfer}) UNION ALL (${newestOf(moves.name, `held.token = ${wrapped}`)})) AS newest`;
  return {
    ...order,
    join: `CROSS JOIN LATERAL (SELECT CASE WHEN held.moved_block <= ${settled} THEN ${BY_MOVEMENT.place}
      ELSE coalesce((${before}), ARRAY[${UNSETTLED.join(', ')}]) END AS place) AS settled`,
  };
}

/**
 * Where transfers and what is kept of wallets lie on different nodes: the newest settled movement of each token that moved of late is looked up for all
 * of them together.
 */
function spreadPlaces(chain: Chain, wallet: WalletInSql, rowsOfWallet: string, settled: string): string {
  const late = `SELECT token FROM erc20_wallet_tokens WHERE wallet = ${wallet.wallet} AND chain_id = ${wallet.chainId} AND moved_block > ${settled}`;
  const rows = movedRows(
    chain,
    'token, block_number, transaction_index, log_index',
    `${rowsOfWallet} AND block_number <= ${settled} AND token = ANY (ARRAY(${late}))`,
  );
  return `LEFT JOIN (SELECT token, max(ARRAY[block_number, transaction_index, log_index]) AS place FROM ${rows} AS moved GROUP BY token) AS before
      ON before.token = held.token
    CROSS JOIN LATERAL (SELECT CASE WHEN held.moved_block <= ${settled} THEN ${BY_MOVEMENT.place}
      ELSE coalesce(before.place, ARRAY[${UNSETTLED.join(', ')}]) END AS place) AS settled`;
}

/** Of what only moved of late. */
const UNSETTLED: Place = [2_147_483_647, 0, 0];

function behind({ verified, place, token }: SettledKey, bind: Bind): string {
  const key = `(${bind(verified)}::boolean, ${bind(place)}::int[])`;
  return `((shown.verified, settled.place) < ${key} OR (shown.verified, settled.place) = ${key} AND held.token > ${bind(addressBytes(token))}::bytea)`;
}

/** What moved above a block, by token: what a balance that is known later has to be taken back by. */
function movedSince(chain: Chain, rowsOfWallet: string, block: string): string {
  const rows = movedRows(chain, 'token, direction, value', `${rowsOfWallet} AND block_number > ${block}`);
  return `SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY token`;
}

/** Of the wrapped coin: whether there are blocks above this one of which its deposits and withdrawals are not indexed. */
function isCoinUnknown(wrapped: string, block: string): string {
  return `(held.token = ${wrapped} AND NOT ${isCoinKnownFrom(`${block} + 1`)})`;
}

/** What is shown once its contract was asked, if it holds something. */
const IS_UNTOLD = "told.due = 'now' OR told.class = 'none' AND told.due = 'again'";

/** What is not held any more may have been: it moved since, or nobody knows. */
function mayHaveHeld(toBlock: string, isUnknown: string | null): string {
  return ` OR moved.delta <> 0 OR ${toBlock} < covered.indexed_from - 1${isUnknown === null ? '' : ` OR ${isUnknown}`}`;
}
