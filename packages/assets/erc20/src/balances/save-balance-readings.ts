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
  type SqlValue,
  sql,
  type Transaction,
} from '@chainstead/db';
import type { StateBlock, StateReadingContext } from '@chainstead/node-reads';
import { subjectCoverage } from '@chainstead/pages';
import { underCommitLock } from '@chainstead/sync';
import type { Said } from '../calls/fetch-balances.ts';
import { MOVED_DELTA, movedRows } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage } from '../wrapped/coin-coverage.ts';
import { type BalanceVerdict, judgeReading } from './judge-reading.ts';
import { heldToken, IS_SOUND, isCoinKnownFrom, isWhole } from './resolved-balances.ts';
import { saveClass } from './save-class.ts';

export interface Readings {
  readonly wallet: Address;
  readonly block: StateBlock;
  readonly first: ReadonlyMap<Address, bigint | null>;
  /** From another upstream; null: not read yet. */
  readonly second: ReadonlyMap<Address, Said> | null;
  readonly silent: ReadonlySet<Address>;
}

/**
 * Under the commit lock: blocks stay canonical, later movements are included. Stores the tokens'
 * classes, too. @returns tokens to read elsewhere; null: the block was reorganized away
 */
export async function saveBalanceReadings(
  context: StateReadingContext,
  all: readonly Readings[],
): Promise<readonly (readonly Address[] | null)[]> {
  const { chain, database } = context;
  return underCommitLock(database, chain, async (transaction) => {
    // Reads lost in a crash are repeated: the chain's commits need not wait for the disk.
    await transaction.query(sql`SET LOCAL synchronous_commit = off`);
    const blocks = all.map(({ block }) => block);
    const stored = await storedBlocks(transaction, chain, blocks);
    const kept = await storedWallets(transaction, chain, all);
    // Movements of other wallets are not counted: their reads would soon be outdated.
    const some = all.filter(({ wallet, block }) => stored.has(block.hash) && kept.has(wallet));
    const spread = await isSpread(transaction);
    const judged: Judged[] = [];
    // On distributed tables, wallets are on different nodes.
    for (const part of spread ? some.map((readings) => [readings]) : [some]) {
      const ofPart = part.length === 0 ? [] : await judge(transaction, chain, part, spread);
      if (ofPart.length > 0) await keepJudged(transaction, context, { some: part, judged: ofPart, isSpread: spread });
      judged.push(...ofPart);
    }
    return all.map((readings) =>
      stored.has(readings.block.hash)
        ? judged.flatMap((of) => (of.readings === readings && of.verdict.kind === 'ask' ? [of.token] : []))
        : null,
    );
  });
}

