import { type Address, inParts } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { StateReader, StateReadingContext } from '@chainstead/node-reads';
import { committedBlock } from '@chainstead/node-reads/requests';
import { BY_TOKEN } from '../anchored-sums/axes.ts';
import { saveReadings } from '../anchored-sums/save-readings.ts';
import { readAndSave } from '../calls/fetch-balances.ts';
import { OWNERS_NOW, type OwnersQuestion } from './holder-questions.ts';

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
  await readAndSave(
    context,
    { block, holdings, isPatient: false },
    ({ holder }) => holder,
    (readings) => saveReadings(context, BY_TOKEN, { subject: token, block, firstBlock, ...readings }),
    signal,
  );
}

export async function firstBlockOf(
  { chain, database }: Pick<StateReadingContext, 'chain' | 'database'>,
  token: Address,
): Promise<number> {
  const [row] = await database.query<{ createdBlock: number | null }>(
    sql`SELECT created_block FROM tokens WHERE address = ${addressBytes(token)} AND chain_id = ${chain.id}`,
  );
  return row?.createdBlock ?? chain.firstBlock;
}
