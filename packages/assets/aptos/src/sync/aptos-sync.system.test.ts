import { sql } from '@chainstead/db';
import { type AptosFaultSettings, type AptosLedger, createAptosLedger, recordedData } from '@chainstead/testkit';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listCoverage, readAptosStatuses } from './aptos-status.ts';
import { createAptosSync } from './aptos-sync.ts';
import { backfillVersions } from './fill-versions.ts';
import type { AptosSyncOptions } from './options.ts';
import { type AptosStage, openStage, readTables, readTruth, recordedLedger } from './testing/aptos-stage.ts';
import { fastClock, runUntil, until } from './testing/run-until.ts';

const NEVER = new AbortController().signal;
const EMPTY_LEDGER = createAptosLedger({ transactions: [], head: 3_000 });

let stage: AptosStage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const statusNow = async () => (await readAptosStatuses(stage.database, ['coins']))[0];

describe('ranges', () => {
  it('are covered for each dataset, joined, with the root of the last version', async () => {
    const { url } = await stage.serve(EMPTY_LEDGER);
    await createAptosSync(stage.options(stage.open([url]), { endVersion: 2_500 })).run(NEVER);
    expect(await listCoverage(stage.database, 'mainnet')).toEqual(
      ['coins', 'holders', 'transfers'].map((dataset) => ({ dataset, range: { from: 0, to: 2_500 } })),
    );
    const [root] = await stage.database.query<{ accumulatorRoot: Buffer; fullnode: string; confirmedBy: null }>(
      sql`SELECT * FROM aptos_roots ORDER BY version DESC LIMIT 1`,
    );
    const reported = JSON.parse(EMPTY_LEDGER.transaction(2_500).toString('utf8')) as {
      accumulator_root_hash: string;
    };
    expect(`0x${root?.accumulatorRoot.toString('hex')}`).toBe(reported.accumulator_root_hash);
    expect(root).toMatchObject({ fullnode: url, confirmedBy: null });
  });

  it('are filled for a dataset that is switched on later, and for nothing else', async () => {
    const fullnode = await stage.serve(EMPTY_LEDGER);
    const fullnodes = stage.open([fullnode.url]);
    await createAptosSync(stage.options(fullnodes, { startVersion: 1_000, endVersion: 2_000 }, ['coins'])).run(
      NEVER,
    );
    const before = fullnode.calls.transactions ?? 0;
    const both = stage.options(fullnodes, { startVersion: 900, endVersion: 2_000 }, ['coins', 'holders']);
    await createAptosSync(both).run(NEVER);
    expect(await listCoverage(stage.database, 'mainnet')).toEqual(
      ['coins', 'holders'].map((dataset) => ({ dataset, range: { from: 900, to: 2_000 } })),
    );
    // 1,101 versions for holders, 100 of them for coins too, and the newest root once more.
    expect((fullnode.calls.transactions ?? 0) - before).toBeLessThanOrEqual(14);
  });

  it('are followed at the head as it moves on', async () => {
    const fullnode = await stage.serve(EMPTY_LEDGER, { lag: 2_000 });
    const options = stage.options(stage.open([fullnode.url]), { startVersion: null });
    await runUntil(options, async () => {
      const status = await statusNow();
      if (status?.checkpoint === 3_000) return true;
      if (status !== undefined) fullnode.faults.set({ lag: Math.max(0, fullnode.faults.settings.lag - 150) });
      return false;
    });
    expect(await statusNow()).toMatchObject({ historyStart: 1_000, checkpoint: 3_000, gaps: [] });
  });

  it('are led by one process at a time', async () => {
    const { url } = await stage.serve(EMPTY_LEDGER, { lag: 100 });
    const leading = new AbortController();
    const leader = createAptosSync(stage.options(stage.open([url]), {})).run(leading.signal);
    await until(async () => (await statusNow())?.checkpoint === 2_900);
    const standby = stage.options(stage.open([url]), {});
    const stop = new AbortController();
    const waiting = createAptosSync(standby).run(stop.signal);
    expect((await standby.metrics.leader.get()).values.every(({ value }) => value === 0)).toBe(true);
    leading.abort();
    await leader;
    await until(async () => (await standby.metrics.leader.get()).values.some(({ value }) => value === 1));
    stop.abort();
    await waiting;
  });
});

describe('no progress', () => {
  it('shows in the metric although each session is short', async () => {
    const { url } = await stage.serve(EMPTY_LEDGER, { chainId: 2 });
    const options = { ...stage.options(stage.open([url]), {}), clock: fastClock() };
    await runUntil(options, async () =>
      (await options.metrics.stalled.get()).values.some(({ value }) => value === 1),
    );
    expect((await options.metrics.leader.get()).values).toMatchObject([{ value: 0 }]);
  });
});

