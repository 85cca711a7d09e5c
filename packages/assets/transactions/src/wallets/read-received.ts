/** Receipts spent between two samples are not found. */

import type { Chain } from '@chainstead/chains';
import { isDeposit } from '@chainstead/chains/fees';
import {
  type Address,
  type BlockRange,
  isAddress,
  mergeRanges,
  parseAddress,
  parseBigQuantity,
  subtractRanges,
} from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, isSpread, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey, DIRECTION } from '@chainstead/db/column-types';
import type { ReadSender } from '@chainstead/pages/on-demand';
import type { WholeBlock } from '@chainstead/sync/datasets';
import { saveEstimate } from '@chainstead/sync/requests';
import { accountRows, committedIn } from '../stored/datasets.ts';
import { NO_ROLE, ROLES, type TransactionRow } from '../stored/schema.ts';
import { readUint64, transactionRow } from '../stored/transaction-row.ts';
import type { BlockWithCalls } from './block-store.ts';
import {
  type CallsReader,
  createCallsReader,
  readMarked,
  readNamed,
  recordMarked,
  recordWhole,
} from './read-named.ts';
import {
  CALLS_PER_BLOCK,
  isSingle,
  keepBlocks,
  middleOf,
  narrowDown,
  type SearchSpan,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

export const readReceiver: ReadSender = (reading, subject, signal) =>
  searchHistory(reading, subject, signal, {
    missingOf: ({ unsearched }) => aboveGenesis(unsearched),
    // There will be newer ones by then: the next request queues their search.
    awaitsNewest: false,
    async run(turn, ending) {
      const named = await readNamed(turn, ending);
      return named === 'calls' || named === 'time' ? named : searchBalances(turn, ending, named === 'done');
    },
    // Its receipts there were found together with its sent transactions.
    runNewest: null,
  });

/** Genesis balances have no transaction. */
function aboveGenesis(ranges: readonly BlockRange[]): readonly BlockRange[] {
  return subtractRanges(ranges, [{ from: 0, to: 0 }]);
}

interface BalanceSearch {
  readonly turn: SearchTurn;
  readonly explained: ExplainedChanges;
  readonly calls: CallsReader;
}

/** Not stored as searched: once the blocks are final, an index may list more. */
export function receiveNewest(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  return searchBalances({ ...turn, ranges: aboveGenesis(turn.ranges), isRecorded: false, open: null }, signal);
}

async function searchBalances(turn: SearchTurn, signal: AbortSignal, isNamed = false): Promise<TurnEnd> {
  const { node, reading, subject, ranges } = turn;
  const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
  const explained = await readExplainedChanges(reading.database, reading.chain, subject.address, { from, to });
  const search: BalanceSearch = { turn, explained, calls: createCallsReader(turn) };
  const borders = [...new Set(ranges.flatMap((range) => [range.from - 1, range.to]))];
  const at = await unexplainedAt(search, borders);
  const open = ranges.flatMap((range) => changeIn(range, at.get(range.from - 1) ?? 0n, at.get(range.to) ?? 0n));
  turn.open = open;
  if (isNamed) await recordNamed(turn, open);
  const expected = estimateBalances(open) + CALLS_PER_BLOCK * open.length;
  await saveEstimate(reading.database, subject, node.callsMade() + expected);
  const steps: SpanSteps<BalanceChange> = {
    narrow: async (left, blocks) => narrowChanges(left, await unexplainedAt(search, blocks)),
    keep: async (left, chosen) => {
      const kept = { spans: left, chosen, read: (change: BalanceChange) => readFound(search, change, signal) };
      return (await keepBlocks(turn, kept)).left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** Complete: an index listed the blocks, and stored rows explain all changes. */
async function recordNamed(
  { reading: { database }, subject, ranges }: SearchTurn,
  open: readonly BalanceChange[],
) {
  const doubted = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  const before = await readMarked(database, subject, 'doubted');
  await database.transaction(async (transaction) => {
    await recordMarked(transaction, subject, 'doubted', doubted);
    const known = subtractRanges(ranges, [...before, ...doubted]);
    // The first block contains only genesis balances.
    const whole = known.map(({ from, to }) => ({ from: from === 1 ? 0 : from, to }));
    await recordWhole(transaction, subject, mergeRanges(whole));
  });
}

async function unexplainedAt({ turn: { node }, explained }: BalanceSearch, blocks: readonly number[]) {
  const balances = await node.balancesAt(blocks);
  return new Map(blocks.map((block, index) => [block, (balances[index] ?? 0n) - explained.until(block)]));
}

async function readFound(
  search: BalanceSearch,
  change: BalanceChange,
  signal: AbortSignal,
): Promise<BlockWithCalls> {
  const { turn, explained } = search;
  const { reading, subject, store } = turn;
  const block = await store.read(change.until, signal);
  const whole = { ...block, internalTransactions: [] };
  const byTransactions =
    coinChangeIn(whole, subject.address, reading.chain) - explained.byTransactionsOf(change.until);
  const rest = change.now - change.before - byTransactions;
  return { block, calls: rest === 0n ? [] : await search.calls.read(block, signal) };
}

type PaidTransaction = Pick<
  TransactionRow,
  'type' | 'status' | 'value' | 'gasUsed' | 'gasPrice' | 'l1Fee' | 'blobGasUsed' | 'blobGasPrice'
>;

const WEI_PER_GWEI = 10n ** 9n;

/** Wei, without internal calls. `roles`: {@link ROLES}. */
function coinChange(paid: PaidTransaction, roles: number, { id }: Pick<Chain, 'id'>): bigint {
  if (roles <= NO_ROLE) return 0n;
  const moved = paid.status === 0 ? 0n : BigInt(paid.value);
  const received = (roles & (ROLES.receiver | ROLES.created)) === 0 ? 0n : moved;
  if ((roles & ROLES.sender) === 0 || isDeposit(paid.type, id)) return received;
  if ((roles & ROLES.sponsored) !== 0) return received - moved;
  const { gasUsed, gasPrice, l1Fee, blobGasUsed, blobGasPrice } = paid;
  const fees = readUint64(gasUsed) * BigInt(gasPrice) + BigInt(l1Fee ?? 0);
  return received - moved - fees - BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0);
}

/** Wei, without internal calls, with withdrawals. */
function coinChangeIn(block: WholeBlock, account: Address, chain: Chain): bigint {
  const changes = committedIn(block, chain).flatMap((transaction) =>
    accountRows(transaction, block.header.number, chain)
      .filter((row) => row.account === account)
      .map(({ roles }) => coinChange(transactionRow(transaction, block.header, chain), roles, chain)),
  );
  return changes.reduce((sum, change) => sum + change, withdrawnIn(block, account));
}

function withdrawnIn({ header: { raw } }: WholeBlock, account: Address): bigint {
  const withdrawals: readonly Readonly<Record<string, unknown>>[] = Array.isArray(raw.withdrawals)
    ? raw.withdrawals
    : [];
  return withdrawals
    .filter(({ address }) => isAddress(address) && parseAddress(address) === account)
    .reduce((sum, { amount }) => sum + parseBigQuantity(amount) * WEI_PER_GWEI, 0n);
}

interface ExplainedChanges {
  /** Wei, from the range's start to the end of a block. */
  until(block: number): bigint;
  /** Wei, without internal calls. */
  byTransactionsOf(block: number): bigint;
}

/** One snapshot: later writes are not included. */
export async function readExplainedChanges(
  database: Database,
  chain: Pick<Chain, 'id'>,
  account: Address,
  range: BlockRange,
): Promise<ExplainedChanges> {
  const ofAccount = sql`account_key = ${addressKey(account)}::bigint AND ${expectedTrue(sql`account = ${addressBytes(account)}::bytea`)} AND chain_id = ${chain.id}
    AND block_number BETWEEN ${range.from}::bigint AND ${range.to}::bigint`;
  const [paid, inside] = await Promise.all([
    database.query<PaidTransaction & { readonly block: number; readonly roles: number }>(
      paidStatement(chain, ofAccount, await isSpread(database)),
    ),
    database.query<{ block: number; change: string }>(
      sql`SELECT block_number AS block, sum(CASE direction WHEN ${rawSql(DIRECTION.sent)} THEN -value WHEN ${rawSql(DIRECTION.received)} THEN value ELSE 0 END)::text AS change
       FROM internal_transfers WHERE ${ofAccount} GROUP BY block_number`,
    ),
  ]);
  const byTransactions = new Map<number, bigint>();
  for (const { block, roles, ...row } of paid) add(byTransactions, block, coinChange(row, roles, chain));
  const all = new Map(byTransactions);
  for (const { block, change } of inside) add(all, block, BigInt(change));
  const blocks = [...all].toSorted(([left], [right]) => left - right);
  let sum = 0n;
  const sums = blocks.map(([block, change]) => {
    sum += change;
    return { block, sum };
  });
  return {
    until: (block) => sums[countUntil(sums, block) - 1]?.sum ?? 0n,
    byTransactionsOf: (block) => byTransactions.get(block) ?? 0n,
  };
}

function countUntil(sums: readonly { readonly block: number }[], block: number): number {
  let [low, high] = [0, sums.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle]?.block ?? Number.POSITIVE_INFINITY) <= block) low = middle + 1;
    else high = middle;
  }
  return low;
}

