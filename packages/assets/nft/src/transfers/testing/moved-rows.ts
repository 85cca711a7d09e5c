/** Rows of transfers that are added and removed, with a projection's statements run each time. */
import { rawSql, type Sql, sql } from '@chainstead/db';
import type { SubjectProjection } from '@chainstead/sync/datasets';
import { LOCAL_ACCESS, runProjection } from '@chainstead/sync/ingest';
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

/** A history, and steps that each add its absent blocks or remove its present ones. */
export const schedules = histories.chain((blocks) => {
  const some = fc.uniqueArray(fc.nat(blocks.length - 1), { minLength: 1, maxLength: blocks.length });
  const step = fc.record({ kind: fc.constantFrom<Kind>('added', 'added', 'removed'), some });
  return fc.record({ blocks: fc.constant(blocks), steps: fc.array(step, { maxLength: 8 }) });
});

/** The rows of a test file, in a separate scratch database. */
export function movedRowsOf(projection: SubjectProjection) {
  const scratch = scratchOfFile({ autovacuum: false });
  beforeAll(async () => {
    await scratch.database.query(sql`CREATE TABLE there (LIKE nft_transfers)`);
    await scratch.database.query(sql`CREATE INDEX ON there (collection_key, token_id_key(token_id))`);
  });
  let runs = 0;
  /**
   * Adds or removes rows, and runs the statements over a relation that contains them.
   * @param subjects their relation
   */
  async function derive(kind: Kind, lines: readonly string[], subjects: Sql): Promise<void> {
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(
        sql`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS`,
      );
      await transaction.copy('moved', nftTransfers.table.columns, lines);
      await transaction.query(
        kind === 'added'
          ? sql`INSERT INTO there SELECT * FROM moved`
          : sql`DELETE FROM there WHERE (chain_id, block_number, log_index) IN (SELECT chain_id, block_number, log_index FROM moved)`,
      );
      // Every second run acts as if tables were distributed.
      await runProjection(transaction, runs++ % 2 === 1, (access) => {
        const change = { rows: rawSql('moved'), subjects, access };
        return kind === 'added'
          ? projection.added(change)
          : projection.removed({ ...change, remaining: rawSql('there') });
      });
    });
  }
  return {
    scratch,
    derive,
    /** The plan of the first statement that adds rows, line by line. */
    async explainAdding(lines: readonly string[], subjects: Sql): Promise<readonly string[]> {
      const rows = await scratch.database.transaction(async (transaction) => {
        await transaction.query(
          sql`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS`,
        );
        await transaction.copy('moved', nftTransfers.table.columns, lines);
        const [statement = rawSql('')] = projection.added({
          rows: rawSql('moved'),
          subjects,
          access: LOCAL_ACCESS,
        });
        return transaction.query<{ 'QUERY PLAN': string }>(sql`EXPLAIN (COSTS OFF) ${statement}`);
      });
      return rows.map((row) => row['QUERY PLAN'].trim());
    },
    /**
     * Takes the steps, then adds absent blocks, then removes everything.
     * @param check called after each step with the present blocks
     */
    async take(
      chainId: number,
      { blocks, steps }: { readonly blocks: readonly (readonly Move[])[]; readonly steps: readonly Step[] },
      subjects: Sql,
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
          subjects,
        );
        for (const block of changing)
          if (kind === 'added') there.add(block);
          else there.delete(block);
        await check((block) => there.has(block));
      }
    },
  };
}
