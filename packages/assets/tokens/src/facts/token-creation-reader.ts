import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import {
  committedBlock,
  type StateBlock,
  StateNotArchivedError,
  StateUnavailableError,
} from '@chainstead/node-reads/requests';
import { tokenCreationKind } from './token-creation-question.ts';

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
