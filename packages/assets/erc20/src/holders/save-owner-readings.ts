import type { Address } from '@chainstead/core';
import { addressBytes, hexText, isSpread, joinSql, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { StateBlock, StateReadingContext } from '@chainstead/node-reads';
import { underCommitLock } from '@chainstead/sync';
import { type BalanceVerdict, judgeReading } from '../balances/judge-reading.ts';
import { IS_SOUND, isWhole } from '../balances/resolved-balances.ts';
import { storedBlocks } from '../balances/save-balance-readings.ts';
import { saveClass } from '../balances/save-class.ts';
import { reorganised } from '../balances/save-readings.ts';
import type { Said } from '../calls/fetch-balances.ts';
import { MOVED_DELTA, movedRows } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/coin-coverage.ts';

export interface OwnerReadings {
  readonly token: Address;
  readonly block: StateBlock;
  readonly firstBlock: number;
  readonly first: ReadonlyMap<Address, bigint | null>;
  /** From another upstream; null: not read yet. */
  readonly second: ReadonlyMap<Address, Said> | null;
  readonly isSilent: boolean;
}

/**
 * Under the commit lock: the block stays canonical, later movements are included.
 * @returns accounts to read elsewhere @throws StateUnavailableError after a reorg
 */
export async function saveOwnerReadings(
  context: StateReadingContext,
  readings: OwnerReadings,
): Promise<readonly Address[]> {
  const { chain, database, logger } = context;
  const { token, block } = readings;
  return underCommitLock(database, chain, async (transaction) => {
    if ((await storedBlocks(transaction, chain, [block])).size === 0) throw reorganised(block.number);
    // Movements are not counted, or not yet: the read would become wrong.
    if (!(await isKept(transaction, context, token))) return [];
    const spread = await isSpread(transaction);
    const judged = await judge(transaction, context, readings, spread);
    const accountsOf = (kind: BalanceVerdict['kind']): readonly Address[] =>
      judged.flatMap(({ account, verdict }) => (verdict.kind === kind ? [account] : []));
    await saveAnchors(transaction, context, { ...readings, isSpread: spread }, judged);
    await classify(transaction, context, readings, judged);
    const accounts = accountsOf('unknown');
    if (accounts.length > 0)
      logger.warn(
        { chain: chain.key, token, block: block.number, accounts },
        'Upstreams differ about what accounts hold of a token, which is not shown until they agree',
      );
    return accountsOf('ask');
  });
}

interface Judged {
  readonly account: Address;
  readonly verdict: BalanceVerdict;
  /** Null if transfers don't determine balances. */
  readonly isContradiction: boolean | null;
}

async function isKept(transaction: Transaction, { chain }: StateReadingContext, token: Address): Promise<boolean> {
  const { name, version } = erc20TokenHolders;
  const rows = await transaction.query(
    sql`SELECT FROM subject_projections JOIN projections USING (chain_id, state)
      WHERE chain_id = ${chain.id} AND state = ${name} AND subject = ${addressBytes(token)} AND built_to IS NULL AND NOT is_stale AND version = ${version}`,
  );
  return rows.length > 0;
}

/** Skips accounts with a later stored read, and those without a transfer. */
async function judge(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { token, block, firstBlock, first, second }: OwnerReadings,
  spread: boolean,
): Promise<readonly Judged[]> {
  const bytes = sql`${addressBytes(token)}::bytea`;
  const number = sql`${block.number}::bigint`;
  const accounts = sql`${[...first.keys()].map(addressBytes)}::bytea[]`;
  const of = { kind: 'contract', subject: bytes, chainId: chain.id, dataset: erc20Transfers.name } as const;
  const isCoin = token === chain.wrappedNative;
  const keys = spread ? [...first.keys()].map(addressKey) : null;
  const above = movedAbove(chain, { token: bytes, number, accounts, keys });
  const isUncounted = isCoin ? sql` OR NOT covered.is_counted` : rawSql('');
  const rows = await transaction.query<{
    account: Address;
    isLive: boolean;
    before: string | null;
    moved: string | null;
    total: string;
  }>(
    sql`WITH ${joinSql([coverageOfToken(chain, token, of), ...above.ctes])}
SELECT ${hexText('held.account')} AS account, coalesce(known.class = 'live', false)${isUncounted} AS "isLive",
  (CASE reported.since WHEN 'anchor' THEN held.anchor_value WHEN 'beginning' THEN 0 END)::text AS before,
  (CASE reported.since WHEN 'anchor' THEN held.since WHEN 'beginning' THEN held.total END - ${above.delta})::text AS moved,
  (held.total - ${above.delta})::text AS total
FROM covered CROSS JOIN unnest(${accounts}) AS requested(account)
JOIN erc20_holders AS held ON held.token = ${bytes} AND held.chain_id = ${chain.id} AND held.account = requested.account
${above.join}
LEFT JOIN erc20_token_classes AS known ON known.token = ${bytes} AND known.chain_id = ${chain.id}
CROSS JOIN LATERAL (SELECT CASE WHEN covered.indexed_to < ${number} THEN NULL WHEN ${IS_SOUND} THEN 'anchor'
  WHEN ${isWhole(firstBlock)} THEN 'beginning' END AS since) AS reported
WHERE held.anchor_block IS NULL OR held.anchor_block <= ${number}`,
  );
  return rows.map(({ account, isLive, before, moved, total }) => {
    const isReported = !isLive && before !== null && moved !== null;
    const expected = isReported ? { value: BigInt(before) + BigInt(moved), hasMoved: BigInt(moved) !== 0n } : null;
    const verdict = judgeReading({
      first: first.get(account) ?? null,
      second: second === null ? undefined : (second.get(account) ?? null),
      expected,
    });
    if (verdict.kind !== 'right') return { account, verdict, isContradiction: null };
    if (expected !== null) return { account, verdict, isContradiction: verdict.value !== expected.value };
    // A balance covers all receipts. Withdrawals of the wrapped native token may be unknown.
    return { account, verdict, isContradiction: !isCoin && verdict.value < BigInt(total) ? true : null };
  });
}

/**
 * SQL of receipts minus sendings above a block, by account. `join` joins `requested`. `keys`
 * (distributed tables): all accounts together, since Citus can't join these rows.
 */
function movedAbove(
  chain: StateReadingContext['chain'],
  of: { readonly token: Sql; readonly number: Sql; readonly accounts: Sql; readonly keys: readonly string[] | null },
): { readonly ctes: readonly Sql[]; readonly join: Sql; readonly delta: Sql } {
  const { token, number, accounts, keys } = of;
  const ofToken = sql`token_key(token) = token_key(${token}) AND token = ${token} AND chain_id = ${chain.id} AND block_number > ${number}`;
  if (keys === null) {
    const rows = movedRows(
      chain,
      sql`direction, value`,
      sql`account_key = address_key(requested.account) AND account = requested.account AND ${ofToken}`,
    );
    return {
      ctes: [],
      join: sql`CROSS JOIN LATERAL (SELECT coalesce(sum(${MOVED_DELTA}), 0) AS delta FROM ${rows} AS moved) AS above`,
      delta: sql`above.delta`,
    };
  }
  const rows = movedRows(
    chain,
    sql`account_key, account, direction, value`,
    sql`account_key = ANY(${keys}::bigint[]) AND account = ANY(${accounts}) AND ${ofToken}`,
  );
  return {
    ctes: [
      sql`above AS MATERIALIZED (SELECT account, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY account)`,
    ],
    join: sql`LEFT JOIN above ON above.account = requested.account`,
    delta: sql`coalesce(above.delta, 0)`,
  };
}

async function saveAnchors(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { token, block, isSpread: spread }: OwnerReadings & { readonly isSpread: boolean },
  judged: readonly Judged[],
): Promise<void> {
  const right = judged.flatMap(({ account, verdict }) =>
    verdict.kind === 'right' ? [{ account, value: verdict.value.toString() }] : [],
  );
  if (right.length > 0) {
    const bytes = sql`${addressBytes(token)}::bytea`;
    const number = sql`${block.number}::bigint`;
    const accounts = sql`${right.map(({ account }) => addressBytes(account))}::bytea[]`;
    const keys = spread ? right.map(({ account }) => addressKey(account)) : null;
    const above = movedAbove(chain, { token: bytes, number, accounts, keys });
    const reported = sql`reported AS MATERIALIZED (
         SELECT requested.account, requested.value, ${above.delta} AS delta, clock_timestamp() AS told_at
         FROM unnest(${accounts}, ${right.map(({ value }) => value)}::numeric[]) AS requested(account, value) ${above.join})`;
    await transaction.query(
      sql`WITH ${joinSql([...above.ctes, reported])}
       UPDATE erc20_holders AS held SET anchor_block = ${number}, anchor_value = reported.value, since = reported.delta, anchored_at = reported.told_at
       FROM reported WHERE held.token = ${bytes} AND held.chain_id = ${chain.id} AND held.account = reported.account`,
    );
  }
  const doubted = judged.filter(({ verdict }) => verdict.kind === 'none' || verdict.kind === 'unknown');
  if (doubted.length > 0)
    await transaction.query(
      sql`UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL
        WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id} AND account = ANY(${doubted.map(({ account }) => addressBytes(account))}::bytea[])`,
    );
  const compared = judged.filter(({ isContradiction }) => isContradiction !== null);
  if (compared.length > 0)
    await transaction.query(
      sql`UPDATE erc20_holder_counts SET readings = readings + ${compared.length}, contradictions = contradictions + ${compared.filter(({ isContradiction }) => isContradiction === true).length}
        WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id}`,
    );
}

/** An account that contradicts its transfers makes a token `live` permanently. */
async function classify(
  transaction: Transaction,
  context: StateReadingContext,
  { token, block, isSilent }: OwnerReadings,
  judged: readonly Judged[],
): Promise<void> {
  const isAny = (transfers: 'agree' | 'differ'): boolean =>
    judged.some(({ verdict }) => verdict.kind === 'right' && verdict.transfers === transfers);
  const reported = new Map([[token, block.number]]);
  if (isAny('agree')) await saveClass(transaction, context, 'sum', reported);
  if (isAny('differ')) await saveClass(transaction, context, 'live', reported);
  if (!isSilent || judged.length === 0 || judged.some(({ verdict }) => verdict.kind !== 'none')) return;
  const [read] = await transaction.query(
    sql`SELECT 1 AS found FROM erc20_holders WHERE token = ${addressBytes(token)} AND chain_id = ${context.chain.id} AND anchor_block IS NOT NULL LIMIT 1`,
  );
  if (read === undefined) await saveClass(transaction, context, 'none', reported);
}
