/** Reads account balances from token contracts. For the worker role. */
import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { committedBlock, type StateReader, type StateReadingContext } from '@chainstead/node-reads';
import { fetchBalances, fetchOthers, findSilentTokens, inParts } from '../calls/fetch-balances.ts';
import { OWNERS_NOW, type OwnersQuestion } from './holder-questions.ts';
import { saveOwnerReadings } from './save-owner-readings.ts';

/** One aggregated call. */
const TOGETHER = 100;

export const ownersNow: StateReader<OwnersQuestion, { readonly read: number }> = {
  kind: OWNERS_NOW,
  async read(context, { token, accounts }, signal) {
    await readOwners(context, token, accounts, signal);
    return { read: accounts.length };
  },
};

export async function readOwners(
  context: StateReadingContext,
  token: Address,
  accounts: readonly Address[],
  signal: AbortSignal,
): Promise<void> {
  const firstBlock = await firstBlockOf(context, token);
  await Promise.all(
    inParts(accounts, TOGETHER).map((some) => readSome(context, { token, firstBlock, accounts: some }, signal)),
  );
}

async function readSome(
  context: StateReadingContext,
  { token, firstBlock, accounts }: OwnersQuestion & { readonly firstBlock: number },
  signal: AbortSignal,
): Promise<void> {
  const { chain, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return;
  const holdings = accounts.map((holder) => ({ token, holder }));
  const reported = await fetchBalances(context, block, holdings, signal);
  const balancesOf = (some: typeof reported) => new Map(some.map(({ holder, balance }) => [holder, balance]));
  const readings = { token, block, firstBlock, isSilent: false };
  const first = balancesOf(reported);
  const disputed = new Set(await saveOwnerReadings(context, { ...readings, first, second: null }));
  if (disputed.size === 0) return;
  const doubted = reported.filter(({ holder }) => disputed.has(holder));
  const others = await fetchOthers(context, block, doubted, signal);
  const second = new Map(doubted.map(({ holder }, index) => [holder, others[index] ?? null]));
  const isUnreported = doubted.every(({ balance }, index) => balance === null && others[index] === null);
  const silent = await findSilentTokens(context, block, isUnreported ? [token] : [], signal);
  await saveOwnerReadings(context, { ...readings, isSilent: silent.has(token), first: balancesOf(doubted), second });
}

export async function firstBlockOf(
  { chain, database }: Pick<StateReadingContext, 'chain' | 'database'>,
  token: Address,
): Promise<number> {
  const [row] = await database.query<{ createdBlock: number | null }>(
    sql`SELECT created_block AS "createdBlock" FROM tokens WHERE address = ${addressBytes(token)} AND chain_id = ${chain.id}`,
  );
  return row?.createdBlock ?? chain.firstBlock;
}