function add(changes: Map<number, bigint>, block: number, change: bigint): void {
  changes.set(block, (changes.get(block) ?? 0n) + change);
}

/** A lookup by the whole key can't become a scan of partitions; Citus does not support it. */
function paidStatement({ id }: Pick<Chain, 'id'>, ofAccount: Sql, isOnCluster: boolean): Sql {
  const place = sql`made.transaction_key = mine.transaction_key AND made.chain_id = ${id}
    AND made.block_number = mine.block_number AND made.transaction_index = mine.transaction_index`;
  const lookup = isOnCluster
    ? sql`JOIN transactions AS made ON ${place}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${place} LIMIT 1) AS made`;
  return sql`WITH mine AS MATERIALIZED (
      SELECT transaction_key, block_number, transaction_index, roles FROM account_transactions WHERE ${ofAccount})
    SELECT mine.block_number AS block, mine.roles, made.type, made.status, made.value::text, made.gas_used::text,
      made.gas_price::text, made.l1_fee::text, made.blob_gas_used::text,
      made.blob_gas_price::text
    FROM mine ${lookup}`;
}

/** Wei; only differences have a meaning. */
export interface BalanceChange extends SearchSpan {
  /** Balance after the block `after`, minus all known movements. */
  readonly before: bigint;
  /** The same after the block `until`; it differs. */
  readonly now: bigint;
}

export function changeIn({ from, to }: BlockRange, before: bigint, now: bigint): readonly BalanceChange[] {
  return before === now ? [] : [{ after: from - 1, until: to, before, now }];
}

/** Bisection: changes that cancel out between samples leave no trace. */
export function narrowChanges(
  changes: readonly BalanceChange[],
  unexplained: ReadonlyMap<number, bigint>,
): readonly BalanceChange[] {
  return changes.flatMap((change) => {
    const middle = middleOf(change);
    const between = isSingle(change) ? undefined : unexplained.get(middle);
    if (between === undefined) return [change];
    return [
      ...(between === change.before ? [] : [{ ...change, until: middle, now: between }]),
      ...(between === change.now ? [] : [{ ...change, after: middle, before: between }]),
    ];
  });
}

export function estimateBalances(changes: readonly BalanceChange[]): number {
  return changes.reduce((sum, { after, until }) => sum + Math.ceil(Math.log2(until - after)), 0);
}
