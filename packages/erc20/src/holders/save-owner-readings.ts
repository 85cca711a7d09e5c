import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, hexText, isSpread, type Transaction } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { StateBlock, StateReadingContext } from '@chainstead/state';
import { lockChainCommits } from '@chainstead/sync';
import { judgeReading, type Verdict } from '../balances/judge-reading.ts';
import { saveClass } from '../balances/save-class.ts';
import { reorganised } from '../balances/save-readings.ts';
import { storedBlocks } from '../balances/save-together.ts';
import { IS_SOUND, isWhole } from '../balances/told-balances.ts';
import type { Said } from '../calls/ask-balances.ts';
import { MOVED_DELTA, movedRows } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/coin-coverage.ts';

/** What a token's contract said at a block of some accounts. */
export interface OwnerReadings {
  readonly token: Address;
  readonly block: StateBlock;
  /** Below it there is nothing of the token. */
  readonly firstBlock: number;
  readonly first: ReadonlyMap<Address, bigint | null>;
  /** Of the same accounts, from another upstream; null: not asked yet. */
  readonly second: ReadonlyMap<Address, Said> | null;
  /** Whether the contract tells nobody's balance. */
  readonly isSilent: boolean;
}

/**
 * Keeps what a contract said as what the balances of its holders are told from, in one transaction under the chain's commit lock: the block is still
 * the chain's, and what moved above it is counted with it.
 * @returns the accounts of which another upstream is to be asked
 * @throws StateUnavailableError when the block was reorganised away meanwhile
 */
export async function saveOwnerReadings(
  context: StateReadingContext,
  readings: OwnerReadings,
): Promise<readonly Address[]> {
  const { chain, database, logger } = context;
  const { token, block } = readings;
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    if ((await storedBlocks(transaction, chain, [block])).size === 0) throw reorganised(block.number);
    // Nothing counts what moves from now on, or it is counted later: what was read would be wrong.
    if (!(await isKept(transaction, context, token))) return [];
    const spread = await isSpread(transaction);
    const judged = await judge(transaction, context, readings, spread);
    const those = (kind: Verdict['kind']): readonly Judged[] => judged.filter(({ verdict }) => verdict.kind === kind);
    await saveAnchors(transaction, context, { ...readings, isSpread: spread }, judged);
    await classify(transaction, context, readings, judged);
    if (those('unknown').length > 0)
      logger.warn(
        { chain: chain.key, token, block: block.number, accounts: those('unknown').map(({ account }) => account) },
        'Upstreams differ about what accounts hold of a token, which is not shown until they agree',
      );
    return those('ask').map(({ account }) => account);
  });
}

interface Judged {
  readonly account: Address;
  readonly verdict: Verdict;
  /** Whether the contract says other than the transfers, where they tell; null where they don't. */
  readonly isContradiction: boolean | null;
}

async function isKept(transaction: Transaction, { chain }: StateReadingContext, token: Address): Promise<boolean> {
  const { name, version } = erc20TokenHolders;
  const rows = await transaction.query(
    `SELECT FROM kept_subjects JOIN derived_states USING (chain_id, state)
      WHERE chain_id = $1 AND state = $2 AND subject = $3 AND built_to IS NULL AND NOT is_stale AND version = $4`,
    [chain.id, name, addressBytes(token), version],
  );
  return rows.length > 0;
}

interface ExpectedRow {
  account: Address;
  is_live: boolean;
  /** Null where not all of what moved is indexed. */
  before: string | null;
  moved: string | null;
  /** What indexed transfers add up to at the block. */
  total: string;
}

