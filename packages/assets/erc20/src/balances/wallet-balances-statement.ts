import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, joinSql, rawSql, type Sql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  boolean,
  hex,
  int4,
  int8,
  type PackedTexts,
  packedRows,
  type RowOf,
  readPackedPage,
  text,
  textOrNull,
} from '@chainstead/db/packed-rows';
import {
  areTablesSpread,
  LOG_ORDER,
  readSubject,
  type SubjectColumns,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
} from '@chainstead/pages';
import {
  factsOfHeld,
  heldTokens,
  isCoinKnownFrom,
  type QueriedWallet,
  resolvedBalance,
} from '../anchored-sums/resolved-balances.ts';
import { MOVED_DELTA, MOVED_TABLES, movedRows } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage } from '../wrapped/dataset.ts';

export interface WalletBalancesQuery {
  readonly wallet: Address;
  readonly tokens: readonly Address[] | null;
  readonly excludeSpam: boolean;
  readonly verifiedOnly: boolean;
  /** Null: after the newest indexed block. */
  readonly toBlock: number | null;
  readonly limit: number;
  readonly order: SettledOrder | null;
  readonly liveMaxAgeMs: number;
  readonly freshFrom: Date | null;
}

/**
 * Listed first; in both groups, recently moved ones by address, then by newest movement: a reorg
 * may change recent ones, so no token changes its position between two pages.
 */
export interface SettledOrder {
  /** The newest block at the first page; null: determined on that page. */
  readonly pinned: number | null;
  readonly depth: number;
  readonly after: SettledKey | null;
}

interface SettledKey {
  readonly verified: boolean;
  /** Block, transaction, log. */
  readonly place: readonly number[];
  readonly token: Address;
}

/**
 * By movement: one backward range of its index. Named tokens: one lookup each. Settled order: all
 * of the wallet's rows. @param isSpread whether tables are distributed
 */
export function walletBalancesStatement(
  chain: Chain,
  query: WalletBalancesQuery,
  select: Sql = HELD_TOKENS.select,
  isSpread = false,
): Sql {
  const wallet: QueriedWallet = {
    ...{ chain, liveMaxAgeMs: query.liveMaxAgeMs, freshFrom: query.freshFrom, isSpread },
    wallet: sql`${addressBytes(query.wallet)}::bytea`,
    wrapped: chain.wrappedNative === null ? null : sql`${addressBytes(chain.wrappedNative)}::bytea`,
  };
  const subject = {
    kind: 'wallet',
    subject: wallet.wallet,
    chainId: chain.id,
    dataset: erc20Transfers.name,
    states: [erc20WalletTokens],
  } as const;
  const rowsOfWallet = sql`account_key = ${addressKey(query.wallet)} AND account = ${wallet.wallet} AND chain_id = ${chain.id}`;
  const named = query.tokens === null ? null : sql`unnest(${query.tokens.map(addressBytes)}::bytea[])`;
  const toBlock = query.toBlock === null ? null : sql`${query.toBlock}::bigint`;
  const movedRowsAbove = (block: Sql): Sql =>
    movedRows(chain, sql`token, direction, value`, sql`${rowsOfWallet} AND block_number > ${block}`);
  const moved =
    toBlock === null
      ? rawSql('')
      : sql`LEFT JOIN (SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${movedRowsAbove(toBlock)} AS moved GROUP BY token) AS moved ON moved.token = held.token`;
  const order =
    query.order === null ? BY_MOVEMENT : settledOrder(chain, query.order, { rowsOfWallet, toBlock, wallet });
  // Later blocks lack deposits and withdrawals of the wrapped native token.
  const unknown =
    toBlock === null || wallet.wrapped === null
      ? null
      : sql`(held.token = ${wallet.wrapped} AND NOT ${isCoinKnownFrom(sql`${toBlock} + 1`)})`;
  const addsUp = unknown === null ? sql`reported.adds_up` : sql`reported.adds_up AND NOT ${unknown} AS adds_up`;
  const balance =
    toBlock === null ? sql`reported.balance` : sql`reported.balance - coalesce(moved.delta, 0) AS balance`;
  const mayHold = [
    sql`reported.balance > 0`,
    IS_UNREPORTED,
    // It may have been held earlier: it moved since, or that is unknown.
    ...(toBlock === null ? [] : [sql`moved.delta <> 0 OR ${toBlock} < covered.indexed_from - 1`]),
    ...(unknown === null ? [] : [unknown]),
  ];
  const conditions = [
    ...order.conditions,
    expectedTrue(sql`(${joinSql(mayHold, ' OR ')})`),
    expectedTrue(sql`NOT shown.is_nft`),
    ...(query.excludeSpam ? [expectedTrue(sql`NOT shown.possible_spam`)] : []),
    ...(query.verifiedOnly ? [expectedTrue(sql`shown.verified`)] : []),
  ];
  const ctes = [subjectCoverage(subject), ...(wallet.wrapped === null ? [] : [coinCoverage(subject)])];
  return sql`WITH ${joinSql(ctes)}, state AS MATERIALIZED (
  SELECT now() AS read_at, ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
), packed AS MATERIALIZED (SELECT packed.* FROM covered CROSS JOIN LATERAL (SELECT ${select} FROM (
  SELECT held.token, ${order.place} AS place, reported.class, ${addsUp}, ${balance}, reported.balance_block, reported.due, shown.*
  FROM ${heldTokens(wallet, named)} AS held
    CROSS JOIN LATERAL ${factsOfHeld(wallet)} AS shown CROSS JOIN LATERAL ${resolvedBalance(wallet)} AS reported ${order.join}
    ${moved}
  ${where(conditions)} ORDER BY ${order.by} LIMIT ${query.limit + 1}
) AS page) AS packed)
SELECT state.*, packed.* FROM state CROSS JOIN packed`;
}

