/** Aptos on a cluster of Citus: filled by commands and followed by the program, it has the rows and responses of one server. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAptosRoutes } from '@chainstead/aptos';
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import {
  type AptosFullnode,
  createAptosLedger,
  type Program,
  readAptosTransactions,
  recordedData,
  type ScratchDatabase,
  startAptosFullnode,
  startProgram,
} from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withoutClocks } from './citus-answers.ts';
import { describeOnCitus, untilSettled } from './citus-stage.ts';
import { untilCovered } from './covered-versions.ts';

const { folder, isMissing, title } = recordedData('data/aptos');
const TIMEOUT_MS = 300_000;
const HEAD = 3_000;
const TABLES = ['aptos_coins', 'aptos_transfers', 'aptos_balances', 'aptos_balance_history', 'aptos_ranges'];

await describeOnCitus('Aptos on a cluster', 'Aptos on a cluster', ({ createBoth, worker }) => {
  describe.skipIf(isMissing)(title('with recorded transactions'), () => {
    async function startFullnode(): Promise<AptosFullnode> {
      const files = ['mainnet', 'testnet'].map((network) => `rest-derived/${network}_transactions.json`);
      const transactions = files.flatMap((file) => readAptosTransactions(folder, file));
      const fullnode = await startAptosFullnode(
        createAptosLedger({ transactions, place: { from: 0, every: 60 }, head: HEAD }),
      );
      onTestFinished(() => fullnode.close());
      return fullnode;
    }

    const environmentOf = (scratch: ScratchDatabase, fullnode: AptosFullnode) => ({
      DATABASE_URL: scratch.url,
      APTOS_NODE_URL: fullnode.url,
      APTOS_DATASETS: 'coins,transfers,holders',
    });

    it('has the same once it is filled, and answers the same', { timeout: TIMEOUT_MS }, async () => {
      const fullnode = await startFullnode();
      const place = await mkdtemp(join(tmpdir(), 'chainstead-citus-'));
      onTestFinished(() => rm(place, { recursive: true, force: true }));
      const [own, expected] = await Promise.all(
        (await createBoth()).map(async (scratch) => {
          const run = (...args: string[]) => runCaptured(args, environmentOf(scratch, fullnode));
          // Twice: new rows meet existing ones.
          for (const to of ['1800', `${HEAD}`]) {
            const filled = await run('backfill', '--chain', 'aptos', '--from', '0', '--to', to);
            expect(filled, filled.stderr).toMatchObject({ exitCode: 0 });
          }
          const file = join(place, new URL(scratch.url).port);
          expect(await run('export', 'aptos-coins', file)).toMatchObject({ exitCode: 0 });
          expect(await run('status')).toMatchObject({ exitCode: 0 });
          const coins = (await readFile(file, 'utf8')).split('\n').slice(1);
          return { coins, ...(await contentsOf(scratch.database)) };
        }),
      );
      expect(own).toEqual(expected);
      expectFull(own?.rows, own?.answers);
    });

    it('has the same once it was followed, though a worker and the program itself died', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const fullnode = await startFullnode();
      // Small pages and slow answers, so that a crash meets commits.
      fullnode.faults.set({ lag: HEAD - 600, pageMax: 20, latencyMs: 10 });
      const [spread, single] = await createBoth();
      const start = (scratch: ScratchDatabase): Program => {
        const program = startProgram(['start', '--roles', 'ingest'], {
          environment: { ...environmentOf(scratch, fullnode), APTOS_START_VERSION: '0' },
        });
        onTestFinished(() => program.kill());
        return program;
      };
      const onCluster = start(spread);
      start(single);
      await untilCovered(spread, 600);

      fullnode.faults.set({ lag: HEAD - 1_400 });
      await untilCovered(spread, 700);
      await worker().crash();
      await systemClock.sleep(500);
      await worker().restart();
      await untilCovered(spread, 1_400);

      fullnode.faults.set({ lag: HEAD - 2_200 });
      await untilCovered(spread, 1_500);
      await onCluster.kill();
      start(spread);
      await untilCovered(spread, 2_200);

      fullnode.faults.set({ lag: 0 });
      for (const scratch of [spread, single]) await untilCovered(scratch, HEAD + 1);
      await untilSettled(spread.database);
      const [followed] = await spread.database.query<{ first: number }>(
        sql`SELECT first_followed AS first FROM aptos_networks`,
      );
      expect(followed?.first).toBe(601);
      const [own, expected] = await Promise.all([spread, single].map(({ database }) => contentsOf(database)));
      expect(own).toEqual(expected);
      expectFull(own?.rows, own?.answers);
    });
  });
});

interface Contents {
  readonly rows: Readonly<Record<string, readonly string[]>>;
  readonly answers: readonly string[];
}

async function contentsOf(database: Database): Promise<Contents> {
  return { rows: await rowsOf(database), answers: await answersOf(database) };
}

/** That something was compared. */
function expectFull(rows: Contents['rows'] = {}, answers: Contents['answers'] = []): void {
  expect(Object.keys(rows)).toEqual(TABLES);
  for (const [table, found] of Object.entries(rows)) expect(found.length, table).toBeGreaterThan(0);
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) expect(answer).toMatch(/^200 .*"result":\[\{/);
}

/** Columns of each row without its write time. */
async function rowsOf(database: Database): Promise<Contents['rows']> {
  const tables: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const rows = await database.query<{ row: Record<string, unknown> }>(
      sql`SELECT to_jsonb(t) AS row FROM ${rawSql(table)} t`,
    );
    tables[table] = rows
      .map(({ row }) =>
        JSON.stringify(Object.entries(row).filter(([name]) => !/(updated|created|seen)_at$/.test(name))),
      )
      .toSorted();
  }
  return tables;
}

/** Requests of every route, for the subject with the most rows. */
async function answersOf(database: Database): Promise<Contents['answers']> {
  const busiest = async (table: string, column: string): Promise<string> => {
    const [row] = await database.query<{ found: string }>(
      sql`SELECT ${rawSql(column)} AS found FROM ${rawSql(table)} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
    );
    return row?.found ?? '';
  };
  const owner = await busiest('aptos_balances', `'0x' || encode(owner_address, 'hex')`);
  const coin = await busiest('aptos_balances', `encode(coin_type_hash, 'hex')`);
  const type = encodeURIComponent(await busiest('aptos_transfers', 'coin_type'));
  const sender = await busiest('aptos_transfers', `'0x' || encode(owner_address, 'hex')`);
  const creator = await busiest('aptos_coins', `'0x' || encode(creator_address, 'hex')`);
  const api = await createApiUnderTest(
    database,
    createChainRegistry(),
    createAptosRoutes({ indexed: ['mainnet'] }),
  );
  const answers: string[] = [];
  for (const path of [
    '/coins/latest?limit=5',
    `/coins/creators?limit=5&creator_addresses[0]=${creator}`,
    `/wallets/coins?limit=5&owner_addresses[0]=${owner}`,
    `/wallets/coins/history?limit=5&owner_addresses[0]=${owner}`,
    `/coins/owners/${coin}/top-holders?limit=5`,
    `/wallets/coins/transfers?limit=5&owner_addresses[0]=${sender}`,
    `/coins/transfers/${type}?limit=5`,
  ]) {
    const answer = await api.request(path, { headers: { authorization: `Bearer ${TEST_KEY}` } });
    answers.push(`${answer.status} ${withoutClocks(await answer.text())}`);
  }
  return answers;
}