export async function storedBlocks(
  transaction: Transaction,
  { id }: Pick<Chain, 'id'>,
  blocks: readonly StateBlock[],
): Promise<ReadonlySet<Hash>> {
  const rows = await transaction.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM unnest(${blocks.map(({ number }) => number)}::bigint[], ${blocks.map(({ hash }) => hexBytes(hash))}::bytea[]) AS given(number, hash)
     JOIN blocks ON blocks.chain_id = ${id} AND blocks.block_number = given.number AND blocks.block_hash = given.hash`,
  );
  return new Set(rows.map(({ hash }) => hash));
}

async function storedWallets(
  transaction: Transaction,
  chain: Chain,
  all: readonly Readings[],
): Promise<ReadonlySet<Address>> {
  const { name, version } = erc20WalletTokens;
  const rows = await transaction.query<{ wallet: Address }>(
    sql`SELECT ${hexText('subject')} AS wallet FROM subject_projections JOIN projections USING (chain_id, state)
      WHERE chain_id = ${chain.id} AND state = ${name} AND subject = ANY (${all.map(({ wallet }) => addressBytes(wallet))}::bytea[]) AND built_to IS NULL AND NOT is_stale AND version = ${version}`,
  );
  return new Set(rows.map(({ wallet }) => wallet));
}

interface Judged {
  readonly readings: Readings;
  readonly token: Address;
  readonly verdict: BalanceVerdict;
}

interface JudgedReadings {
  readonly some: readonly Readings[];
  readonly judged: readonly Judged[];
  readonly isSpread: boolean;
}

async function judge(
  transaction: Transaction,
  chain: Chain,
  some: readonly Readings[],
  spread: boolean,
): Promise<readonly Judged[]> {
  const tokensOf = some.map(({ first }) => [...first.keys()]);
  const reading = combinedReadings(some, tokensOf, spread);
  const { name: dataset } = erc20Transfers;
  const coverage = { kind: 'wallet', subject: reading.wallet, chainId: chain.id, dataset } as const;
  const wrapped = chain.wrappedNative === null ? null : sql`${addressBytes(chain.wrappedNative)}::bytea`;
  const isKnownFrom = (block: Sql): Sql =>
    wrapped === null ? rawSql('') : sql` AND (requested.token <> ${wrapped} OR ${isCoinKnownFrom(block)})`;
  const ctes = [subjectCoverage(coverage), ...(wrapped === null ? [] : [coinCoverage(coverage)])];
  const above = movedAbove(chain, reading);
  const held = spread
    ? sql`held ON held.token = requested.token`
    : sql`LATERAL ${heldToken('requested.token', { wallet: reading.wallet, chain, isSpread: false }, 'held')}`;
  if (spread)
    ctes.push(
      sql`held AS MATERIALIZED (SELECT own.* FROM erc20_wallet_tokens AS own WHERE own.wallet = ${reading.wallet} AND own.chain_id = ${chain.id})`,
      sql`above AS MATERIALIZED (${above})`,
    );
  // `before` and `moved` are null if not all movements are indexed.
  const rows = await transaction.query<
    { place: number; token: Address; isLive: boolean } & Record<'before' | 'moved', string | null>
  >(
    reading.each(sql`
WITH ${joinSql(ctes)}
SELECT ${hexText('requested.token')} AS token, coalesce(known.class = 'live', false) AS "isLive",
  (CASE reported.since WHEN 'anchor' THEN held.anchor_value WHEN 'beginning' THEN 0 END)::text AS before,
  (CASE reported.since WHEN 'anchor' THEN held.since WHEN 'beginning' THEN coalesce(held.total, 0) END - coalesce(above.delta, 0))::text AS moved
FROM covered CROSS JOIN unnest(${reading.part(tokensOf.flat().map(addressBytes), 'bytea')}) AS requested(token)
LEFT JOIN ${held}
LEFT JOIN erc20_token_classes AS known ON known.token = requested.token AND known.chain_id = ${chain.id}
LEFT JOIN ${spread ? rawSql('above') : sql`(${above}) AS above`} ON above.token = requested.token
CROSS JOIN LATERAL (SELECT CASE WHEN covered.indexed_to < ${reading.block} THEN NULL
  WHEN ${IS_SOUND}${isKnownFrom(sql`held.anchor_block + 1`)} THEN 'anchor'
  WHEN ${isWhole(chain.firstBlock)}${isKnownFrom(sql`${chain.firstBlock}`)} THEN 'beginning' END AS since) AS reported
WHERE held.anchor_block IS NULL OR held.anchor_block <= ${reading.block}
`),
  );
  return rows.flatMap(({ place, token, isLive, before, moved }) => {
    const readings = some[place - 1];
    if (readings === undefined) return [];
    const { first, second } = readings;
    const isReported = !isLive && before !== null && moved !== null;
    const verdict = judgeReading({
      first: first.get(token) ?? null,
      second: second === null ? undefined : (second.get(token) ?? null),
      expected: isReported ? { value: BigInt(before) + BigInt(moved), hasMoved: BigInt(moved) !== 0n } : null,
    });
    return [{ readings, token, verdict }];
  });
}

interface CombinedReadings {
  /** Each row has the `place` of its read. @param rows a query for one read */
  each(rows: Sql): Sql;
  readonly wallet: Sql;
  readonly block: Sql;
  part(list: readonly SqlValue[], type: 'bytea' | 'numeric'): Sql;
}

/** A single read uses plain values, which routes the statement to the wallet's node. */
function combinedReadings(
  some: readonly Readings[],
  tokensOf: readonly (readonly Address[])[],
  spread: boolean,
): CombinedReadings {
  const [first] = some;
  if (spread && first !== undefined)
    return {
      each: (rows) => sql`SELECT 1 AS place, expected.* FROM (${rows}) AS expected`,
      wallet: sql`${addressBytes(first.wallet)}::bytea`,
      block: sql`${first.block.number}::bigint`,
      part: (list, type) => sql`${list}::${rawSql(type)}[]`,
    };
  const relation = readingRelation(some, tokensOf);
  return {
    each: (rows) =>
      sql`SELECT reading.place::int AS place, expected.* FROM ${relation} CROSS JOIN LATERAL (${rows}) AS expected`,
    wallet: sql`reading.wallet`,
    block: sql`reading.block`,
    part: (list, type) => sql`(${list}::${rawSql(type)}[])[reading.begins:reading.ends]`,
  };
}

/** Wallets and blocks in order, each with the bounds of its part of a token list. */
function readingRelation(some: readonly Readings[], tokensOf: readonly (readonly Address[])[]): Sql {
  const begins: number[] = [];
  const ends: number[] = [];
  for (const tokens of tokensOf) {
    const before = ends.at(-1) ?? 0;
    begins.push(before + 1);
    ends.push(before + tokens.length);
  }
  const wallets = some.map(({ wallet }) => addressBytes(wallet));
  const blocks = some.map(({ block }) => block.number);
  return sql`unnest(${wallets}::bytea[], ${blocks}::bigint[], ${begins}::int[], ${ends}::int[])
    WITH ORDINALITY AS reading(wallet, block, begins, ends, place)`;
}

function movedAbove(chain: Chain, { wallet, block }: Pick<CombinedReadings, 'wallet' | 'block'>): Sql {
  const condition = sql`account_key = address_key(${wallet}) AND account = ${wallet} AND chain_id = ${chain.id} AND block_number > ${block}`;
  const rows = movedRows(chain, sql`token, direction, value`, condition);
  return sql`SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY token`;
}

async function keepJudged(transaction: Transaction, context: StateReadingContext, kept: JudgedReadings): Promise<void> {
  const { judged } = kept;
  const { chain, logger } = context;
  const whose = (transfers: 'agree' | 'differ') =>
    blocksOf(judged.filter(({ verdict }) => verdict.kind === 'right' && verdict.transfers === transfers));
  const right = await saveAnchors(transaction, chain, kept);
  await saveClass(transaction, context, 'sum', whose('agree'));
  await saveClass(transaction, context, 'live', whose('differ'));
  const none = judged.filter(({ verdict }) => verdict.kind === 'none');
  const silent = none.filter(({ readings, token }) => readings.silent.has(token) && !right.has(token));
  await saveClass(transaction, context, 'none', blocksOf(silent));
  await changeAnchors(transaction, chain, none, FORGOTTEN);
  const unknown = judged.filter(({ verdict }) => verdict.kind === 'unknown');
  await changeAnchors(transaction, chain, unknown, DOUBTED);
  for (const [{ wallet, block }, tokens] of Map.groupBy(unknown, ({ readings }) => readings))
    logger.warn(
      { chain: chain.key, wallet, block: block.number, tokens: tokens.map(({ token }) => token) },
      'Upstreams differ about balances, which are not shown until they agree',
    );
}

function blocksOf(some: readonly Judged[]): ReadonlyMap<Address, number> {
  const blocks = new Map<Address, number>();
  for (const { token, readings } of some)
    blocks.set(token, Math.min(readings.block.number, blocks.get(token) ?? Number.POSITIVE_INFINITY));
  return blocks;
}

async function saveAnchors(
  transaction: Transaction,
  chain: Chain,
  { some, judged, isSpread: spread }: JudgedReadings,
): Promise<ReadonlySet<Address>> {
  const right = some.map((readings) =>
    judged.flatMap(({ readings: own, token, verdict }) =>
      own === readings && verdict.kind === 'right' ? [{ token, value: verdict.value }] : [],
    ),
  );
  const all = right.flat();
  const reported = new Set(all.map(({ token }) => token));
  if (all.length === 0) return reported;
  const tokensOf = right.map((balances) => balances.map(({ token }) => token));
  const reading = combinedReadings(some, tokensOf, spread);
  const tokens = reading.part(tokensOf.flat().map(addressBytes), 'bytea');
  const values = all.map(({ value }) => value.toString());
  const amounts = reading.part(values, 'numeric');
  const rows = reading.each(sql`
    SELECT ${reading.wallet} AS wallet, said.token, ${reading.block} AS block, said.value, coalesce(above.delta, 0) AS since
    FROM unnest(${tokens}, ${amounts}) AS said(token, value) LEFT JOIN (${movedAbove(chain, reading)}) AS above USING (token)`);
  await transaction.query(
    sql`INSERT INTO erc20_wallet_tokens AS held (wallet, chain_id, token, anchor_block, anchor_value, since, anchored_at)
     SELECT reported.wallet, ${chain.id}::bigint, reported.token, reported.block, reported.value, reported.since, clock_timestamp() FROM (${rows}) AS reported
     ORDER BY reported.wallet, reported.token
     ON CONFLICT (wallet, chain_id, token) DO UPDATE SET anchor_block = excluded.anchor_block, anchor_value = excluded.anchor_value,
       since = excluded.since, anchored_at = excluded.anchored_at`,
  );
  await transaction.query(
    sql`DELETE FROM erc20_token_classes WHERE chain_id = ${chain.id} AND token = ANY(${[...reported].map(addressBytes)}::bytea[]) AND class = 'none'`,
  );
  return reported;
}

const FORGOTTEN = sql`anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL`;
const DOUBTED = sql`anchored_at = NULL`;

async function changeAnchors(transaction: Transaction, { id }: Chain, of: readonly Judged[], to: Sql): Promise<void> {
  if (of.length === 0) return;
  const wallets = of.map(({ readings }) => addressBytes(readings.wallet));
  const tokens = of.map(({ token }) => addressBytes(token));
  await transaction.query(
    sql`UPDATE erc20_wallet_tokens AS held SET ${to} FROM unnest(${wallets}::bytea[], ${tokens}::bytea[]) AS given(wallet, token)
      WHERE held.wallet = given.wallet AND held.chain_id = ${id} AND held.token = given.token`,
  );
}
