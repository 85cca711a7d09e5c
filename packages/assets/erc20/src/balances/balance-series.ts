import type { Chain } from '@chainstead/chains';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { readBlockRuns } from '@chainstead/pages';
import { MOVED_DELTA } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TransfersTable } from '../transfers/row-table.ts';
import type { BalanceSpan, Holding } from './balance-questions.ts';

interface BalanceSince {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
  readonly balance: bigint;
}

interface KnownSeries {
  readonly of: 'known';
  readonly before: bigint;
  /** Oldest first, one per block with transfers. */
  readonly changes: readonly BalanceSince[];
  readonly isOld: boolean;
}

/** `moved`: the next read shows whether transfers add up. `uncovered`: not indexed. */
export type BalanceSeries = KnownSeries | { readonly of: 'unread' | 'moved' | 'uncovered' | 'live' };

/** In order: the contract's value at a block, moved by transfers. */
export async function readBalanceSeries(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly Holding[],
  span: BalanceSpan,
): Promise<readonly BalanceSeries[]> {
  if (holdings.length === 0) return [];
  const runs = await readBlockRuns(database, chain.id, [erc20Transfers.name], span.end);
  const run = runs.get(erc20Transfers.name);
  // The first transfers of a chain are those of its first block.
  if (run === undefined || run.firstBlock > Math.max(span.start + 1, chain.firstBlock))
    return holdings.map(() => ({ of: 'uncovered' }));
  const anchors = await readStoredAnchors(database, chain, holdings);
  const isUsable = ({ block, value, isLive }: StoredAnchor): boolean =>
    value !== null && !isLive && run.firstBlock <= block + 1 && block <= run.lastBlock;
  const gaps = anchors.filter(isUsable).map((anchor) => ({ ...anchor, ...gapBetween(anchor, span) }));
  const [moved, sums] = await Promise.all([
    readMovedBlocks(database, chain, gaps, span),
    readMovedSums(database, chain, gaps),
  ]);
  const known = new Map(
    gaps.map((anchor, index) => [
      keyOf(anchor),
      { moves: moved[index] ?? [], gap: sums[index] ?? { sum: 0n, moves: 0 } },
    ]),
  );
  const byKey = new Map(anchors.map((anchor) => [keyOf(anchor), anchor]));
  return holdings.map((holding): BalanceSeries => {
    const anchor = byKey.get(keyOf(holding));
    if (anchor?.isLive === true) return { of: 'live' };
    const rows = known.get(keyOf(holding));
    // Reads happen at the newest block: of no use to a run that ends earlier.
    if (anchor === undefined || anchor.value === null || rows === undefined)
      return { of: run.isNewest ? 'unread' : 'uncovered' };
    const hasMoved = rows.moves.length > 0 || rows.gap.moves > 0;
    if (!anchor.addsUp && hasMoved) return { of: 'moved' };
    const series = moveAnchor({ block: anchor.block, value: anchor.value }, span, rows.gap.sum, rows.moves);
    return series === null ? { of: 'live' } : { of: 'known', ...series, isOld: anchor.isOld };
  });
}

/**
 * Moves the contract's value to a span's start. @returns null if a balance would be below zero
 * @param gap base units received minus sent between the value's block and the span
 */
export function moveAnchor(
  { block, value }: { readonly block: number; readonly value: bigint },
  { start, end }: BalanceSpan,
  gap: bigint,
  moves: readonly MovedBlock[],
): Pick<KnownSeries, 'before' | 'changes'> | null {
  const untilAnchor = moves.reduce((sum, move) => (move.block <= block ? sum + move.delta : sum), 0n);
  const before = block <= start ? value + gap : value - untilAnchor - (block > end ? gap : 0n);
  let balance = before;
  const changes = moves.map(({ block: at, since, delta }) => {
    balance += delta;
    return { block: at, since, balance };
  });
  return before < 0n || changes.some((change) => change.balance < 0n) ? null : { before, changes };
}

/** Exclusive and inclusive; equal: no blocks lie between. */
function gapBetween({ block }: StoredAnchor, { start, end }: BalanceSpan): { after: number; to: number } {
  if (block < start) return { after: block, to: start };
  return block > end ? { after: end, to: block } : { after: block, to: block };
}

function keyOf({ account, token }: Holding): string {
  return `${account} ${token}`;
}

interface MovedBlock {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
  /** Base units received minus sent. */
  readonly delta: bigint;
}

interface MovedSum {
  /** Base units received minus sent. */
  readonly sum: bigint;
  readonly moves: number;
}

