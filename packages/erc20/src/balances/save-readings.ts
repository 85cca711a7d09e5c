import { subjectCoverage } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, hexBytes, hexText, type Transaction } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import type { UpstreamPool } from '@chainstead/rpc';
import { type StateBlock, type StateReadingContext, StateUnavailableError } from '@chainstead/state';
import { lockChainCommits } from '@chainstead/sync';
import type { Said } from '../calls/ask-balances.ts';
import { MOVED_DELTA, movedRows } from '../moved-tables.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { coinCoverage } from '../wrapped/coin-coverage.ts';
import { judgeReading, type Verdict } from './judge-reading.ts';
import { heldToken, IS_SOUND, isCoinKnownFrom, isWhole } from './told-balances.ts';

/** What contracts said of a wallet at a block. */
interface Readings {
  readonly wallet: Address;
  readonly block: StateBlock;
  readonly first: ReadonlyMap<Address, bigint | null>;
  /** Of the same tokens, from another upstream; null: not asked yet. */
  readonly second: ReadonlyMap<Address, Said> | null;
  /** Those of them that tell nobody's balance. */
  readonly silent: ReadonlySet<Address>;
}

/**
 * Keeps what contracts said as what balances are told from, in one transaction under the chain's commit lock: the block is still the chain's,
 * and what moved above it is counted with it. Tokens that say what their transfers let expect become `sum`, those that contradict them `live`,
 * those that say nothing of anybody `none`.
 * @returns the tokens of which another upstream is to be asked
 * @throws StateUnavailableError when the block was reorganised away meanwhile
 */
export function saveReadings(context: StateReadingContext, readings: Readings): Promise<readonly Address[]> {
  return inTurn(context.pool, () => save(context, readings));
}

const turns = new WeakMap<UpstreamPool, Promise<unknown>>();

/** One at a time of a process and chain: who waits for the chain's lock gets it in turn, and many at once would hold up the follower. */
function inTurn<T>(pool: UpstreamPool, work: () => Promise<T>): Promise<T> {
  // Who made the one before is told of its failure.
  const done = (turns.get(pool) ?? Promise.resolve()).then(work, work);
  turns.set(pool, done);
  return done;
}

async function save(context: StateReadingContext, readings: Readings): Promise<readonly Address[]> {
  const { chain, database, logger } = context;
  return database.transaction(async (transaction) => {
    // What a crash of the server loses is read again; so no commit of the chain waits for the disk.
    await transaction.query('SET LOCAL synchronous_commit = off');
    await lockChainCommits(transaction, chain);
    await requireStored(transaction, context, readings.block);
    // Nothing counts what moves from now on: what was read would soon be wrong.
    if (!(await isKept(transaction, context, readings.wallet))) return [];
    const verdicts = await judge(transaction, context, readings);
    const those = (kind: Verdict['kind']): Address[] =>
      [...verdicts].flatMap(([token, verdict]) => (verdict.kind === kind ? [token] : []));
    const whose = (transfers: 'tell' | 'differ'): Address[] =>
      [...verdicts].flatMap(([token, verdict]) =>
        verdict.kind === 'right' && verdict.transfers === transfers ? [token] : [],
      );
    await saveAnchors(transaction, context, readings, verdicts);
    await saveClass(transaction, context, readings.block, 'sum', whose('tell'));
    await saveClass(transaction, context, readings.block, 'live', whose('differ'));
    const silent = those('none').filter((token) => readings.silent.has(token));
    await saveClass(transaction, context, readings.block, 'none', silent);
    await changeAnchors(transaction, context, readings.wallet, { tokens: those('none'), to: FORGOTTEN });
    await changeAnchors(transaction, context, readings.wallet, { tokens: those('unknown'), to: DOUBTED });
    if (those('unknown').length > 0)
      logger.warn(
        { chain: chain.key, wallet: readings.wallet, block: readings.block.number, tokens: those('unknown') },
        'Upstreams differ about balances, which are not shown until they agree',
      );
    return those('ask');
  });
}