/** Accounts that a later reading is kept of are left out, and those without a transfer. */
async function judge(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { token, block, firstBlock, first, second }: OwnerReadings,
  spread: boolean,
): Promise<readonly Judged[]> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const subject = bind(addressBytes(token));
  const chainId = bind(chain.id);
  const number = `${bind(block.number)}::bigint`;
  const accounts = bind([...first.keys()].map(addressBytes));
  const of = { kind: 'contract', subject, chainId, dataset: erc20Transfers.name } as const;
  const isCoin = token === chain.wrappedNative;
  const keys = spread ? `${bind([...first.keys()].map(addressKey))}::bigint[]` : null;
  const above = movedAbove(chain, { token: subject, chainId, number, accounts: `${accounts}::bytea[]`, keys });
  const rows = await transaction.query<ExpectedRow>(
    `WITH ${[coverageOfToken(chain, token, of), ...above.ctes].join(', ')}
SELECT ${hexText('held.account')} AS account, coalesce(known.class = 'live', false)${isCoin ? ' OR NOT covered.is_counted' : ''} AS is_live,
  (CASE told.since WHEN 'anchor' THEN held.anchor_value WHEN 'beginning' THEN 0 END)::text AS before,
  (CASE told.since WHEN 'anchor' THEN held.since WHEN 'beginning' THEN held.total END - ${above.delta})::text AS moved,
  (held.total - ${above.delta})::text AS total
FROM covered CROSS JOIN unnest(${accounts}::bytea[]) AS asked(account)
JOIN erc20_holders AS held ON held.token = ${subject} AND held.chain_id = ${chainId} AND held.account = asked.account
${above.join}
LEFT JOIN erc20_token_classes AS known ON known.token = ${subject} AND known.chain_id = ${chainId}
CROSS JOIN LATERAL (SELECT CASE WHEN covered.indexed_to < ${number} THEN NULL WHEN ${IS_SOUND} THEN 'anchor'
  WHEN ${isWhole(bind(firstBlock))} THEN 'beginning' END AS since) AS told
WHERE held.anchor_block IS NULL OR held.anchor_block <= ${number}`,
    values,
  );
  return rows.map(({ account, is_live, before, moved, total }) => {
    const isTold = !is_live && before !== null && moved !== null;
    const expected = isTold ? { value: BigInt(before) + BigInt(moved), hasMoved: BigInt(moved) !== 0n } : null;
    const verdict = judgeReading({
      first: first.get(account) ?? null,
      second: second === null ? undefined : (second.get(account) ?? null),
      expected,
    });
    if (verdict.kind !== 'right') return { account, verdict, isContradiction: null };
    if (expected !== null) return { account, verdict, isContradiction: verdict.value !== expected.value };
    // What came in must be there, whatever was there before; but for the coin whose withdrawals are not all known.
    return { account, verdict, isContradiction: !isCoin && verdict.value < BigInt(total) ? true : null };
  });
}

interface MovedAbove {
  /** For the statement's `WITH`. */
  readonly ctes: readonly string[];
  /** To the relation `asked`, which has each `account`. */
  readonly join: string;
  readonly delta: string;
}

interface AskedAbove {
  readonly token: string;
  readonly chainId: string;
  readonly number: string;
  readonly accounts: string;
  /** Where tables are distributed: the keys that the accounts' rows lie by. */
  readonly keys: string | null;
}

/**
 * What accounts received less what they sent in blocks above one, of each by its index; where tables are distributed of all at once, since accounts lie
 * on different nodes: by conditions alone, as Citus joins nothing with rows of several tables.
 */
function movedAbove(chain: StateReadingContext['chain'], { keys, ...of }: AskedAbove): MovedAbove {
  const ofToken = `token_key(token) = token_key(${of.token}::bytea) AND token = ${of.token} AND chain_id = ${of.chainId} AND block_number > ${of.number}`;
  if (keys === null) {
    const rows = movedRows(
      chain,
      'direction, value',
      `account_key = address_key(asked.account) AND account = asked.account AND ${ofToken}`,
    );
    return {
      ctes: [],
      join: `CROSS JOIN LATERAL (SELECT coalesce(sum(${MOVED_DELTA}), 0) AS delta FROM ${rows} AS moved) AS above`,
      delta: 'above.delta',
    };
  }
  const rows = movedRows(
    chain,
    'account_key, account, direction, value',
    `account_key = ANY(${keys}) AND account = ANY(${of.accounts}) AND ${ofToken}`,
  );
  return {
    ctes: [
      `above AS MATERIALIZED (SELECT account, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY account)`,
    ],
    join: 'LEFT JOIN above ON above.account = asked.account',
    delta: 'coalesce(above.delta, 0)',
  };
}