/** By holding, oldest block first. One range of the primary key per account. */
async function readMovedBlocks(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly Holding[],
  { start, end }: BalanceSpan,
): Promise<readonly (readonly MovedBlock[])[]> {
  if (holdings.length === 0) return [];
  const accounts = [...new Set(holdings.map(({ account }) => account))];
  const tokens = [...new Set(holdings.map(({ token }) => token))];
  const rows = await database.select<Holding & { block: number; delta: string; since: number }>(
    sql`WITH moved AS MATERIALIZED (
  SELECT account_key, account, token, block_number, sum(${MOVED_DELTA}) AS delta FROM ${rawSql(erc20TransfersTable.name)}
  WHERE account_key = ANY (${accounts.map(addressKey)}::bigint[]) AND chain_id = ${chain.id}::bigint AND account = ANY (${accounts.map(addressBytes)}::bytea[]) AND token = ANY (${tokens.map(addressBytes)}::bytea[])
    AND block_number > ${start}::bigint AND block_number <= ${end}::bigint
  GROUP BY account_key, account, token, block_number
)
SELECT ${hexText('account')} AS account, ${hexText('token')} AS token, moved.block_number AS block, delta::text,
  extract(epoch FROM block_timestamp)::float8 AS since
FROM moved JOIN blocks ON blocks.chain_id = ${chain.id}::bigint AND blocks.block_number = moved.block_number ORDER BY moved.block_number`,
  );
  const byHolding = Map.groupBy(rows, ({ account, token }) => `${account} ${token}`);
  return holdings.map(({ account, token }) =>
    (byHolding.get(`${account} ${token}`) ?? []).map(({ block, since, delta }) => ({
      ...{ block, since },
      delta: BigInt(delta),
    })),
  );
}

async function readMovedSums(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly (Holding & { readonly after: number; readonly to: number })[],
): Promise<readonly MovedSum[]> {
  // Citus refuses an aggregate that depends on another relation: one range per holding.
  const ranges = holdings.flatMap(({ account, token, after, to }, position) => {
    if (after >= to) return [];
    const bytes = sql`${addressBytes(token)}::bytea`;
    return [
      sql`(SELECT ${rawSql(position)} AS position, coalesce(sum(${MOVED_DELTA}), 0)::text AS sum, count(*)::int AS moves FROM ${rawSql(erc20TransfersTable.name)}
  WHERE account_key = ${addressKey(account)}::bigint AND chain_id = ${chain.id}::bigint AND account = ${addressBytes(account)}::bytea
    AND token_key(token) = token_key(${bytes}) AND token = ${bytes} AND block_number > ${after}::bigint AND block_number <= ${to}::bigint)`,
    ];
  });
  const rows =
    ranges.length === 0
      ? []
      : await database.select<{ position: number; sum: string; moves: number }>(joinSql(ranges, ' UNION ALL '));
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return holdings.map((_, position) => {
    const row = byPosition.get(position);
    return { sum: BigInt(row?.sum ?? 0), moves: row?.moves ?? 0 };
  });
}

export interface StoredAnchor extends Holding {
  /** -1: no read. */
  readonly block: number;
  /** Base units; null: never read, or doubted since. */
  readonly value: bigint | null;
  /**
   * Reads confirmed the transfers, a list verifies the token, or it is the wrapped native token.
   */
  readonly addsUp: boolean;
  /** Transfers don't determine its balances, or the contract has none. */
  readonly isLive: boolean;
  readonly isOld: boolean;
  readonly createdBlock: number | null;
}

/** In any order. Missing without a stored row, unless the token has a class. */
export async function readStoredAnchors(
  database: ReadDatabase,
  { id, wrappedNative }: Chain,
  holdings: readonly Holding[],
): Promise<readonly StoredAnchor[]> {
  const accounts = sql`${holdings.map(({ account }) => addressBytes(account))}::bytea[]`;
  const tokens = sql`${holdings.map(({ token }) => addressBytes(token))}::bytea[]`;
  const rows = await database.select<
    Omit<StoredAnchor, 'value' | 'addsUp' | 'isLive'> & {
      value: string | null;
      class: 'sum' | 'live' | 'none' | 'new';
      isListed: boolean;
    }
  >(
    sql`WITH requested AS MATERIALIZED (SELECT * FROM unnest(${accounts}, ${tokens}) AS given(account, token)),
held AS MATERIALIZED (SELECT wallet, token, anchor_block, anchor_value, anchored_at FROM erc20_wallet_tokens
  WHERE wallet = ANY (${accounts}) AND chain_id = ${id}::bigint AND token = ANY (${tokens})),
classes AS MATERIALIZED (SELECT token, class FROM erc20_token_classes WHERE token = ANY (${tokens}) AND chain_id = ${id}::bigint),
facts AS MATERIALIZED (SELECT address AS token, verified, created_block FROM tokens WHERE address = ANY (${tokens}) AND chain_id = ${id}::bigint)
SELECT ${hexText('requested.account')} AS account, ${hexText('requested.token')} AS token, coalesce(anchor_block, -1)::int AS block,
  CASE WHEN anchored_at IS NOT NULL THEN anchor_value::text END AS value, coalesce(anchored_at < now() - interval '24 hours', false) AS "isOld",
  coalesce(class, 'new') AS class, coalesce(facts.verified, false) AS "isListed", facts.created_block
FROM requested LEFT JOIN held ON held.wallet = requested.account AND held.token = requested.token
  LEFT JOIN classes ON classes.token = requested.token LEFT JOIN facts ON facts.token = requested.token`,
  );
  return rows.map(({ value, class: kind, isListed, ...row }) => ({
    ...row,
    value: value === null ? null : BigInt(value),
    // Without its deposits and withdrawals, its reads can't be compared.
    addsUp: kind === 'sum' || (kind === 'new' && (isListed || row.token === wrappedNative)),
    isLive: kind === 'live' || kind === 'none',
  }));
}
