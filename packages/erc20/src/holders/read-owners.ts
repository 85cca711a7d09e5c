/** Reads account balances from token contracts. For the worker role. */
import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { committedBlock, type StateReader, type StateReadingContext } from '@chainstead/node-reads';
import { fetchBalances, fetchOthers, findSilentTokens, type ReportedHolding } from '../calls/fetch-balances.ts';
import { OWNERS_NOW, type OwnersQuestion } from './holder-questions.ts';
import { saveOwnerReadings } from './save-owner-readings.ts';

/** Accounts read and stored together: one aggregated call. */
const TOGETHER = 100;

/** Reads accounts' balances of a token at the newest committed block and stores them. */
export const ownersNow: StateReader<OwnersQuestion, { readonly read: number }> = {
  kind: OWNERS_NOW,
  async read(context, { token, accounts }, signal) {
    await readOwners(context, token, accounts, signal);
    return { read: accounts.length };
  },
};

/** Reads accounts that have moved the token. */
export async function readOwners(
  context: StateReadingContext,
  token: Address,
  accounts: readonly Address[],
  signal: AbortSignal,
): Promise<void> {
  const parts = Array.from({ length: Math.ceil(accounts.length / TOGETHER) }, (_, part) =>
    accounts.slice(part * TOGETHER, (part + 1) * TOGETHER),
  );
  const firstBlock = await firstBlockOf(context, token);
  await Promise.all(parts.map((some) => readSome(context, { token, firstBlock, accounts: some }, signal)));
}

interface SomeOwners extends OwnersQuestion {
  readonly firstBlock: number;
}

async function readSome(
  context: StateReadingContext,
  { token, firstBlock, accounts }: SomeOwners,
  signal: AbortSignal,
): Promise<void> {
  const { chain, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return;
  const holdings = accounts.map((holder) => ({ token, holder }));
  const reported = await fetchBalances(context, block, holdings, signal);
  const readings = { token, block, firstBlock, isSilent: false };
  const first = balancesOf(reported);
  const disputed = new Set(await saveOwnerReadings(context, { ...readings, first, second: null }));
  if (disputed.size === 0) return;
  const doubted = reported.filter(({ holder }) => disputed.has(holder));
  const others = await fetchOthers(context, block, doubted, signal);
  const second = new Map(doubted.map(({ holder }, place) => [holder, others[place] ?? null]));
  const isUnreported = doubted.every(({ balance }, place) => balance === null && others[place] === null);
  const silent = await findSilentTokens(context, block, isUnreported ? [token] : [], signal);
  await saveOwnerReadings(context, { ...readings, isSilent: silent.has(token), first: balancesOf(doubted), second });
}

function balancesOf(reported: readonly ReportedHolding[]): ReadonlyMap<Address, bigint | null> {
  return new Map(reported.map(({ holder, balance }) => [holder, balance]));
}

/** Returns the first block that may contain data of the token: its creation block, if known. */
export async function firstBlockOf(
  { chain, database }: Pick<StateReadingContext, 'chain' | 'database'>,
  token: Address,
): Promise<number> {
  const [row] = await database.query<{ created_block: number | null }>(
    sql`SELECT created_block FROM tokens WHERE address = ${addressBytes(token)} AND chain_id = ${chain.id}`,
  );
  return row?.created_block ?? chain.firstBlock;
}