async function saveAnchors(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { token, block, isSpread: spread }: OwnerReadings & { readonly isSpread: boolean },
  judged: readonly Judged[],
): Promise<void> {
  const of = { token: '$1', chainId: '$2', number: '$3::bigint', accounts: '$4::bytea[]' };
  const above = movedAbove(chain, { ...of, keys: spread ? '$6::bigint[]' : null });
  const right = judged.flatMap(({ account, verdict }) =>
    verdict.kind === 'right' ? [{ account, value: verdict.value }] : [],
  );
  if (right.length > 0)
    await transaction.query(
      `WITH ${above.ctes.map((cte) => `${cte}, `).join('')}told AS MATERIALIZED (
         SELECT asked.account, asked.value, ${above.delta} AS delta, clock_timestamp() AS told_at
         FROM unnest($4::bytea[], $5::numeric[]) AS asked(account, value) ${above.join})
       UPDATE erc20_holders AS held SET anchor_block = $3::bigint, anchor_value = told.value, since = told.delta, anchored_at = told.told_at
       FROM told WHERE held.token = $1 AND held.chain_id = $2 AND held.account = told.account`,
      [
        addressBytes(token),
        chain.id,
        block.number,
        right.map(({ account }) => addressBytes(account)),
        right.map(({ value }) => value.toString()),
        ...(spread ? [right.map(({ account }) => addressKey(account))] : []),
      ],
    );
  const doubted = judged.filter(({ verdict }) => verdict.kind === 'none' || verdict.kind === 'unknown');
  if (doubted.length > 0)
    await transaction.query(
      `UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL
        WHERE token = $1 AND chain_id = $2 AND account = ANY($3::bytea[])`,
      [addressBytes(token), chain.id, doubted.map(({ account }) => addressBytes(account))],
    );
  const compared = judged.filter(({ isContradiction }) => isContradiction !== null);
  if (compared.length > 0)
    await transaction.query(
      `UPDATE erc20_holder_counts SET readings = readings + $3, contradictions = contradictions + $4
        WHERE token = $1 AND chain_id = $2`,
      [
        addressBytes(token),
        chain.id,
        compared.length,
        compared.filter(({ isContradiction }) => isContradiction === true).length,
      ],
    );
}

/**
 * One account that contradicts what transfers let expect makes a token `live`, which it stays; a token that says nothing of anybody is
 * `none`.
 */
async function classify(
  transaction: Transaction,
  context: StateReadingContext,
  { token, block, isSilent }: OwnerReadings,
  judged: readonly Judged[],
): Promise<void> {
  const isOne = (transfers: 'tell' | 'differ'): boolean =>
    judged.some(({ verdict }) => verdict.kind === 'right' && verdict.transfers === transfers);
  const told = new Map([[token, block.number]]);
  if (isOne('tell')) await saveClass(transaction, context, 'sum', told);
  if (isOne('differ')) await saveClass(transaction, context, 'live', told);
  if (!isSilent || judged.length === 0 || judged.some(({ verdict }) => verdict.kind !== 'none')) return;
  const [read] = await transaction.query(
    'SELECT 1 AS found FROM erc20_holders WHERE token = $1 AND chain_id = $2 AND anchor_block IS NOT NULL LIMIT 1',
    [addressBytes(token), context.chain.id],
  );
  if (read === undefined) await saveClass(transaction, context, 'none', told);
}
