import { type Address, waitingAtMost } from '@chainstead/core';
import { addressBytes, type Database, rawSql, runStatements, sql } from '@chainstead/db';
import { createSubjectProjections, LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { addressOf, seedBuilt, storeToken } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { erc20Transfers } from '../dataset.ts';
import { DAI, eth, FRIEND, transfer, transfersIn, USDC, WALLET } from '../testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from '../testing/seeded-wallets.ts';
import { erc20TokenCounts } from '../token-counts.ts';
import { openTokenStage, seedTokenRange } from '../token-transfers/testing/token-stage.ts';
import { getTokenStats } from './token-stats-route.ts';

const stage = stageOfFile(openTokenStage);
beforeEach(() => stage.empty());

const stats = async (token: Address = USDC) => (await stage.request(`/erc20/${token}/stats?chain=0x1`)).body;

describe('the number of a token’s transfers', () => {
  test('counts each once, and no other token’s', async () => {
    await seedCoverage(stage.database, eth, 0, 10);
    await seedTransfers(stage.database, eth, [
      ...transfersIn(1, 4),
      transfer(5, { to: WALLET }),
      transfer(6, { from: FRIEND, to: WALLET }),
      transfer(7, { token: DAI }),
    ]);
    const indexed = { from_block: '0', to_block: '10', complete: true };
    expect(await stats()).toEqual({ transfers: { total: '6' }, indexed });
    expect(await stats(DAI)).toEqual({ transfers: { total: '1' }, indexed });
    expect(await stats(WALLET)).toEqual({ transfers: { total: '0' }, indexed });
  });

  test('of what is indexed of it, whose history is asked for where blocks are missing', async () => {
    expect(await stats()).toEqual({
      transfers: { total: '0' },
      indexed: { from_block: null, to_block: null, complete: false },
    });
    expect(await stage.histories()).toEqual([USDC]);
    await seedCoverage(stage.database, eth, 50, 60);
    await seedTokenRange(stage.database, USDC, 0, 49);
    expect((await stats()).indexed).toEqual({ from_block: '0', to_block: '60', complete: true });
  });

  test('is zero of a contract that turned out to be of NFTs', async () => {
    await seedTransfers(stage.database, eth, transfersIn(1, 3));
    await storeToken(stage.database, 1, USDC, { standard: 'erc1155' });
    expect((await stats()).transfers).toEqual({ total: '0' });
  });
});

describe('very many transfers', () => {
  const read = (waitMs = 5_000) => {
    const { database } = stage;
    const options = { projections: createSubjectProjections(database), countMax: 10 };
    return waitingAtMost(waitMs, () => getTokenStats(database, eth, USDC, options));
  };
  const isKept = async (): Promise<boolean> =>
    (await stage.database.query(sql`SELECT FROM subject_projections WHERE built_to IS NULL`)).length === 1;

  test('are counted once, and followed from then on', async () => {
    const { database } = stage;
    await seedBuilt(database, eth.id, erc20TokenCounts);
    await seedCoverage(database, eth, 0, 100);
    await seedTransfers(database, eth, transfersIn(1, 10));
    expect(await read()).toMatchObject({ transfers: 10, indexed: { complete: true } });
    expect(await isKept()).toBe(false);
    await seedTransfers(database, eth, [transfer(11, { to: WALLET })]);
    expect(await read()).toMatchObject({ transfers: 11, indexed: { complete: true } });
    expect(await isKept()).toBe(true);
    // The value is from the counter, not from the rows.
    await database.query(sql`UPDATE erc20_token_counts SET transfers = 12`);
    expect((await read()).transfers).toBe(12);
  });

  test('are so many at least, and not complete, while they are counted', async () => {
    const { database } = stage;
    await seedCoverage(database, eth, 0, 100);
    await seedTransfers(database, eth, transfersIn(1, 30));
    // No process of this version has ingested the chain yet.
    expect(await read(0)).toMatchObject({
      transfers: 11,
      indexed: { fromBlock: 0, toBlock: 100, complete: false },
    });
  });
});

describe('the counter', () => {
  const TOKENS = [addressOf(1), addressOf(2), addressOf(3)];
  /** The first two are requested; of the second, blocks up to 5 are counted. */
  const SUBJECTS = `(VALUES (${literal(TOKENS[0])}, 1000000), (${literal(TOKENS[1])}, 5)) AS given(subject, built_to)`;
  const moves = fc.array(
    fc.record({ token: fc.nat(2), block: fc.nat(9), log: fc.nat(50), direction: fc.nat(2) }),
    {
      maxLength: 30,
    },
  );

  test('is the number of rows that came and did not go, in whatever portions', async () => {
    const { database } = stage;
    await database.query(sql`CREATE TABLE moved (LIKE erc20_transfer_sides)`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(moves, fc.boolean()), { maxLength: 6 }), async (portions) => {
        await database.query(sql`DELETE FROM erc20_token_counts`);
        const expected = [0, 0, 0];
        for (const [rows, isGone] of portions) {
          await derive(database, rows, isGone);
          for (const { token, block, direction } of rows)
            if (direction !== 1 && (token === 0 || (token === 1 && block <= 5)))
              expected[token] = (expected[token] ?? 0) + (isGone ? -1 : 1);
        }
        const found = await database.query<{ token: Buffer; transfers: number }>(
          sql`SELECT token, transfers FROM erc20_token_counts`,
        );
        const counts = TOKENS.map(
          (token) => found.find((row) => row.token.equals(addressBytes(token)))?.transfers ?? 0,
        );
        expect(counts).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  async function derive(
    database: Database,
    rows: readonly {
      readonly token: number;
      readonly block: number;
      readonly log: number;
      readonly direction: number;
    }[],
    isGone: boolean,
  ): Promise<void> {
    await database.query(sql`TRUNCATE moved`);
    for (const { token, block, log, direction } of rows) {
      const bytes = addressBytes(TOKENS[token] ?? USDC);
      await database.query(
        sql`INSERT INTO moved (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value,
           transaction_hash) VALUES (1, 1, ${block}, 0, ${log}, ${direction}, ${bytes}, ${bytes}, ${bytes}, 1, ${bytes})`,
      );
    }
    const moved = rawSql('moved');
    const change = { rows: moved, subjects: rawSql(`(SELECT * FROM ${SUBJECTS})`), access: LOCAL_ACCESS };
    const statements = isGone
      ? erc20TokenCounts.removed({ ...change, remaining: moved })
      : erc20TokenCounts.added(change);
    await runStatements(database, statements);
  }
});

function literal(address: Address | undefined): string {
  return `'\\x${address?.slice(2)}'::bytea`;
}

test('the dataset keeps it', () => {
  expect(erc20Transfers.projections).toContain(erc20TokenCounts);
});
