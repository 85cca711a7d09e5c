/** Asks token contracts what wallets hold. Of the worker role. */
import { type Address, ChainsteadError } from '@chainstead/core';
import {
  committedBlock,
  knownBlock,
  type StateAt,
  type StateBlock,
  type StateReader,
  type StateReadingContext,
  stateAt,
} from '@chainstead/state';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
import {
  BALANCES_NOW,
  BALANCES_THEN,
  type BalanceQuestion,
  type PastBalanceQuestion,
  type PastBalances,
} from './balance-questions.ts';
import type { Said } from './judge-reading.ts';
import { listDueTokens } from './list-due-tokens.ts';
import { saveReadings } from './save-readings.ts';

/** Read and kept together: one aggregated call. */
const TOGETHER = 100;
/** Such parts at a time. */
const PARTS_AT_ONCE = 4;

/** Reads what is due of a wallet at the newest committed block, and keeps it. */
export const balancesNow: StateReader<BalanceQuestion, { readonly read: number }> = {
  kind: BALANCES_NOW,
  async read(context, question, signal) {
    const due = await listDueTokens(context.database, context.chain, question);
    const parts = inParts(due, TOGETHER);
    for (const some of inParts(parts, PARTS_AT_ONCE))
      await Promise.all(some.map((tokens) => readSome(context, question.wallet, tokens, signal)));
    return { read: due.length };
  },
};

/** Reads what a wallet held at an earlier block. Nothing of it is kept. */
export const balancesThen: StateReader<PastBalanceQuestion, PastBalances> = {
  kind: BALANCES_THEN,
  async read({ chain, pool, database }, { wallet, tokens, block }, signal) {
    const known = await knownBlock(database, chain, block);
    const said = await askContracts(stateAt(pool, chain, known ?? { number: block }), wallet, tokens, signal);
    return [...said].flatMap(([token, balance]) => (balance === null ? [] : [{ token, balance: balance.toString() }]));
  },
};

async function readSome(
  context: StateReadingContext,
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<void> {
  const { chain, pool, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return;
  const state = stateAt(pool, chain, block);
  const first = await askContracts(state, wallet, tokens, signal);
  const disputed = await saveReadings(context, { wallet, block, first, second: null });
  if (disputed.length === 0) return;
  const second = await askAnother(context, { block, wallet, tokens: disputed, not: state.upstream }, signal);
  const again = new Map(disputed.map((token) => [token, first.get(token) ?? null]));
  await saveReadings(context, { wallet, block, first: again, second });
}

/** Where there is only one upstream, it is asked again. */
async function askAnother(
  { chain, pool, logger }: StateReadingContext,
  asked: {
    readonly block: StateBlock;
    readonly wallet: Address;
    readonly tokens: readonly Address[];
    readonly not: string | null;
  },
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, Said>> {
  const { block, wallet, tokens, not } = asked;
  const isAlone = pool.status().filter(({ state }) => state !== 'disabled').length < 2;
  const other = stateAt(pool, chain, block, not === null || isAlone ? {} : { notFrom: not });
  try {
    return await askContracts(other, wallet, tokens, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    logger.warn({ chain: chain.key, wallet, err: error }, 'No other upstream could be asked about balances');
    return new Map(tokens.map((token): [Address, Said] => [token, 'unheard']));
  }
}

async function askContracts(
  state: StateAt,
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, bigint | null>> {
  const data = balanceOfCall(wallet);
  const answers = await state.callTogether(
    tokens.map((to) => ({ to, data })),
    signal,
  );
  return new Map(tokens.map((token, place) => [token, readBalance(answers[place] ?? null)]));
}

function inParts<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, part) => all.slice(part * size, (part + 1) * size));
}