/** @throws StateUnavailableError when the block was reorganised away */
export async function requireStored(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { number, hash }: StateBlock,
): Promise<void> {
  const [stored] = await transaction.query(
    'SELECT FROM blocks WHERE chain_id = $1 AND block_number = $2 AND block_hash = $3',
    [chain.id, number, hexBytes(hash)],
  );
  if (stored === undefined)
    throw new StateUnavailableError(`Block ${number} was reorganised away while balances were read at it: try again`);
}

async function isKept(transaction: Transaction, { chain }: StateReadingContext, wallet: Address): Promise<boolean> {
  const { name, version } = erc20WalletTokens;
  const rows = await transaction.query(
    `SELECT FROM kept_subjects JOIN derived_states USING (chain_id, state)
      WHERE chain_id = $1 AND state = $2 AND subject = $3 AND built_to IS NULL AND NOT is_stale AND version = $4`,
    [chain.id, name, addressBytes(wallet), version],
  );
  return rows.length > 0;
}

interface ExpectedRow {
  token: Address;
  is_live: boolean;
  /** Null where not all of what moved is indexed. */
  before: string | null;
  moved: string | null;
}

/** Tokens that a later reading is kept of are left out. */
async function judge(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { wallet, block, first, second }: Readings,
): Promise<ReadonlyMap<Address, Verdict>> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const subject = bind(addressBytes(wallet));
  const chainId = bind(chain.id);
  const number = `${bind(block.number)}::bigint`;
  const tokens = bind([...first.keys()].map(addressBytes));
  const above = movedAbove(chain, { subject, chainId, number, key: bind(addressKey(wallet)) });
  const coverage = { kind: 'wallet', subject, chainId, dataset: 'erc20-transfers' } as const;
  const firstBlock = bind(chain.firstBlock);
  const wrapped = chain.wrappedNative === null ? null : bind(addressBytes(chain.wrappedNative));
  const isKnownFrom = (block: string): string =>
    wrapped === null ? '' : ` AND (asked.token <> ${wrapped} OR ${isCoinKnownFrom(block)})`;
  const rows = await transaction.query<ExpectedRow>(
    `WITH ${subjectCoverage(coverage)}${wrapped === null ? '' : `, ${coinCoverage(coverage)}`}
SELECT ${hexText('asked.token')} AS token, coalesce(known.class = 'live', false) AS is_live,
  (CASE told.since WHEN 'anchor' THEN held.anchor_value WHEN 'beginning' THEN 0 END)::text AS before,
  (CASE told.since WHEN 'anchor' THEN held.since WHEN 'beginning' THEN coalesce(held.total, 0) END - coalesce(above.delta, 0))::text AS moved
FROM covered CROSS JOIN unnest(${tokens}::bytea[]) AS asked(token)
LEFT JOIN LATERAL ${heldToken('asked.token', { wallet: subject, chainId }, 'held')}
LEFT JOIN erc20_token_classes AS known ON known.token = asked.token AND known.chain_id = ${chainId}
LEFT JOIN (${above}) AS above ON above.token = asked.token
CROSS JOIN LATERAL (SELECT CASE WHEN covered.indexed_to < ${number} THEN NULL
  WHEN ${IS_SOUND}${isKnownFrom('held.anchor_block + 1')} THEN 'anchor'
  WHEN ${isWhole(firstBlock)}${isKnownFrom(firstBlock)} THEN 'beginning' END AS since) AS told
WHERE held.anchor_block IS NULL OR held.anchor_block <= ${number}`,
    values,
  );
  return new Map(
    rows.map(({ token, is_live, before, moved }) => {
      const isTold = !is_live && before !== null && moved !== null;
      const verdict = judgeReading({
        first: first.get(token) ?? null,
        second: second === null ? undefined : (second.get(token) ?? null),
        expected: isTold ? { value: BigInt(before) + BigInt(moved), hasMoved: BigInt(moved) !== 0n } : null,
      });
      return [token, verdict];
    }),
  );
}

