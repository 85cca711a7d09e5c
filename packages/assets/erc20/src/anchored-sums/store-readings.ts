import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  addressBytes,
  hexBytes,
  hexText,
  isSpread,
  joinSql,
  rawSql,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import type { StateReadingContext } from '@chainstead/node-reads';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import type { Said } from '../calls/fetch-balances.ts';
import { FORGOTTEN } from '../transfers/anchors.ts';
import type { Axis } from './axes.ts';
import { type Readings, readingsInSql, type Together } from './readings-in-sql.ts';
import { IS_SOUND, isWhole } from './resolved-balances.ts';
import { saveClass } from './save-class.ts';

/**
 * Under the commit lock: blocks stay canonical, later movements are included. Stores the tokens'
 * classes, too. @returns keys to read elsewhere; null: the block was reorganized away
 */
export async function storeReadings(
  context: StateReadingContext,
  axis: Axis,
  all: readonly Readings[],
): Promise<readonly (readonly Address[] | null)[]> {
  const { chain, database } = context;
  return underCommitLock(database, chain, async (transaction) => {
    // Reads lost in a crash are repeated: the chain's commits need not wait for the disk.
    await transaction.query(sql`SET LOCAL synchronous_commit = off`);
    const stored = await storedBlocks(transaction, chain, all);
    const kept = await keptSubjects(transaction, chain, axis, all);
    // Movements of other subjects are not counted: their reads would soon be outdated.
    const [first, ...others] = all.filter(({ subject, block }) => stored.has(block.hash) && kept.has(subject));
    const spread = await isSpread(transaction);
    const judged: Judged[] = [];
    // On distributed tables, subjects are on different nodes.
    const parts: Together[] = first === undefined ? [] : [[first, ...others]];
    for (const some of spread ? parts.flat().map((readings): Together => [readings]) : parts) {
      const ofPart = await judge(transaction, chain, axis, some, spread);
      const readings = { axis, some, judged: ofPart, isSpread: spread };
      if (ofPart.length > 0) await keepJudged(transaction, context, readings);
      judged.push(...ofPart);
    }
    return all.map((readings) =>
      stored.has(readings.block.hash)
        ? judged.flatMap((of) => (of.readings === readings && of.verdict.kind === 'ask' ? [of.key] : []))
        : null,
    );
  });
}

