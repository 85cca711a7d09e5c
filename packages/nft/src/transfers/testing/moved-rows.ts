/** Rows of transfers that come and go, with the statements of a derived state run over them each time. */
import { runDerived, type SubjectState } from '@chainstead/sync';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll } from 'vitest';
import { nftTransfers } from '../dataset.ts';
import { histories, linesOf, type Move } from './example-moves.ts';

type Kind = 'added' | 'removed';
interface Step {
  readonly kind: Kind;
  /** Numbers of the history's blocks. */
  readonly some: readonly number[];
}

/** A history, and the steps by which its blocks come and go: each adds those of its blocks that are away, or removes those that are there. */
export const schedules = histories.chain((blocks) => {
  const some = fc.uniqueArray(fc.nat(blocks.length - 1), { minLength: 1, maxLength: blocks.length });
  const step = fc.record({ kind: fc.constantFrom<Kind>('added', 'added', 'removed'), some });
  return fc.record({ blocks: fc.constant(blocks), steps: fc.array(step, { maxLength: 8 }) });
});

/** The rows of a test file, in a scratch database of its own. */
export function movedRowsOf(state: SubjectState) {
  const scratch = scratchOfFile({ autovacuum: false });
  beforeAll(async () => {
    await scratch.database.query('CREATE TABLE there (LIKE nft_transfers)');
    await scratch.database.query('CREATE INDEX ON there (collection_key, token_id_key(token_id))');
  });
  let turns = 0;
  /** Lets rows come or go, and runs the statements over a relation that holds them. @param kept relation of subjects */
  async function derive(kind: Kind, lines: readonly string[], kept: string): Promise<void> {
    await scratch.database.transaction(async (transaction) => {
      await transaction.query('CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS');
      await transaction.copy('moved', nftTransfers.table.columns, lines);
      await transaction.query(
        kind === 'added'
          ? 'INSERT INTO there SELECT * FROM moved'
          : `DELETE FROM there WHERE (chain_id, block_number, log_index) IN (SELECT chain_id, block_number, log_index FROM moved)`,
      );
      // Every other time as where tables are distributed.
      await runDerived(transaction, turns++ % 2 === 1, (reading) =>
        kind === 'added' ? state.added('moved', kept, reading) : state.removed('moved', kept, 'there', reading),
      );
    });
  }
  return {
    scratch,
    derive,
    /** The plan of the first statement that adds rows, line by line. */
    async explainAdding(lines: readonly string[], kept: string): Promise<readonly string[]> {
      const rows = await scratch.database.transaction(async (transaction) => {
        await transaction.query('CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS');
        await transaction.copy('moved', nftTransfers.table.columns, lines);
        const [statement = ''] = state.added('moved', kept);
        return transaction.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${statement}`);
      });
      return rows.map((row) => row['QUERY PLAN'].trim());
    },
    /**
     * Takes the steps, then adds what is away, then removes everything.
     * @param check is told after each step which blocks are there
     */
    async take(
      chainId: number,
      { blocks, steps }: { readonly blocks: readonly (readonly Move[])[]; readonly steps: readonly Step[] },
      kept: string,
      check: (isThere: (block: number) => boolean) => Promise<void>,
    ): Promise<void> {
      const there = new Set<number>();
      const all = blocks.map((_, number) => number);
      for (const { kind, some } of [
        ...steps,
        { kind: 'added', some: all } as const,
        { kind: 'removed', some: all } as const,
      ]) {
        const changing = some.filter((block) => there.has(block) === (kind === 'removed'));
        await derive(
          kind,
          changing.flatMap((block) => linesOf(chainId, block, blocks[block] ?? [])),
          kept,
        );
        for (const block of changing)
          if (kind === 'added') there.add(block);
          else there.delete(block);
        await check((block) => there.has(block));
      }
    },
  };
}
