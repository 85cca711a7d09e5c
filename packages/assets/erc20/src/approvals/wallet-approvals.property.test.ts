import { rawSql, runStatements, type Sql, sql, type Transaction } from '@chainstead/db';
import { LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { atDepth, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { accountOf, type ExampleApproval, linesOf } from './testing/example-approvals.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';

const chain = exampleChain();
/** The first three are requested; of the third, rows up to block 5 are counted so far. */
const SUBJECTS = `(VALUES ('\\x${accountOf(1).slice(2)}'::bytea, 1000), ('\\x${accountOf(2).slice(2)}'::bytea, 1000), ('\\x${accountOf(3).slice(2)}'::bytea, 5))`;
const subjects = rawSql(`(SELECT * FROM ${SUBJECTS} AS requested(subject, built_to))`);
const BUILT_TO = new Map([
  [accountOf(1), 1000],
  [accountOf(2), 1000],
  [accountOf(3), 5],
]);

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(sql`CREATE TABLE there (LIKE erc20_approvals)`);
});

/** Adds or removes approvals and runs the statements over a relation of them. */
async function derive(kind: 'added' | 'removed', approvals: readonly ExampleApproval[]): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    const rows = await relationOf(transaction, linesOf(chain, approvals));
    await transaction.query(
      rawSql(
        kind === 'added'
          ? 'INSERT INTO there SELECT * FROM changed'
          : 'DELETE FROM there WHERE (block_number, log_index) IN (SELECT block_number, log_index FROM changed)',
      ),
    );
    const change = { rows, subjects, access: LOCAL_ACCESS };
    await runStatements(
      transaction,
      kind === 'added'
        ? erc20WalletApprovals.added(change)
        : erc20WalletApprovals.removed({ ...change, remaining: rawSql('there') }),
    );
  });
}

async function relationOf(transaction: Transaction, lines: readonly string[]): Promise<Sql> {
  await transaction.query(
    sql`CREATE TEMP TABLE IF NOT EXISTS changed (LIKE erc20_approvals) ON COMMIT DELETE ROWS`,
  );
  await transaction.copy(
    'changed',
    'owner_key chain_id block_number transaction_index log_index owner token spender value transaction_hash'.split(
      ' ',
    ),
    lines,
  );
  return rawSql('changed');
}

async function held(): Promise<string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', '0x' || encode(wallet, 'hex'), '0x' || encode(token, 'hex'), '0x' || encode(spender, 'hex'), value, block_number, log_index) AS line
     FROM erc20_wallet_approvals`,
  );
  return rows.map(({ line }) => line).sort();
}

/** An independent computation of the newest approval per owner, token and spender. */
function newestOf(approvals: readonly ExampleApproval[]): string[] {
  const newest = new Map<string, ExampleApproval>();
  for (const approval of approvals) {
    const { owner, token, spender, blockNumber, logIndex } = approval;
    if (blockNumber > (BUILT_TO.get(owner) ?? -1)) continue;
    const key = `${owner} ${token} ${spender}`;
    const before = newest.get(key);
    if (
      before === undefined ||
      before.blockNumber < blockNumber ||
      (before.blockNumber === blockNumber && before.logIndex < logIndex)
    )
      newest.set(key, approval);
  }
  return [...newest]
    .map(([key, { value, blockNumber, logIndex }]) => `${key} ${value} ${blockNumber} ${logIndex}`)
    .sort();
}

const approval = fc.record({
  owner: fc.integer({ min: 1, max: 4 }).map(accountOf),
  token: fc.constantFrom(accountOf(100), accountOf(101)),
  spender: fc.constantFrom(accountOf(200), accountOf(201)),
  value: fc.constantFrom(0n, 5n, 2n ** 256n - 1n),
});
/** Blocks of approvals, and the steps that add and remove them. */
const schedules = fc
  .array(fc.array(approval, { maxLength: 6 }), { minLength: 1, maxLength: 10 })
  .chain((blocks) =>
    fc.record({
      blocks: fc.constant(
        blocks.map((each, blockNumber) => each.map((one, logIndex) => ({ ...one, blockNumber, logIndex }))),
      ),
      steps: fc.array(
        fc.record({
          kind: fc.constantFrom('added' as const, 'added' as const, 'removed' as const),
          some: fc.uniqueArray(fc.nat(blocks.length - 1), { minLength: 1, maxLength: blocks.length }),
        }),
        { maxLength: 8 },
      ),
    }),
  );

describe('the approvals that are kept of wallets', () => {
  test(
    'are the newest of those that are there, in whatever order and portions they came and went',
    async () => {
      await fc.assert(
        fc.asyncProperty(schedules, async ({ blocks, steps }) => {
          await scratch.database.query(sql`TRUNCATE there, erc20_wallet_approvals`);
          const there = new Set<number>();
          const all = { kind: 'added' as const, some: blocks.map((_, number) => number) };
          for (const { kind, some } of [...steps, all]) {
            const changing = some.filter((block) => there.has(block) === (kind === 'removed'));
            await derive(
              kind,
              changing.flatMap((block) => blocks[block] ?? []),
            );
            for (const block of changing)
              if (kind === 'added') there.add(block);
              else there.delete(block);
            expect(await held()).toEqual(newestOf(blocks.filter((_, block) => there.has(block)).flat()));
          }
        }),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(120_000),
  );
});