const BY_MOVEMENT = {
  join: rawSql(''),
  place: sql`ARRAY[held.moved_block, held.moved_transaction, held.moved_log]`,
  by: sql`held.moved_block DESC, held.moved_transaction DESC, held.moved_log DESC, held.token DESC`,
  conditions: [] as readonly Sql[],
};

function settledOrder(
  chain: Chain,
  { pinned, depth, after }: SettledOrder,
  of: { readonly rowsOfWallet: Sql; readonly toBlock: Sql | null; readonly wallet: QueriedWallet },
): typeof BY_MOVEMENT {
  const { rowsOfWallet, toBlock, wallet } = of;
  const { wrapped, isSpread } = wallet;
  const indexedTo = isSpread ? sql`(SELECT indexed_to FROM covered)` : sql`covered.indexed_to`;
  const newestBlock =
    pinned === null ? sql`least(${toBlock ?? rawSql('NULL')}, ${indexedTo})` : sql`${pinned}::bigint`;
  const settled = sql`${newestBlock} - ${depth}::bigint`;
  const order = {
    place: sql`settled.place`,
    by: sql`shown.verified DESC, settled.place DESC, held.token`,
    conditions: after === null ? [] : [isBehind(after)],
  };
  if (isSpread) return { ...order, join: spreadPlaces(chain, wallet, rowsOfWallet, settled) };
  const [transfers, moves] = MOVED_TABLES;
  const newestOf = (table: string, condition: Sql): Sql =>
    sql`SELECT ARRAY[block_number, transaction_index, log_index] AS place FROM ${rawSql(table)} AS transfer
    WHERE ${condition} AND ${rowsOfWallet} AND token_key(token) = token_key(held.token) AND token = held.token AND block_number <= ${settled}
    ${LOG_ORDER.byBlock('DESC', 'transfer.')} LIMIT 1`;
  const newestTransfer = newestOf(transfers.name, sql`true`);
  const before =
    wrapped === null
      ? newestTransfer
      : sql`SELECT max(place) FROM ((${newestTransfer}) UNION ALL (${newestOf(moves.name, sql`held.token = ${wrapped}`)})) AS newest`;
  return { ...order, join: settledPlaces(settled, sql`(${before})`) };
}

/** For distributed tables: looks up recent tokens together. */
function spreadPlaces(chain: Chain, { wallet }: QueriedWallet, rowsOfWallet: Sql, settled: Sql): Sql {
  const late = sql`SELECT token FROM erc20_wallet_tokens WHERE wallet = ${wallet} AND chain_id = ${chain.id} AND moved_block > ${settled}`;
  const rows = movedRows(
    chain,
    sql`token, block_number, transaction_index, log_index`,
    sql`${rowsOfWallet} AND block_number <= ${settled} AND token = ANY (ARRAY(${late}))`,
  );
  return sql`LEFT JOIN (SELECT token, max(ARRAY[block_number, transaction_index, log_index]) AS place FROM ${rows} AS moved GROUP BY token) AS before
      ON before.token = held.token
    ${settledPlaces(settled, sql`before.place`)}`;
}

