/** Asks token contracts what wallets hold. Of the worker role. */
import type { Address } from '@chainstead/core';
import { committedBlock, knownBlock, type StateReader, type StateReadingContext } from '@chainstead/state';
import { askBalances, askOthers, findSilentTokens, type Holding, type ToldHolding } from '../calls/ask-balances.ts';
import {
  BALANCES_NOW,
  BALANCES_THEN,
  type BalanceQuestion,
  type BalancesRead,
  type PastBalanceQuestion,
  type PastBalances,
} from './balance-questions.ts';
import { listDueTokens } from './list-due-tokens.ts';
import { saveReadings } from './save-readings.ts';

/** Read and kept together: one aggregated call. */
const TOGETHER = 100;
/** Such parts at a time. */
const PARTS_AT_ONCE = 4;

/** Reads what is due of a wallet at the newest committed block, and keeps it. */
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

/** Reads what a wallet held at an earlier block. Nothing of it is kept. */
export const balancesThen: StateReader<PastBalanceQuestion, PastBalances> = {
  kind: BALANCES_THEN,
  async read({ chain, pool, database }, { wallet, tokens, block }, signal) {
    const known = await knownBlock(database, chain, block);
    const told = await askBalances({ chain, pool }, known ?? { number: block }, holdingsOf(wallet, tokens), signal);
    const heard = balancesOf(told);
    return tokens.flatMap((token) => {
      const balance = heard.get(token);
      return balance === null ? [] : [{ token, balance: balance?.toString() ?? null }];
    });
  },
};

/** @returns the tokens that could not be read */
async function readSome(
  context: StateReadingContext,
  { wallet, isPatient }: Pick<BalanceQuestion, 'wallet' | 'isPatient'>,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const { chain, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return [];
  const told = await askBalances(context, block, holdingsOf(wallet, tokens), signal, isPatient);
  const first = balancesOf(told);
  const unread = tokens.filter((token) => !first.has(token));
  const readings = { wallet, block, silent: new Set<Address>() };
  const disputed = new Set(await saveReadings(context, { ...readings, first, second: null }));
  if (disputed.size === 0) return unread;
  const doubted = told.filter(({ token }) => disputed.has(token));
  const others = await askOthers(context, block, doubted, signal);
  const second = new Map(doubted.map(({ token }, place) => [token, others[place] ?? null]));
  const untold = doubted.flatMap(({ token, balance }, place) =>
    balance === null && others[place] === null ? [token] : [],
  );
  const silent = await findSilentTokens(context, block, untold, signal);
  await saveReadings(context, { ...readings, silent, first: balancesOf(doubted), second });
  return unread;
}

function holdingsOf(holder: Address, tokens: readonly Address[]): readonly Holding[] {
  return tokens.map((token) => ({ token, holder }));
}

function balancesOf(told: readonly ToldHolding[]): ReadonlyMap<Address, bigint | null> {
  return new Map(told.map(({ token, balance }) => [token, balance]));
}

function inParts<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, part) => all.slice(part * size, (part + 1) * size));
}
