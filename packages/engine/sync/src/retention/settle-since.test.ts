import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { firstStoredSince, readRetainedFrom } from '../coverage/retained-from.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { settleRetainedSince } from './enforce-retention.ts';

const never = new AbortController().signal;
const scratch = scratchOfFile();
let nextChainId = 985_001;

it('tells the first block of a time by a call for each halving, and by none once that is known', async () => {
  const stage = await openScriptedStage(scratch.database, nextChainId++, [], { blocks: 500, firstFollowed: 501 });
  onTestFinished(() => stage.close());
  const { chain, database } = stage;
  const calls = (): number => stage.callsOf('eth_getBlockByNumber');
  for (const block of [217, 218, 30]) {
    const retention = {
      blocks: null,
      since: new Date(Number(stage.scripted.blockAt(block)?.header.timestamp) * 1_000),
    };
    const before = calls();
    await settleRetainedSince({ ...stage, retention }, never);
    expect(await readRetainedFrom(database, { chain, retention })).toBe(block);
    const requested = calls() - before;
    expect(requested).toBeGreaterThan(0);
    expect(requested).toBeLessThan(12);
    await settleRetainedSince({ ...stage, retention }, never);
    expect(calls() - before).toBe(requested);
  }
  const stored = await database.query<{ block: number; hash: string }>(
    sql`SELECT block_number AS block, '0x' || encode(block_hash, 'hex') AS hash FROM blocks WHERE chain_id = ${chain.id}`,
  );
  for (const { block, hash } of stored) expect(hash).toBe(stage.scripted.blockAt(block)?.header.hash);
});

it('never keeps less than can be reorganised, nor less than everything where all blocks are younger', async () => {
  const stage = await openScriptedStage(scratch.database, nextChainId++, [], { blocks: 300, firstFollowed: 301 });
  onTestFinished(() => stage.close());
  const { chain, database } = stage;
  const old = { blocks: null, since: new Date('2015-01-01') };
  await settleRetainedSince({ ...stage, retention: old }, never);
  expect(await readRetainedFrom(database, { chain, retention: old })).toBe(0);
  const recent = { blocks: null, since: new Date() };
  await settleRetainedSince({ ...stage, retention: recent }, never);
  expect(await readRetainedFrom(database, { chain, retention: recent })).toBeLessThanOrEqual(
    301 - chain.reorgDepthMax,
  );
});

it('is not above the first block of the time, whichever headers are stored', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.boolean()), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: -5, max: 600 }),
      async (steps, seconds) => {
        const chainId = nextChainId++;
        let time = 0;
        const blocks = steps.map(([step, isStored], number) => {
          time += step;
          return { number, time, isStored };
        });
        const stored = blocks.filter(({ isStored }) => isStored);
        await scratch.database.query(
          sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
           SELECT ${chainId}, number, '\\x00', to_timestamp(time) FROM unnest(${stored.map(({ number }) => number)}::bigint[], ${stored.map((block) => block.time)}::bigint[]) AS stored(number, time)`,
        );
        const chain = { id: chainId } as Parameters<typeof readRetainedFrom>[1]['chain'];
        const found = await firstStoredSince(scratch.database, chain.id, new Date(seconds * 1_000));
        const earlier = stored.filter((block) => block.time < seconds).at(-1);
        expect(found).toBe(earlier === undefined ? 0 : earlier.number + 1);
        expect(found).toBeLessThanOrEqual(blocks.find((block) => block.time >= seconds)?.number ?? blocks.length);
      },
    ),
    { numRuns: 40 },
  );
});
