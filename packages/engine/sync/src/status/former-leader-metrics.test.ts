import { type Leadership, sql, tryAcquireLeadership } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';

const CHAIN_ID = 915_001;
/** Metrics that only a chain's leader reports. */
const LED = [
  'head_block',
  'checkpoint_block',
  'covered_blocks',
  'gap_blocks',
  'kept_from_block',
  'projection_built_ratio',
];
const WAIT = { timeout: 20_000, interval: 20 };

const scratch = scratchOfFile();
let stage: ScriptedStage;
beforeAll(async () => {
  await createMarkTables(scratch.database);
  stage = await openScriptedStage(scratch.database, CHAIN_ID, [marks as Dataset], {
    blocks: 30,
    firstFollowed: 31,
    speed: 20,
  });
});
afterAll(async () => {
  await stage.close();
});

/** Ends the leader's session and takes the lead before it retries. */
async function takeOver(): Promise<Leadership> {
  const name = `ingest:${CHAIN_ID}`;
  return vi.waitFor(async () => {
    await scratch.database.query(sql`SELECT pg_terminate_backend(backend_pid) FROM leases WHERE name = ${name}`);
    const { leadership } = await tryAcquireLeadership(scratch.database, name);
    if (leadership === null) throw new Error('Another one was faster');
    return leadership;
  }, WAIT);
}

test('a process that has lost the lead reports no metrics of a leader until it leads again', async () => {
  stage.sync([marks as Dataset]);
  const reported = async (): Promise<readonly string[]> => {
    const names = (await stage.metricsText()).matchAll(/^chainstead_sync_(\w+)\{[^}]*chain="stage-915001"/gm);
    return [...new Set([...names].map(([, name = '']) => name))];
  };
  const flags = async (): Promise<readonly string[]> =>
    [...(await stage.metricsText()).matchAll(/^chainstead_sync_((?:leader|standby|stalled)\{.*)$/gm)].map(
      ([, line = '']) => line,
    );
  const of = (leader: number, standby: number) => [
    'stalled{chain="stage-915001"} 0',
    `leader{chain="stage-915001"} ${leader}`,
    `standby{chain="stage-915001"} ${standby}`,
  ];
  await vi.waitFor(async () => expect(await reported()).toEqual(expect.arrayContaining(LED)), WAIT);
  const other = await takeOver();
  await vi.waitFor(async () => expect(await flags()).toEqual(of(0, 1)), WAIT);
  await vi.waitFor(async () => expect((await reported()).filter((name) => LED.includes(name))).toEqual([]), WAIT);
  await other.release();
  stage.scripted.mine(2);
  await vi.waitFor(async () => expect(await reported()).toEqual(expect.arrayContaining(LED)), WAIT);
  await vi.waitFor(async () => expect(await flags()).toEqual(of(1, 0)), WAIT);
});