async function storedBlocks(
  transaction: Transaction,
  { id }: Pick<Chain, 'id'>,
  all: readonly Readings[],
): Promise<ReadonlySet<Hash>> {
  const blocks = all.map(({ block }) => block);
  const rows = await transaction.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM unnest(${blocks.map(({ number }) => number)}::bigint[], ${blocks.map(({ hash }) => hexBytes(hash))}::bytea[]) AS given(number, hash)
     JOIN blocks ON blocks.chain_id = ${id} AND blocks.block_number = given.number AND blocks.block_hash = given.hash`,
  );
  return new Set(rows.map(({ hash }) => hash));
}

async function keptSubjects(
  transaction: Transaction,
  chain: Chain,
  { projection: { name, version } }: Axis,
  all: readonly Readings[],
): Promise<ReadonlySet<Address>> {
  const rows = await transaction.query<{ subject: Address }>(
    sql`SELECT ${hexText('subject')} AS subject FROM subject_projections JOIN projections USING (chain_id, state)
      WHERE chain_id = ${chain.id} AND state = ${name} AND subject = ANY (${all.map(({ subject }) => addressBytes(subject))}::bytea[]) AND built_to IS NULL AND NOT is_stale AND version = ${version}`,
  );
  return new Set(rows.map(({ subject }) => subject));
}

interface Judged {
  readonly readings: Readings;
  readonly key: Address;
  readonly token: Address;
  readonly verdict: BalanceVerdict;
  /** Null if transfers don't determine balances. */
  readonly isContradiction: boolean | null;
}

interface JudgedReadings {
  readonly axis: Axis;
  readonly some: Together;
  readonly judged: readonly Judged[];
  readonly isSpread: boolean;
}

/** Skips keys with a later stored read, and accounts without a transfer of the token. */
async function judge(
  transaction: Transaction,
  chain: Chain,
  axis: Axis,
  some: Together,
  spread: boolean,
): Promise<readonly Judged[]> {
  const keysOf = some.map(({ first }) => [...first.keys()]);
  const reading = readingsInSql(chain, some, keysOf, spread);
  const { coverage, held, above, token, isLive, isKnownFrom } = axis.partsOf(reading);
  const ctes = [...coverage, held.cte, above.cte].filter((cte) => cte !== null);
  // `before` and `moved` are null if not all movements are indexed.
  const rows = await transaction.query<
    { place: number; key: Address; isLive: boolean } & Record<'before' | 'moved' | 'total', string | null>
  >(
    reading.each(sql`
WITH ${joinSql(ctes)}
SELECT ${hexText('requested.key')} AS key, coalesce(known.class = 'live', false) OR ${isLive} AS "isLive",
  (CASE reported.since WHEN 'anchor' THEN held.anchor_value WHEN 'beginning' THEN 0 END)::text AS before,
  (CASE reported.since WHEN 'anchor' THEN held.since WHEN 'beginning' THEN coalesce(held.total, 0) END - coalesce(above.delta, 0))::text AS moved,
  (held.total - coalesce(above.delta, 0))::text AS total
FROM covered CROSS JOIN unnest(${reading.keysInSql}) AS requested(key)
${held.join}
${above.join}
LEFT JOIN erc20_token_classes AS known ON known.token = ${token} AND known.chain_id = ${chain.id}
CROSS JOIN LATERAL (SELECT CASE WHEN covered.indexed_to < ${reading.block} THEN NULL
  WHEN ${IS_SOUND}${isKnownFrom(sql`held.anchor_block + 1`)} THEN 'anchor'
  WHEN ${isWhole(reading.firstBlock)}${isKnownFrom(sql`${reading.firstBlock}`)} THEN 'beginning' END AS since) AS reported
WHERE held.anchor_block IS NULL OR held.anchor_block <= ${reading.block}
`),
  );
  return rows.flatMap(({ place, key, isLive, before, moved, total }) => {
    const readings = some[place - 1];
    if (readings === undefined) return [];
    const { first, second, subject } = readings;
    const token = axis.key === 'token' ? key : subject;
    const isReported = !isLive && before !== null && moved !== null;
    const expected = isReported
      ? { value: BigInt(before) + BigInt(moved), hasMoved: BigInt(moved) !== 0n }
      : null;
    const verdict = judgeReading({
      first: first.get(key) ?? null,
      second: second === null ? undefined : (second.get(key) ?? null),
      expected,
    });
    // A balance covers all receipts. Withdrawals of the wrapped native token may be unknown.
    const isBelow =
      verdict.kind === 'right' && token !== chain.wrappedNative && verdict.value < BigInt(total ?? 0);
    const isOther =
      verdict.kind === 'right' && expected !== null ? verdict.value !== expected.value : isBelow || null;
    return [{ readings, key, token, verdict, isContradiction: isOther }];
  });
}

async function keepJudged(
  transaction: Transaction,
  context: StateReadingContext,
  kept: JudgedReadings,
): Promise<void> {
  const { axis, judged } = kept;
  const { chain, logger } = context;
  const ofKind = (kind: BalanceVerdict['kind']) => judged.filter(({ verdict }) => verdict.kind === kind);
  const whose = (transfers: 'agree' | 'differ') =>
    blocksOf(judged.filter(({ verdict }) => verdict.kind === 'right' && verdict.transfers === transfers));
  const right = await saveAnchors(transaction, chain, kept);
  const [none, unknown] = [ofKind('none'), ofKind('unknown')];
  await changeAnchors(transaction, chain, axis, none, FORGOTTEN);
  await changeAnchors(transaction, chain, axis, unknown, axis.doubted);
  await saveClass(transaction, context, 'sum', whose('agree'));
  await saveClass(transaction, context, 'live', whose('differ'));
  const silent = blocksOf(none.filter(({ readings, token }) => readings.silent.has(token) && !right.has(token)));
  if (axis.key === 'account') {
    await countContradictions(transaction, chain, judged);
    if (silent.size > 0 && (await isAnyAnchored(transaction, chain, [...silent.keys()]))) silent.clear();
  }
  await saveClass(transaction, context, 'none', silent);
  for (const [{ subject, block }, of] of Map.groupBy(unknown, ({ readings }) => readings))
    logger.warn(
      {
        chain: chain.key,
        [axis.subject]: subject,
        block: block.number,
        [`${axis.key}s`]: of.map(({ key }) => key),
      },
      axis.warning,
    );
}

async function isAnyAnchored(
  transaction: Transaction,
  { id }: Chain,
  tokens: readonly Address[],
): Promise<boolean> {
  const rows = await transaction.query(
    sql`SELECT FROM erc20_holders WHERE token = ANY (${tokens.map(addressBytes)}::bytea[]) AND chain_id = ${id} AND anchor_block IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}

function blocksOf(some: readonly Pick<Judged, 'token' | 'readings'>[]): Map<Address, number> {
  const blocks = new Map<Address, number>();
  for (const { token, readings } of some)
    blocks.set(token, Math.min(readings.block.number, blocks.get(token) ?? Number.POSITIVE_INFINITY));
  return blocks;
}

