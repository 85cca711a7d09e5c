import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { subjectColumnsOld, subjectCoverageOld, subjectHistoryOld } from '@chainstead/data-api';
import { addressBytes, type Bind, expectedTrueOld, type Statement, whereOld } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { MOVED_DELTA, MOVED_TABLES, movedRows } from '../moved-tables.ts';

import { erc20Transfers } from '../transfers/dataset.ts';
import { firstInOrderOfBlocks } from '../transfers/page/transfer-place.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage } from '../wrapped/coin-coverage.ts';
import { HELD_TOKENS } from './held-token-rows.ts';
import { factsOf, heldTokens, isCoinKnownFrom, resolvedBalance, type WalletInSql } from './resolved-balances.ts';

/** The query of a wallet's balances. */
export interface WalletBalancesQuery {
  readonly wallet: Address;
  /** Null: all tokens that the wallet ever moved. */
  readonly tokens: readonly Address[] | null;
  readonly excludeSpam: boolean;
  /** Only tokens of imported lists. */
  readonly verifiedOnly: boolean;
  /** Balances after this block; null: after the newest indexed one. */
  readonly toBlock: number | null;
  /** Requested tokens; one more is read to detect further ones. */
  readonly limit: number;
  /** Null: newest movement first. */
  readonly order: SettledOrder | null;
  /** Maximum age of a read for tokens whose transfers don't determine balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
  /** Reads from this moment on are fresh whatever their age; null: none. */
  readonly freshFrom: Date | null;
}

/**
 * Listed tokens first. Within both groups, tokens that moved only recently by address, then the others by their newest
 * earlier movement. Recent movements can still be reorganized: with a pinned block, no token changes its position
 * between two pages.
 */
export interface SettledOrder {
  /** The newest block at the first page; null: determined on that page. */
  readonly pinned: number | null;
  /** Number of recent blocks up to it. */
  readonly depth: number;
  /** Strictly after this one; null: from the first. */
  readonly after: SettledKey | null;
}

interface SettledKey {
  readonly verified: boolean;
  readonly place: Place;
  readonly token: Address;
}

/** Position of a movement: block, transaction, log. */
export type Place = readonly number[];

/**
 * Builds the statement of a wallet's balances. Newest movement first, it is one backward range of the movement index
 * that ends after `limit` + 1 tokens to show or to read. With named tokens it is one lookup each; in settled order it
 * reads all of the wallet's rows. Token data is looked up by key.
 * @param isSpread whether tables are distributed
 */
export function walletBalancesStatement(
  chain: Chain,
  query: WalletBalancesQuery,
  select: string = HELD_TOKENS.selectOld,
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
  // Bound at its use: Postgres refuses unused parameters.
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
    expectedTrueOld(
      `(reported.balance > 0 OR ${IS_UNREPORTED}${toBlock === null ? '' : mayHaveHeld(toBlock, unknown)})`,
    ),
    expectedTrueOld('NOT shown.is_nft'),
    ...(query.excludeSpam ? [expectedTrueOld('NOT shown.possible_spam')] : []),
    ...(query.verifiedOnly ? [expectedTrueOld('shown.verified')] : []),
  ];
  const text = `WITH ${subjectCoverageOld(subject)}${wallet.wrapped === null ? '' : `, ${coinCoverage(subject)}`}, state AS MATERIALIZED (
  SELECT now() AS read_at, ${subjectColumnsOld(subject)} FROM covered LEFT JOIN ${subjectHistoryOld(subject)}
), packed AS MATERIALIZED (SELECT packed.* FROM covered CROSS JOIN LATERAL (SELECT ${select} FROM (
  SELECT held.token, ${order.place} AS place, reported.class, ${unknown === null ? 'reported.adds_up' : `reported.adds_up AND NOT ${unknown} AS adds_up`}, ${back === null ? 'reported.balance' : 'reported.balance - coalesce(moved.delta, 0)'} AS balance,
    reported.balance_block, reported.due, shown.*
  FROM ${heldTokens(wallet, named)} AS held
    CROSS JOIN LATERAL ${factsOf('held.token', wallet)} AS shown CROSS JOIN LATERAL ${resolvedBalance(wallet)} AS reported ${order.join}
    ${back === null ? '' : `LEFT JOIN (${back}) AS moved ON moved.token = held.token`}
  ${whereOld(conditions)} ORDER BY ${order.by} LIMIT ${bind(query.limit + 1)}
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
 * For transfers and wallet rows on different nodes: looks up the newest settled movements of recent tokens together.
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

/** Position of tokens that only moved recently. */
const UNSETTLED: Place = [2_147_483_647, 0, 0];

function behind({ verified, place, token }: SettledKey, bind: Bind): string {
  const key = `(${bind(verified)}::boolean, ${bind(place)}::int[])`;
  return `((shown.verified, settled.place) < ${key} OR (shown.verified, settled.place) = ${key} AND held.token > ${bind(addressBytes(token))}::bytea)`;
}

/** Returns movements above a block by token, to subtract them from a later balance. */
function movedSince(chain: Chain, rowsOfWallet: string, block: string): string {
  const rows = movedRows(chain, 'token, direction, value', `${rowsOfWallet} AND block_number > ${block}`);
  return `SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY token`;
}

/** For the wrapped native token: whether blocks above this one lack its deposits and withdrawals. */
function isCoinUnknown(wrapped: string, block: string): string {
  return `(held.token = ${wrapped} AND NOT ${isCoinKnownFrom(`${block} + 1`)})`;
}

/** Tokens to show once their contract is read, if the balance is not zero. */
const IS_UNREPORTED = "reported.due = 'now' OR reported.class = 'none' AND reported.due = 'again'";

/** A token with a zero balance may have been held earlier: it moved since, or that is unknown. */
function mayHaveHeld(toBlock: string, isUnknown: string | null): string {
  return ` OR moved.delta <> 0 OR ${toBlock} < covered.indexed_from - 1${isUnknown === null ? '' : ` OR ${isUnknown}`}`;
}
