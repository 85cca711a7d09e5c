/** Asks token contracts what accounts hold. Of the worker role. */
import type { Address } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { committedBlock, type StateReader, type StateReadingContext } from '@chainstead/state';
import { askBalances, askOthers, findSilentTokens, type ToldHolding } from '../calls/ask-balances.ts';
import { OWNERS_NOW, type OwnersQuestion } from './holder-questions.ts';
import { saveOwnerReadings } from './save-owner-readings.ts';

/** Read and kept together: one aggregated call. */
const TOGETHER = 100;

/** Reads what accounts hold of a token at the newest committed block, and keeps it. */
export const ownersNow: StateReader<OwnersQuestion, { readonly read: number }> = {
  kind: OWNERS_NOW,
  async read(context, { token, accounts }, signal) {
    await readOwners(context, token, accounts, signal);
    return { read: accounts.length };
  },
};

/** Of accounts that have moved some of the token. */
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
  const told = await askBalances(context, block, holdings, signal);
  const readings = { token, block, firstBlock, isSilent: false };
  const first = balancesOf(told);
  const disputed = new Set(await saveOwnerReadings(context, { ...readings, first, second: null }));
  if (disputed.size === 0) return;
  const doubted = told.filter(({ holder }) => disputed.has(holder));
  const others = await askOthers(context, block, doubted, signal);
  const second = new Map(doubted.map(({ holder }, place) => [holder, others[place] ?? null]));
  const isUntold = doubted.every(({ balance }, place) => balance === null && others[place] === null);
  const silent = await findSilentTokens(context, block, isUntold ? [token] : [], signal);
  await saveOwnerReadings(context, { ...readings, isSilent: silent.has(token), first: balancesOf(doubted), second });
}

function balancesOf(told: readonly ToldHolding[]): ReadonlyMap<Address, bigint | null> {
  return new Map(told.map(({ holder, balance }) => [holder, balance]));
}

/** Below it there is nothing of the token: where it was made, if that is known. */
export async function firstBlockOf(
  { chain, database }: Pick<StateReadingContext, 'chain' | 'database'>,
  token: Address,
): Promise<number> {
  const [row] = await database.query<{ created_block: number | null }>(
    'SELECT created_block FROM tokens WHERE address = $1 AND chain_id = $2',
    [addressBytes(token), chain.id],
  );
  return row?.created_block ?? chain.firstBlock;
}