/** @param before place of a recent token's newest settled movement; null: none */
function settledPlaces(settled: Sql, before: Sql): Sql {
  return sql`CROSS JOIN LATERAL (SELECT CASE WHEN held.moved_block <= ${settled} THEN ${BY_MOVEMENT.place}
      ELSE coalesce(${before}, ${UNSETTLED}) END AS place) AS settled`;
}

const UNSETTLED = sql`ARRAY[2147483647, 0, 0]`;

function isBehind({ verified, place, token }: SettledKey): Sql {
  const key = sql`(${verified}::boolean, ${place}::int[])`;
  return sql`((shown.verified, settled.place) < ${key} OR (shown.verified, settled.place) = ${key} AND held.token > ${addressBytes(token)}::bytea)`;
}

/** Shown once their contract is read, if the balance is not zero. */
const IS_UNREPORTED = sql`reported.due = 'now' OR reported.class = 'none' AND reported.due = 'again'`;

export type WalletBalances = Awaited<ReturnType<typeof getWalletBalances>>;
export type HeldToken = ReturnType<typeof toHeld>;

/** Contract reads after `readAt` are newer than these values. */
export async function getWalletBalances(database: Database, chain: Chain, query: WalletBalancesQuery) {
  const isSpread = await areTablesSpread(database);
  const { rows, page } = await readPackedPage<HeldTokenRow, SubjectColumns & PackedTexts & { readAt: Date }>(
    database,
    HELD_TOKENS,
    (select) => walletBalancesStatement(chain, query, select, isSpread),
  );
  const coverage = readSubject(chain, page);
  const ordered = query.order === null ? sortAlike(rows) : rows;
  return {
    ...coverage,
    tokens: ordered.slice(0, query.limit).map((row) => toHeld(row, coverage.isBuilt)),
    hasNext: rows.length > query.limit,
    readAt: page.readAt,
  };
}

/** The index returns tokens with the same movement in descending order. */
function sortAlike(rows: readonly HeldTokenRow[]): readonly HeldTokenRow[] {
  const byMovement = Map.groupBy(rows, (row) => `${row.moved_block} ${row.moved_transaction} ${row.moved_log}`);
  return [...byMovement.values()].flatMap((alike) => alike.toReversed());
}

/** Until the wallet's transfers are counted, only values that don't depend on them. */
function toHeld(row: HeldTokenRow, isBuilt: boolean) {
  // Invariant: BALANCE-RIGHT-OR-ABSENT
  const balance = isBuilt || row.class === 'live' ? row.balance : null;
  return {
    token: row.token,
    /** Newest movement by query order; -1s for none. */
    place: [row.moved_block, row.moved_transaction, row.moved_log],
    /** `sum`: by transfers; `live`: not by transfers; `none`: no balance; `new`: unknown. */
    class: row.class as 'sum' | 'live' | 'none' | 'new',
    addsUp: row.adds_up,
    balance: balance === null ? null : BigInt(balance),
    balanceBlock: balance === null || row.balance_block < 0 ? null : row.balance_block,
    /** `now`: there is no balance yet; `again`: eventually. */
    due: balance !== null || row.class === 'none' ? (row.due as 'now' | 'again' | null) : ('now' as const),
    facts: {
      name: row.name,
      symbol: row.symbol,
      /** Null only before the contract is read; 0 if it returns none. */
      decimals: row.decimals < 0 ? null : row.decimals,
      logo: row.logo,
      verified: row.verified,
      possibleSpam: row.possible_spam,
      totalSupply: row.total_supply,
      isSupplyOld: row.is_supply_old,
    },
  };
}

/** -1: unknown. */
const HELD_TOKENS = packedRows({
  token: hex<Address>('token', 20),
  moved_block: int4('place[1]'),
  moved_transaction: int4('place[2]'),
  moved_log: int4('place[3]'),
  class: text('class'),
  adds_up: boolean('adds_up'),
  balance: textOrNull('balance::text'),
  balance_block: int8('coalesce(balance_block, -1)'),
  due: textOrNull('due'),
  name: textOrNull('name'),
  symbol: textOrNull('symbol'),
  // A contract that was read without a result has 0.
  decimals: int4("coalesce(decimals, CASE WHEN facts_status <> 'pending' THEN 0 ELSE -1 END)"),
  logo: textOrNull('logo'),
  verified: boolean('verified'),
  possible_spam: boolean('possible_spam'),
  total_supply: textOrNull('total_supply::text'),
  is_supply_old: boolean('is_supply_old'),
});

type HeldTokenRow = RowOf<typeof HELD_TOKENS>;
