/** A chunk of an on-demand backfill next to other processes that hold some of its blocks. */
import { mergeRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClaimOwner } from '../coverage/claims.ts';
import { listSubjectRanges, subjectKey } from '../coverage/subject.ts';
import { createMarkTables, markedAccount, marks } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { commitChunk } from './commit-chunk.ts';

const BLOCKS = 20;
const scratch = scratchOfFile();

beforeAll(() => createMarkTables(scratch.database));

it('writes the blocks that it gets at once, and those of others after they are released', async () => {
  const { database } = scratch;
  const stage = await openScriptedStage(database, 982_001, [marks], { blocks: BLOCKS });
  onTestFinished(() => stage.close());
  const other = await createClaimOwner(database);
  onTestFinished(() => other.close());
  const answer = await stage.pool.getLogs({ range: { from: 1, to: BLOCKS }, topics: marks.topics(stage.chain) });
  const logs = answer.logs.filter((log) => markedAccount(log) !== null);
  const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
  // The others hold every second block: each claim is of one block.
  const held = numbers.filter((number) => number % 2 === 0);
  const free = numbers.filter((number) => number % 2 === 1);
  expect(Math.min(held.length, free.length)).toBeGreaterThan(0);
  const headers = await stage.pool.getHeaders(numbers);
  const blocks = new Map(headers.map(({ value }) => [value.number, value]));
  const wanted = [...held, ...free.slice(1)].map((block) => ({ from: block, to: block }));
  const claimed = await other.claimEach(stage.chain.id, mergeRanges(wanted), 'history');
  const storedBlocks = async () => {
    const rows = await database.query<{ block: number }>(
      sql`SELECT DISTINCT block_number AS block FROM marks WHERE chain_id = ${stage.chain.id} ORDER BY 1`,
    );
    return rows.map(({ block }) => block);
  };
  const subject = { chainId: stage.chain.id, kind: 'wallet', address: addressOf(1) } as const;
  const coveredRanges = async () => (await listSubjectRanges(database, subject)).map(({ range }) => range);
  const storedBefore: unknown[] = [];
  const clock = {
    now: () => Date.now(),
    async sleep() {
      storedBefore.push([await storedBlocks(), await coveredRanges()]);
      await other.release(stage.chain.id, ...claimed);
    },
  };
  const chunk = {
    subject,
    dataset: marks,
    range: { from: 1, to: BLOCKS },
    read: { found: { logs }, blocks, calls: 1 },
  };
  await database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject) VALUES (${subjectKey(subject)})`,
  );
  expect(await commitChunk({ ...stage, clock }, chunk, new AbortController().signal)).toBe(logs.length);
  const [made] = await database.query(
    sql`SELECT calls_made, rows_added FROM backfill_requests WHERE chain_id = ${stage.chain.id}`,
  );
  expect(made).toEqual({ callsMade: 1, rowsAdded: logs.length });
  expect(storedBefore).toEqual([[free.slice(0, 1), []]]);
  expect(await coveredRanges()).toEqual([{ from: 1, to: BLOCKS }]);
  expect(await storedBlocks()).toEqual(numbers);
  expect(await stage.marksOf(1, BLOCKS)).toEqual({ stored: logs.length, expected: logs.length });
});
