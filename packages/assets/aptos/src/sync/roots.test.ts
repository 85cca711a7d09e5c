import { sql } from '@chainstead/db';
import { createAptosLedger } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAptosStatuses } from './aptos-status.ts';
import { createAptosSync } from './aptos-sync.ts';
import { type AptosStage, openStage } from './testing/aptos-stage.ts';
import { runUntil } from './testing/run-until.ts';

const NEVER = new AbortController().signal;
const EMPTY_LEDGER = createAptosLedger({ transactions: [], head: 3_000 });

let stage: AptosStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const statusNow = async () => (await readAptosStatuses(stage.database, ['coins']))[0];

describe('roots', () => {
  // Invariant: APTOS-ROOT-CONFIRMED
  it('of two fullnodes that agree are kept as confirmed', async () => {
    const [one, two] = [await stage.serve(EMPTY_LEDGER), await stage.serve(EMPTY_LEDGER)];
    await createAptosSync(stage.options(stage.open([one.url, two.url]), { endVersion: 3_000 })).run(NEVER);
    expect(await statusNow()).toMatchObject({ confirmedRoot: 3_000, head: 3_000, lag: 0, fullnodes: [{}, {}] });
  });

  // Invariant: APTOS-ROOT-CONFIRMED
  it('that differ stop the chain, and the stop names both fullnodes', async () => {
    const [one, two] = [await stage.serve(EMPTY_LEDGER), await stage.serve(EMPTY_LEDGER, { forkFrom: 1_500 })];
    const options = stage.options(stage.open([one.url, two.url]), {});
    await runUntil(options, async () => (await statusNow())?.stop?.code === 'ACCUMULATOR_ROOT_MISMATCH');
    const stop = (await statusNow())?.stop;
    expect(stop?.message).toContain(one.url);
    expect(stop?.message).toContain(two.url);
    const known = await stage.database.query(
      sql`SELECT 1 FROM aptos_roots WHERE version >= 1500 AND confirmed_by IS NULL`,
    );
    expect(known).toEqual([]);
  });

  it('are compared with a fullnode that always lags, and stay stopped', async () => {
    const head = { lag: 2_000 };
    const [one, two] = [
      await stage.serve(EMPTY_LEDGER, head),
      await stage.serve(EMPTY_LEDGER, { lag: 2_050, forkFrom: 0 }),
    ];
    const options = stage.options(stage.open([one.url, two.url]), { startVersion: null });
    await runUntil(options, async () => {
      const lag = Math.max(0, one.faults.settings.lag - 10);
      one.faults.set({ lag });
      two.faults.set({ lag: lag + 50 });
      return (await statusNow())?.stop?.code === 'ACCUMULATOR_ROOT_MISMATCH';
    });
    const stopped = await statusNow();
    const fullnodes = stage.open([one.url, two.url]);
    await runUntil(stage.options(fullnodes, { startVersion: null }), async () =>
      fullnodes.status().every(({ requests }) => requests >= 2),
    );
    expect(await statusNow()).toMatchObject({
      // The later start may compare a later version.
      stop: { code: 'ACCUMULATOR_ROOT_MISMATCH' },
      checkpoint: stopped?.checkpoint,
    });
  });

  it('of a fullnode that is behind every known root are compared with those of another', async () => {
    const one = await stage.serve(EMPTY_LEDGER);
    const single = { startVersion: 2_000, endVersion: 2_000 };
    await createAptosSync(stage.options(stage.open([one.url]), single)).run(NEVER);
    const two = await stage.serve(EMPTY_LEDGER, { lag: 2_000, forkFrom: 0 });
    const options = stage.options(stage.open([one.url, two.url]), { startVersion: 2_000 });
    await runUntil(options, async () => (await statusNow())?.stop?.code === 'ACCUMULATOR_ROOT_MISMATCH');
    expect((await statusNow())?.checkpoint).toBe(2_000);
  });

  it('are confirmed by a fullnode that always lags', async () => {
    const [one, two] = [
      await stage.serve(EMPTY_LEDGER, { lag: 2_000 }),
      await stage.serve(EMPTY_LEDGER, { lag: 2_050 }),
    ];
    await runUntil(stage.options(stage.open([one.url, two.url]), { startVersion: null }), async () => {
      const lag = Math.max(0, one.faults.settings.lag - 10);
      one.faults.set({ lag });
      two.faults.set({ lag: lag + 50 });
      return ((await statusNow())?.confirmedRoot ?? 0) > 1_000;
    });
    expect(await statusNow()).toMatchObject({ stop: null });
  });

  it('of the fullnodes of today must be those that were indexed', async () => {
    const one = await stage.serve(EMPTY_LEDGER);
    await createAptosSync(stage.options(stage.open([one.url]), { endVersion: 2_000 })).run(NEVER);
    const other = await stage.serve(EMPTY_LEDGER, { forkFrom: 0 });
    const options = stage.options(stage.open([other.url]), { endVersion: 3_000 });
    await runUntil(options, async () => (await statusNow())?.stop?.code === 'ACCUMULATOR_ROOT_MISMATCH');
    expect((await statusNow())?.checkpoint).toBe(2_000);
  });
});
