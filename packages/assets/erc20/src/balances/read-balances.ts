import type { Chain } from '@chainstead/chains';
import { type Address, inParts } from '@chainstead/core';
import { addressBytes, type Database, hexText, joinSql, rawSql, sql } from '@chainstead/db';
import type { StateReader, StateReadingContext } from '@chainstead/node-reads';
import { committedBlock, knownBlock } from '@chainstead/node-reads/requests';
import { areTablesSpread, subjectCoverage } from '@chainstead/pages';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import { BY_WALLET } from '../anchored-sums/axes.ts';
import {
  factsOfHeld,
  heldTokens,
  isWhole,
  type QueriedWallet,
  resolvedBalance,
} from '../anchored-sums/resolved-balances.ts';
import { saveReadings } from '../anchored-sums/save-readings.ts';
import { BALANCES_PROVEN, type ProofAnswer, type ProofQuestion } from '../balance-proofs/fetch-proofs.ts';
import { createBalanceProver } from '../balance-proofs/prove-balance.ts';
import { fetchBalances, readAndSave } from '../calls/fetch-balances.ts';
import { FORGOTTEN } from '../transfers/anchors.ts';
import { coinCoverage } from '../wrapped/dataset.ts';
import {
  BALANCES_NOW,
  BALANCES_THEN,
  type BalanceQuestion,
  type BalancesRead,
  type PastBalanceQuestion,
  type PastBalances,
} from './balance-questions.ts';

const TOGETHER = 100;
const PARTS_AT_ONCE = 4;

/** Per state read; the rest is left to the next one. */
const TOKENS_MAX = 5_000;
/** For a wallet with incomplete coverage. */
const LISTED_MAX = 500;

export const balancesNow: StateReader<BalanceQuestion, BalancesRead> = {
  kind: BALANCES_NOW,
  async read(context, question, signal) {
    const due = await listDueTokens(context.database, context.chain, question);
    const parts = inParts(due, TOGETHER);
    const unread: Address[] = [];
    for (const some of inParts(parts, PARTS_AT_ONCE)) {
      const left = await Promise.all(some.map((tokens) => readSome(context, question, tokens, signal)));
      unread.push(...left.flat());
    }
    return { read: due.length - unread.length, unread };
  },
};

export const balancesThen: StateReader<PastBalanceQuestion, PastBalances> = {
  kind: BALANCES_THEN,
  async read({ chain, pool, database }, { wallet, tokens, block }, signal) {
    const known = (await knownBlock(database, chain, block)) ?? { number: block };
    const holdings = tokens.map((token) => ({ token, holder: wallet }));
    const reported = await fetchBalances({ chain, pool }, known, holdings, signal);
    const balances = new Map(reported.map(({ token, balance }) => [token, balance]));
    return tokens.flatMap((token) => {
      const balance = balances.get(token);
      return balance === null ? [] : [{ token, balance: balance?.toString() ?? null }];
    });
  },
};