describe('pruned history', () => {
  it('is said with the oldest version, and the rest is indexed', async () => {
    const { url } = await stage.serve(EMPTY_LEDGER, { oldest: 1_200 });
    const options = stage.options(stage.open([url]), { startVersion: 0 });
    await runUntil(options, async () => {
      const covered = await listCoverage(stage.database, 'mainnet');
      return covered.length === 3 && covered.every(({ range }) => range.from === 1_200 && range.to === 3_000);
    });
    const stop = (await statusNow())?.stop;
    expect(stop?.code).toBe('VERSIONS_PRUNED');
    expect(stop?.message).toContain('1200');
  });

  it('is no longer complained of once it was found', async () => {
    const fullnode = await stage.serve(EMPTY_LEDGER, { oldest: 1_200 });
    const options = { ...stage.options(stage.open([fullnode.url]), { startVersion: 0 }), clock: fastClock() };
    await runUntil(options, async () => {
      const status = await statusNow();
      if (status?.stop?.code === 'VERSIONS_PRUNED') fullnode.faults.set({ oldest: 0 });
      return fullnode.faults.settings.oldest === 0 && status?.gaps.length === 0 && status.stop === null;
    });
    expect((await listCoverage(stage.database, 'mainnet')).map(({ range }) => range.from)).toEqual([0, 0, 0]);
  });

  it('is refused by the backfill before anything is read', async () => {
    const fullnode = await stage.serve(EMPTY_LEDGER, { oldest: 1_200 });
    const work = stage.options(stage.open([fullnode.url]), {});
    await expect(backfillVersions(work, [{ from: 100, to: 2_000 }], NEVER)).rejects.toMatchObject({
      code: 'VERSIONS_PRUNED',
      oldest: 1_200,
    });
    expect(fullnode.calls.transactions).toBeUndefined();
  });

  it('can not be asked for above the head either', async () => {
    const { url } = await stage.serve(EMPTY_LEDGER);
    const work = stage.options(stage.open([url]), {});
    await expect(backfillVersions(work, [{ from: 100, to: 3_001 }], NEVER)).rejects.toMatchObject({
      code: 'VERSIONS_NOT_THERE',
    });
  });
});

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('rows of recorded transactions'), () => {
  let ledger: AptosLedger;
  let truth: Record<string, unknown[]>;
  beforeAll(async () => {
    ledger = recordedLedger(folder);
    truth = await readTruth(ledger);
  });

  const SOME: Partial<AptosFaultSettings> = { throttleRate: 0.1, serverErrorRate: 0.1, dropRate: 0.05 };
  const BROKEN: Partial<AptosFaultSettings> = {
    truncateRate: 0.1,
    gapRate: 0.1,
    duplicateRate: 0.1,
    wrongStartRate: 0.1,
    emptyRate: 0.1,
  };

  it.each<[string, readonly Partial<AptosFaultSettings>[]]>([
    ['one good fullnode', [{}]],
    ['a fullnode that is busy and fails', [SOME]],
    ['a fullnode whose answers are damaged', [BROKEN]],
    [
      'two faulty fullnodes, one of which lags',
      [
        { ...SOME, ...BROKEN },
        { ...BROKEN, lag: 150 },
      ],
    ],
    ['a fullnode that has pruned the beginning, and one that fails', [{ oldest: 200 }, SOME]],
    ['a fullnode that gives short pages', [{ pageMax: 3 }]],
  ])('are the truth with %s', async (_, faults) => {
    const fullnodes: string[] = [];
    for (const each of faults) fullnodes.push((await stage.serve(ledger, each)).url);
    const options = {
      ...stage.options(stage.open(fullnodes), { endVersion: ledger.head }),
      batch: { versions: 40, rows: 60 },
    };
    await createAptosSync(options).run(NEVER);
    expect(await readTables(stage.database)).toEqual(truth);
  });

  it('are the truth when the work is interrupted again and again', async () => {
    const { url } = await stage.serve(ledger, SOME);
    for (
      let commits = 1;
      (await statusNow())?.checkpoint !== ledger.head || (await statusNow())?.gaps.length !== 0;
      commits++
    ) {
      const stop = new AbortController();
      let left = commits % 4;
      const options: AptosSyncOptions = {
        ...stage.options(stage.open([url]), { endVersion: ledger.head }),
        batch: { versions: 20, rows: 20 },
        onCommit: () => {
          if (--left < 0) stop.abort();
        },
      };
      await createAptosSync(options).run(stop.signal);
    }
    const names = ['coins', 'transfers', 'holders'];
    expect((await readAptosStatuses(stage.database, names))[0]?.gaps).toEqual([]);
    expect(await readTables(stage.database)).toEqual(truth);
  });

  it('are the truth when a command fills beside a running process', async () => {
    const { url } = await stage.serve(ledger);
    const work = {
      ...stage.options(stage.open([url]), { endVersion: ledger.head }),
      batch: { versions: 20, rows: 20 },
    };
    const related = { ...stage.options(stage.open([url]), {}), batch: { versions: 30, rows: 30 } };
    await Promise.all([
      createAptosSync(work).run(NEVER),
      backfillVersions({ ...related, chunkVersions: 50 }, [{ from: 0, to: ledger.head }], NEVER),
    ]);
    expect(await readTables(stage.database)).toEqual(truth);
  });

  it('hold coins, transfers, balances and their history', () => {
    for (const rows of Object.values(truth)) expect(rows.length).toBeGreaterThan(0);
  });
});
