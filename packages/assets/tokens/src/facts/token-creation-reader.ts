import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, waitingAtMost } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { type StateKind, type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import {
  committedBlock,
  type ReadingContext,
  type StateBlock,
  StateNotArchivedError,
  StateUnavailableError,
} from '@chainstead/node-reads/requests';
import { z } from 'zod';

/** `block` is null if no node has it. */
const tokenCreationKind: StateKind<{ address: string }, { block: number | null }> = {
  name: 'token-creation',
  question: z.object({ address: z.string() }),
  answer: z.object({ block: z.int().nullable() }),
  isSlow: true,
};

export const tokenCreationReader: StateReader<{ address: string }, { block: number | null }> = {
  kind: tokenCreationKind,
  async read(context, question, signal) {
    const { database, chain } = context;
    const address = parseAddress(question.address);
    const newest = await committedBlock(database, chain);
    if (newest === null) throw new StateUnavailableError(`No block of ${chain.name} is indexed yet`);
    const created = await findCreation(context, { address, newest }, signal);
    // A reorg may still move it.
    const isSettled = created === null || created.number <= newest.number - chain.reorgDepthMax;
    await database.query(
      sql`UPDATE tokens SET created_block = ${created?.number ?? null}, created_at = to_timestamp(${created?.timestamp ?? null}::float8), creation_sought_at = ${isSettled ? new Date(context.clock.now()) : null}
       WHERE address = ${addressBytes(address)} AND chain_id = ${chain.id}`,
    );
    return { block: created?.number ?? null };
  },
};

/** By halving: any creation of several. Null: no code now, or no upstream keeps old state. */
async function findCreation(
  { chain, pool }: StateReadingContext,
  { address, newest }: { readonly address: Address; readonly newest: StateBlock },
  signal: AbortSignal,
): Promise<Pick<StateBlock, 'number' | 'timestamp'> | null> {
  const hasCode = async (block: StateBlock | { readonly number: number }): Promise<boolean> =>
    (await stateAt(pool, chain, block).code(address, signal)) !== '0x';
  try {
    if (!(await hasCode(newest))) return null;
    let without = chain.firstBlock - 1;
    let having = newest.number;
    while (having - without > 1) {
      const middle = Math.floor((without + having) / 2);
      if (await hasCode({ number: middle })) having = middle;
      else without = middle;
    }
    const [header] = await pool.getHeaders([having], { signal });
    return header === undefined ? null : { number: having, timestamp: header.value.timestamp };
  } catch (error) {
    if (error instanceof StateNotArchivedError) return null;
    throw error;
  }
}

/** Milliseconds until a missing or not yet final result is read again. */
const SOUGHT_MS = 300_000;

/** Does not wait: each takes up to thirty calls of an archive node. */
export async function seekTokenCreations(
  { nodeReads }: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
): Promise<void> {
  const seek = (address: Address) =>
    nodeReads.request(chain, tokenCreationKind, { address }, { maxAgeMs: SOUGHT_MS });
  await waitingAtMost(0, () => Promise.all(addresses.map(seek)));
}
