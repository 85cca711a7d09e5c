import { sql } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { LAST_BACKFILLED, type MarkedChain, openMarkedChain } from '../testing/marked-chain.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { accountsOf, createSubjectMarkTables, subjectMarks } from '../testing/subject-marks.ts';
import { planUpgradeWork } from './upgrade-work.ts';

const scratch = scratchOfFile();
let marked: MarkedChain;

beforeAll(async () => {
  await createMarkTables(scratch.database);
  await createSubjectMarkTables(scratch.database);
  marked = await openMarkedChain(scratch.database, 940_007);
  await marked.take({ kind: 'backfill', range: { from: 1, to: LAST_BACKFILLED }, dropEvery: 0 });
});
afterAll(async () => {
  await marked.close();
});

const states = marks.projections ?? [];
const present = marks as Dataset;
const withVersion = (version: number): Dataset => ({
  ...present,
  projections: states.map((state) => ({ ...state, version })),
});
const plan = (...datasets: readonly Dataset[]) =>
  planUpgradeWork({ database: scratch.database, datasets, chains: [marked.chain] });

describe('the work of an upgrade on a database', () => {
  test('is nothing where it has all states in their versions', async () => {
    expect(await plan(present)).toEqual({ builds: [], fills: [] });
  });

  test('is to count the rows for states of another version, and for new ones', async () => {
    const { builds } = await plan(withVersion(2));
    expect(builds.map(({ state, version, builtVersion }) => [state, version, builtVersion])).toEqual(
      states.map(({ name }) => [name, 2, 1]),
    );
    for (const { chainId, dataset, rows, seconds } of builds) {
      expect([chainId, dataset]).toEqual([marked.chainId, 'marks']);
      expect(rows).toBeGreaterThan(0);
      expect(seconds).toBeCloseTo(rows / 33_000);
    }
    const added: Dataset = {
      ...present,
      projections: states.map((state) => ({ ...state, name: `new-${state.name}` })),
    };
    expect((await plan(added)).builds.map(({ state, builtVersion }) => [state, builtVersion])).toEqual(
      states.map(({ name }) => [`new-${name}`, null]),
    );
  });

  test('is to count the rows of subjects that were asked about, and none for a state that is new', async () => {
    const subjects: Dataset = { ...present, projections: [subjectMarks(2)] };
    expect((await plan(subjects)).builds).toEqual([]);
    await scratch.database.query(
      sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${marked.chainId}, 'subject-marks', 'marks', 1, 'built', 0)`,
    );
    const accounts = await accountsOf(scratch.database, marked.chainId);
    for (const account of accounts.slice(0, 2))
      await scratch.database.query(
        sql`INSERT INTO subject_projections (chain_id, state, subject, rows) VALUES (${marked.chainId}, 'subject-marks', decode(${account.slice(2)}, 'hex'), 21)`,
      );
    expect((await plan(subjects)).builds).toMatchObject([
      { state: 'subject-marks', version: 2, builtVersion: 1, rows: 42 },
    ]);
  });

  test('is to read the history of a dataset that the chain has nothing of', async () => {
    const { fills } = await plan(present, { ...present, name: 'other-marks', projections: [] });
    expect(fills).toEqual([
      { chainId: marked.chainId, chain: marked.chain.key, dataset: 'other-marks', blocks: LAST_BACKFILLED },
    ]);
  });

  test('is nothing to a database without tables', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const options = { database: empty.database, datasets: [present], chains: [marked.chain] };
      expect(await planUpgradeWork(options)).toEqual({ builds: [], fills: [] });
    } finally {
      await empty.drop();
    }
  });
});