async function readSome(
  context: StateReadingContext,
  { wallet, isPatient }: Pick<BalanceQuestion, 'wallet' | 'isPatient'>,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const { chain, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return [];
  const holdings = tokens.map((token) => ({ token, holder: wallet }));
  const balances = await readAndSave(
    context,
    { block, holdings, isPatient },
    ({ token }) => token,
    (readings) =>
      saveReadings(context, BY_WALLET, { subject: wallet, block, firstBlock: chain.firstBlock, ...readings }),
    signal,
  );
  return tokens.filter((token) => !balances.has(token));
}

async function listDueTokens(
  database: Database,
  chain: Chain,
  { wallet: address, tokens, liveMaxAgeMs }: BalanceQuestion,
): Promise<readonly Address[]> {
  const wallet: QueriedWallet = {
    ...{ chain, liveMaxAgeMs, freshFrom: null },
    wallet: sql`${addressBytes(address)}::bytea`,
    wrapped: chain.wrappedNative === null ? null : sql`${addressBytes(chain.wrappedNative)}::bytea`,
    isSpread: await areTablesSpread(database),
  };
  const listed = sql`(SELECT DISTINCT address FROM token_list_entries WHERE chain_id = ${chain.id}
    AND NOT (SELECT coalesce(${isWhole(chain.firstBlock)}, false) FROM covered) ORDER BY address LIMIT ${rawSql(LISTED_MAX)})`;
  const sources =
    tokens === null
      ? [heldTokens(wallet, null), heldTokens(wallet, listed)]
      : [heldTokens(wallet, sql`unnest(${tokens.map(addressBytes)}::bytea[])`)];
  const subject = {
    kind: 'wallet',
    subject: wallet.wallet,
    chainId: chain.id,
    dataset: 'erc20-transfers',
  } as const;
  const ctes = [subjectCoverage(subject), ...(wallet.wrapped === null ? [] : [coinCoverage(subject)])];
  const held = sources.map((source) => sql`SELECT * FROM ${source} AS source`);
  const rows = await database.query<{ token: Address }>(
    sql`WITH ${joinSql(ctes)}, held AS (${joinSql(held, ' UNION ')})
SELECT ${hexText('held.token')} AS token FROM covered CROSS JOIN held
  CROSS JOIN LATERAL ${factsOfHeld(wallet)} AS shown CROSS JOIN LATERAL ${resolvedBalance(wallet)} AS reported
WHERE reported.due IS NOT NULL AND NOT shown.is_nft
ORDER BY held.moved_block DESC, held.moved_transaction DESC, held.moved_log DESC, held.token LIMIT ${rawSql(TOKENS_MAX)}`,
  );
  return rows.map(({ token }) => token);
}

export const balancesProven: StateReader<ProofQuestion, ProofAnswer> = {
  kind: BALANCES_PROVEN,
  async read(context, { wallet, block, balances }, signal) {
    const { chain, pool, database, logger } = context;
    const prover = createBalanceProver({ database, pool, chain, block });
    const contradicted: Contradicted[] = [];
    const prove = async ({ token, shown }: ProofQuestion['balances'][number]): Promise<ProofAnswer[number]> => {
      const balance = { wallet, token, shown: BigInt(shown), reportedBy: null };
      const { verdict, reason, detail, proven, isSeconded } = await prover.proveBalance(balance, signal);
      if (verdict !== 'contradicted') return { token, doubt: reason, instead: null };
      logger.warn(
        { chain: chain.key, wallet, token, block: block.number, detail },
        "A balance that is shown is not the one of the chain's state",
      );
      const right = isSeconded ? proven : null;
      contradicted.push({ token, right });
      return { token, doubt: right === null ? verdict : null, instead: right?.toString() ?? null };
    };
    const answer = await Promise.all(balances.map(prove));
    await correctAnchors(context, { wallet, block }, contradicted);
    return answer;
  },
};

interface Contradicted {
  readonly token: Address;
  /** Base units; null if no upstream confirms the state's balance. */
  readonly right: bigint | null;
}

/**
 * Stores balances that an upstream confirms; reads the others again.
 * @throws StateUnavailableError if a reorg removed the block; DatabaseError
 */
async function correctAnchors(
  context: StateReadingContext,
  { wallet, block }: Pick<ProofQuestion, 'wallet' | 'block'>,
  contradicted: readonly Contradicted[],
): Promise<void> {
  if (contradicted.length === 0) return;
  const { chain, database } = context;
  const known = await knownBlock(database, chain, block.number);
  if (known?.hash !== block.hash) return;
  await underCommitLock(database, chain, async (transaction) => {
    // A later read is not affected.
    await transaction.query(
      sql`UPDATE erc20_wallet_tokens SET ${FORGOTTEN}
        WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id} AND token = ANY (${contradicted.map(({ token }) => addressBytes(token))}::bytea[]) AND anchor_block <= ${block.number}`,
    );
  });
  const right = new Map(
    contradicted.flatMap(({ token, right: value }) => (value === null ? [] : [[token, value] as const])),
  );
  if (right.size === 0) return;
  // Two sources agree: the state and an upstream.
  const readings = { subject: wallet, block: known, firstBlock: chain.firstBlock };
  await saveReadings(context, BY_WALLET, { ...readings, first: right, second: right, silent: new Set() });
}