/** What moved in blocks above one, by token. */
function movedAbove(
  chain: StateReadingContext['chain'],
  of: { readonly subject: string; readonly chainId: string; readonly number: string; readonly key: string },
): string {
  const condition = `account_key = ${of.key} AND account = ${of.subject} AND chain_id = ${of.chainId} AND block_number > ${of.number}`;
  const rows = movedRows(chain, 'token, direction, value', condition);
  return `SELECT token, sum(${MOVED_DELTA}) AS delta FROM ${rows} AS moved GROUP BY token`;
}

async function saveAnchors(
  transaction: Transaction,
  { chain }: StateReadingContext,
  { wallet, block }: Readings,
  verdicts: ReadonlyMap<Address, Verdict>,
): Promise<void> {
  const right = [...verdicts].flatMap(([token, verdict]) =>
    verdict.kind === 'right' ? [{ token, value: verdict.value }] : [],
  );
  if (right.length === 0) return;
  const tokens = right.map(({ token }) => addressBytes(token));
  const above = movedAbove(chain, { subject: '$1', chainId: '$2', number: '$3::bigint', key: '$4' });
  await transaction.query(
    `INSERT INTO erc20_wallet_tokens AS held (wallet, chain_id, token, anchor_block, anchor_value, since, anchored_at)
     SELECT $1::bytea, $2::bigint, told.token, $3::bigint, told.value, coalesce(above.delta, 0), clock_timestamp()
       FROM unnest($5::bytea[], $6::numeric[]) AS told(token, value) LEFT JOIN (${above}) AS above USING (token) ORDER BY told.token
     ON CONFLICT (wallet, chain_id, token) DO UPDATE SET anchor_block = excluded.anchor_block, anchor_value = excluded.anchor_value,
       since = excluded.since, anchored_at = excluded.anchored_at`,
    [
      addressBytes(wallet),
      chain.id,
      block.number,
      addressKey(wallet),
      tokens,
      right.map(({ value }) => value.toString()),
    ],
  );
  await transaction.query(
    `DELETE FROM erc20_token_classes WHERE chain_id = $1 AND token = ANY($2::bytea[]) AND class = 'none'`,
    [chain.id, tokens],
  );
}

/** `live` stays, whatever a contract says later. */
export async function saveClass(
  transaction: Transaction,
  { chain, logger }: StateReadingContext,
  block: StateBlock,
  found: 'sum' | 'live' | 'none',
  tokens: readonly Address[],
): Promise<void> {
  if (tokens.length === 0) return;
  const saved = await transaction.query<{ token: Address }>(
    `INSERT INTO erc20_token_classes AS known (token, chain_id, class, since_block)
     SELECT token, $1::bigint, $2::text, $3::bigint FROM unnest($4::bytea[]) AS told(token) ORDER BY token
     ON CONFLICT (token, chain_id) DO UPDATE SET class = excluded.class, since_block = excluded.since_block, told_at = now()
       WHERE known.class <> 'live' AND (known.class <> excluded.class OR excluded.class = 'none')
     RETURNING ${hexText('token')} AS token`,
    [chain.id, found, block.number, tokens.map(addressBytes)],
  );
  if (saved.length > 0)
    logger.info(
      { chain: chain.key, class: found, block: block.number, tokens: saved.map(({ token }) => token) },
      'What transfers of tokens tell of balances is known',
    );
}

const FORGOTTEN = 'anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL';
/** It is shown no more, but still what readings are compared with. */
const DOUBTED = 'anchored_at = NULL';

async function changeAnchors(
  transaction: Transaction,
  { chain }: StateReadingContext,
  wallet: Address,
  { tokens, to }: { readonly tokens: readonly Address[]; readonly to: string },
): Promise<void> {
  if (tokens.length === 0) return;
  await transaction.query(
    `UPDATE erc20_wallet_tokens SET ${to}
      WHERE wallet = $1 AND chain_id = $2 AND token = ANY($3::bytea[])`,
    [addressBytes(wallet), chain.id, tokens.map(addressBytes)],
  );
}
