/** Asks token contracts what accounts hold. Of the worker role. */
import { type Address, ChainsteadError } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import {
  committedBlock,
  type StateBlock,
  type StateReader,
  type StateReadingContext,
  stateAt,
} from '@chainstead/state';
import type { Said } from '../balances/judge-reading.ts';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
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
  const ask = (asked: readonly Address[], not: Sources) =>
    askContract(context, { token, block, accounts: asked, not }, signal);
  const first = await ask(accounts, new Map());
  const disputed = await saveOwnerReadings(context, { token, block, firstBlock, first: first.said, second: null });
  if (disputed.length === 0) return;
  const second = await askAnother(context, disputed, () => ask(disputed, first.sources), signal);
  const again = new Map(disputed.map((account) => [account, first.said.get(account) ?? null]));
  await saveOwnerReadings(context, { token, block, firstBlock, first: again, second });
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

async function askAnother(
  { chain, logger }: StateReadingContext,
  accounts: readonly Address[],
  ask: () => Promise<Answers>,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, Said>> {
  try {
    return (await ask()).said;
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    logger.warn({ chain: chain.key, err: error }, 'No other upstream could be asked what accounts hold');
    return new Map(accounts.map((account) => [account, 'unheard']));
  }
}

/** Whose an answer is, by account. */
type Sources = ReadonlyMap<Address, string | null>;

interface Answers {
  readonly said: ReadonlyMap<Address, bigint | null>;
  readonly sources: Sources;
}

interface AskedOwners extends OwnersQuestion {
  readonly block: StateBlock;
  /** Upstreams that are not to be asked about an account; where there is only one, it is asked again. */
  readonly not: Sources;
}

/** Through Multicall3 one upstream answers for all accounts; without, for each another one may: then each is asked by itself. */
async function askContract(
  { chain, pool }: StateReadingContext,
  { token, block, accounts, not }: AskedOwners,
  signal: AbortSignal,
): Promise<Answers> {
  const isAlone = pool.status().filter(({ state }) => state !== 'disabled').length < 2;
  const isTogether = chain.multicall3 !== null && block.number >= chain.multicall3.blockCreated;
  const parts = isTogether ? [accounts] : accounts.map((account) => [account]);
  const answers = await Promise.all(
    parts.map(async (part) => {
      const other = part.map((account) => not.get(account) ?? null).find((source) => source !== null);
      const state = stateAt(pool, chain, block, other === undefined || isAlone ? {} : { notFrom: other });
      const values = await state.callTogether(
        part.map((account) => ({ to: token, data: balanceOfCall(account) })),
        signal,
      );
      return part.map((account, place) => ({
        account,
        value: readBalance(values[place] ?? null),
        source: state.upstream,
      }));
    }),
  );
  return {
    said: new Map(answers.flat().map(({ account, value }) => [account, value])),
    sources: new Map(answers.flat().map(({ account, source }) => [account, source])),
  };
}