/** @returns their tokens */
async function saveAnchors(
  transaction: Transaction,
  chain: Chain,
  { axis, some, judged, isSpread: spread }: JudgedReadings,
): Promise<ReadonlySet<Address>> {
  const right = judged.flatMap(({ verdict, ...of }) =>
    verdict.kind === 'right' ? [{ ...of, value: verdict.value }] : [],
  );
  const ordered = some.map((own) => right.filter(({ readings }) => readings === own));
  const blocks = blocksOf(right);
  if (right.length === 0) return new Set();
  const keysOf = ordered.map((of) => of.map((judged) => judged.key));
  const reading = readingsInSql(chain, some, keysOf, spread);
  const { above } = axis.partsOf(reading);
  const amounts = ordered.flat().map(({ value }) => value.toString());
  const rows = reading.each(sql`${above.cte === null ? rawSql('') : sql`WITH ${above.cte}`}
    SELECT ${reading.subject} AS subject, requested.key, ${reading.block} AS block, requested.value, coalesce(above.delta, 0) AS since
    FROM unnest(${reading.keysInSql}, ${reading.part(amounts, 'numeric')}) AS requested(key, value) ${above.join}`);
  const [table, key] = [rawSql(axis.table), rawSql(`${axis.subject}, chain_id, ${axis.key}`)];
  await transaction.query(
    sql`INSERT INTO ${table} AS held (${key}, anchor_block, anchor_value, since, anchored_at)
     SELECT reported.subject, ${chain.id}::bigint, reported.key, reported.block, reported.value, reported.since, clock_timestamp() FROM (${rows}) AS reported
     ORDER BY reported.subject, reported.key
     ON CONFLICT (${key}) DO UPDATE SET anchor_block = excluded.anchor_block, anchor_value = excluded.anchor_value,
       since = excluded.since, anchored_at = excluded.anchored_at`,
  );
  await transaction.query(
    // A newer read may have found that the contract is gone.
    sql`DELETE FROM erc20_token_classes AS stored USING unnest(${[...blocks.keys()].map(addressBytes)}::bytea[], ${[...blocks.values()]}::bigint[]) AS reported(token, block)
      WHERE stored.chain_id = ${chain.id} AND stored.token = reported.token AND stored.class = 'none' AND stored.since_block <= reported.block`,
  );
  return new Set(blocks.keys());
}

async function changeAnchors(
  transaction: Transaction,
  { id }: Chain,
  { table, subject, key }: Axis,
  of: readonly Judged[],
  to: Sql,
): Promise<void> {
  if (of.length === 0) return;
  const subjects = of.map(({ readings }) => addressBytes(readings.subject));
  const keys = of.map((judged) => addressBytes(judged.key));
  await transaction.query(
    sql`UPDATE ${rawSql(table)} AS held SET ${to} FROM unnest(${subjects}::bytea[], ${keys}::bytea[]) AS given(subject, key)
      WHERE held.${rawSql(subject)} = given.subject AND held.chain_id = ${id} AND held.${rawSql(key)} = given.key`,
  );
}

/** An account that contradicts its transfers makes a token `live` permanently. */
async function countContradictions(
  transaction: Transaction,
  chain: Chain,
  judged: readonly Judged[],
): Promise<void> {
  const compared = judged.filter(({ isContradiction }) => isContradiction !== null);
  const contradictions = compared.filter(({ isContradiction }) => isContradiction === true).length;
  const [first] = compared;
  if (first === undefined) return;
  await transaction.query(
    sql`UPDATE erc20_holder_counts SET readings = readings + ${compared.length}, contradictions = contradictions + ${contradictions}
      WHERE token = ${addressBytes(first.token)} AND chain_id = ${chain.id}`,
  );
}

interface Reading {
  readonly first: bigint | null;
  /** Another upstream's at the same block; undefined: not read yet. */
  readonly second: Said | undefined;
  /** From transfers; null if some aren't indexed, or if they don't determine balances. */
  readonly expected: { readonly value: bigint; readonly hasMoved: boolean } | null;
}

/** `none`: the contract returns no balance. `ask`: another upstream must be queried. */
type BalanceVerdict =
  | { readonly kind: 'right'; readonly value: bigint; readonly transfers: 'agree' | 'differ' | null }
  | { readonly kind: 'none' | 'ask' | 'unknown' };

/** Trusts one upstream with the expected value, or two that agree. */
export function judgeReading({ first, second, expected }: Reading): BalanceVerdict {
  if (second === undefined)
    return first !== null && isExpected(first, expected) ? right(first, expected) : { kind: 'ask' };
  if (first !== null && second === first)
    return isExpected(first, expected)
      ? right(first, expected)
      : { kind: 'right', value: first, transfers: 'differ' };
  if (first === null && second === null) return { kind: 'none' };
  if (typeof second === 'bigint' && isExpected(second, expected) && (first === null || expected !== null))
    return right(second, expected);
  // Invariant: BALANCE-RIGHT-OR-ABSENT
  return { kind: 'unknown' };
}

function right(value: bigint, expected: Reading['expected']): BalanceVerdict {
  return { kind: 'right', value, transfers: expected?.hasMoved === true ? 'agree' : null };
}

function isExpected(value: bigint, expected: Reading['expected']): boolean {
  return expected === null || value === expected.value;
}
