/** Aptos from outside: the program's own commands and processes, over a recorded fullnode. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rawSql, sql } from '@chainstead/db';
import {
  type AptosFullnode,
  type AptosLedger,
  createAptosLedger,
  createScratchDatabase,
  readAptosTransactions,
  recordedData,
  type ScratchDatabase,
  startAptosFullnode,
  startProgram,
} from '@chainstead/testkit';
import { type CommandOutcome, runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { untilCovered } from './covered-versions.ts';

const HEAD = 4_000;
/** Versions between two recorded transactions. */
const EVERY = 60;

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('chainstead on Aptos'), () => {
  let ledger: AptosLedger;
  let fullnode: AptosFullnode;
  let scratch: ScratchDatabase;
  let place: string;

  beforeEach(async () => {
    const files = [
      'rest-local-chain/test_get_transactions_output_genesis_transaction.json',
      'rest-derived/mainnet_transactions.json',
      'rest-derived/testnet_transactions.json',
    ];
    const transactions = files.flatMap((file) => readAptosTransactions(folder, file));
    ledger = createAptosLedger({ transactions, place: { from: 0, every: EVERY }, head: HEAD });
    fullnode = await startAptosFullnode(ledger);
    scratch = await createScratchDatabase();
    place = await mkdtemp(join(tmpdir(), 'chainstead-aptos-'));
  });
  afterEach(async () => {
    await fullnode.close();
    await scratch.drop();
    await rm(place, { recursive: true, force: true });
  });

  const environmentOf = ({ url }: ScratchDatabase, more: Record<string, string> = {}) => ({
    DATABASE_URL: url,
    APTOS_NODE_URL: fullnode.url,
    ...more,
  });
  const run = (args: readonly string[], more: Record<string, string> = {}): Promise<CommandOutcome> =>
    runCaptured(args, environmentOf(scratch, more));
  const lastLine = ({ stdout }: CommandOutcome): unknown => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const coinsOf = ({ database }: ScratchDatabase) =>
    database.query(sql`SELECT encode(coin_type_hash, 'hex') AS hash, * FROM aptos_coins ORDER BY coin_type_hash`);

  it('fills ranges, and says what is covered and what is missing', async () => {
    const filled = await run([
      'backfill',
      '--chain',
      'aptos',
      '--from',
      '0',
      '--to',
      '1500',
      '--range',
      '2000-2500',
    ]);
    expect(filled).toMatchObject({ exitCode: 0 });
    expect(lastLine(filled)).toMatchObject({ work: 'backfill', chain: 'aptos', versions: 2_002, finished: true });
    expect(filled.stdout).toContain('"unit":"versions"');
    expect((await coinsOf(scratch)).length).toBeGreaterThan(0);

    const gaps = lastLine(await run(['gaps', '--json']));
    expect(gaps).toMatchObject([
      { chain: 'aptos', network: 'mainnet', gaps: [{ dataset: 'coins', range: { from: 1_501, to: 1_999 } }] },
    ]);
    const shown = (await run(['gaps'])).stdout;
    expect(shown).toMatch(/aptos +coins +1,501 +1,999/);
    expect(shown).toMatch(/aptos +coins +0 +1,500 +1,501 +roots not compared/);
    expect(lastLine(await run(['status', '--json']))).toMatchObject({
      aptos: { networks: [{ chain: 'aptos', covered: [{ dataset: 'coins', versions: 2_002, missing: 499 }] }] },
    });
    const status = await run(['status']);
    expect(status.stdout).toContain('coins: 2002 versions indexed; 499 missing');
    expect(status.stdout).toMatch(/aptos_coins +\d/);

    const again = await run(['backfill', '--chain', 'aptos', '--from', '0', '--to', '1500']);
    expect(lastLine(again)).toMatchObject({ versions: 0 });
  });

  it('says up to where two fullnodes gave the same roots', async () => {
    const other = await startAptosFullnode(ledger);
    try {
      const two = { APTOS_NODE_URL: `${fullnode.url},${other.url}` };
      await run(['backfill', '--chain', 'aptos', '--from', '0', '--to', '1000'], two);
      expect((await run(['gaps'])).stdout).toMatch(/aptos +coins +0 +1,000 +1,001 +roots agree\n/);
      await run(['backfill', '--chain', 'aptos', '--from', '1001', '--to', '1500']);
      expect((await run(['gaps'])).stdout).toMatch(/aptos +coins +0 +1,500 +1,501 +roots agree up to 1000\n/);
      expect(lastLine(await run(['gaps', '--json']))).toMatchObject([{ confirmed_root: 1_000 }]);
    } finally {
      await other.close();
    }
  });

  it('names the oldest version where the beginning is pruned', async () => {
    fullnode.faults.set({ oldest: 700 });
    const refused = await run(['backfill', '--chain', 'aptos', '--from', '0', '--to', '1500']);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('700');
    expect(refused.stderr).toContain('start at version 700');
  });

  it('refuses what it can not do with Aptos', async () => {
    const wrong = [
      ['backfill', '--chain', 'aptos', '--from', '0', '--to', '10', '--bulk'],
      ['backfill', '--chain', 'aptos-testnet', '--from', '0', '--to', '10'],
      ['export', 'aptos-coins', join(place, 'coins'), '--chain', 'eth'],
      ['import', 'labels', join(place, 'labels'), '--trust-coverage'],
      ['import', 'aptos-coins', join(place, 'coins'), '--chain', 'aptos-testnet'],
    ];
    for (const args of wrong) expect((await run(args)).exitCode, args.join(' ')).toBe(2);
  });

  it('hands its coins on as a file', async () => {
    await run(['backfill', '--chain', 'aptos', '--from', '0', '--to', String(HEAD)]);
    const file = join(place, 'coins.jsonl');
    expect(await run(['export', 'aptos-coins', file])).toMatchObject({ exitCode: 0 });
    expect((await readFile(file, 'utf8')).split('\n')[0]).toContain(`"covered":[[0,${HEAD}]]`);
    const other = await createScratchDatabase();
    try {
      const load = (...more: string[]) =>
        runCaptured(['import', 'aptos-coins', file, ...more], environmentOf(other));
      const coins = await coinsOf(scratch);
      expect(lastLine(await load())).toMatchObject({ coins: coins.length, added: coins.length, trusted: false });
      expect(await coinsOf(other)).toEqual(coins);
      expect(await other.database.query(sql`SELECT 1 FROM aptos_ranges`)).toEqual([]);
      expect(lastLine(await load('--trust-coverage'))).toMatchObject({ added: 0, trusted: true });
      const before = fullnode.calls.transactions;
      const filled = await runCaptured(
        ['backfill', '--chain', 'aptos', '--from', '0', '--to', String(HEAD)],
        environmentOf(other),
      );
      expect(lastLine(filled)).toMatchObject({ versions: 0 });
      expect(fullnode.calls.transactions).toBe(before);
    } finally {
      await other.drop();
    }
  });

  it('goes on where it was after SIGKILL at any moment, with the same rows', async () => {
    const all = { APTOS_DATASETS: 'coins,transfers,holders' };
    const truth = await createScratchDatabase();
    try {
      const whole = ['backfill', '--chain', 'aptos', '--from', '0', '--to', String(HEAD)];
      expect(await runCaptured(whole, environmentOf(truth, all))).toMatchObject({ exitCode: 0 });
      fullnode.faults.set({ latencyMs: 25, pageMax: 20 });
      const environment = environmentOf(scratch, {
        ...all,
        APTOS_START_VERSION: '0',
        APTOS_END_VERSION: String(HEAD),
      });
      for (const versions of [1, HEAD / 4, HEAD / 2]) {
        const program = startProgram(['start', '--roles', 'ingest'], { environment });
        try {
          await untilCovered(scratch, versions);
        } finally {
          await program.kill();
        }
      }
      fullnode.faults.set({ latencyMs: 0, pageMax: 100 });
      const last = startProgram(['start', '--roles', 'ingest'], { environment });
      try {
        await untilCovered(scratch, HEAD + 1);
      } finally {
        await last.stop();
      }
      for (const table of ['aptos_coins', 'aptos_transfers', 'aptos_balances', 'aptos_balance_history'])
        expect(await rowsOf(scratch, table), table).toEqual(await rowsOf(truth, table));
    } finally {
      await truth.drop();
    }
  });
});

function rowsOf({ database }: ScratchDatabase, table: string): Promise<{ row: unknown }[]> {
  return database.query(sql`SELECT to_jsonb(t) AS row FROM ${rawSql(table)} t ORDER BY t::text`);
}
