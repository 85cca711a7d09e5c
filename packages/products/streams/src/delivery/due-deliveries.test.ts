import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DueDelivery, readDueDeliveries } from './outbox.ts';
import { addMatches, addStream } from './testing/delivery-stage.ts';

let scratch: ScratchDatabase;
let streamId: string;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE streams, stream_matches, stream_deliveries`);
  streamId = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
});

const blockOf = ({ delivery }: DueDelivery): number => delivery.blockNumber;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('what is due', () => {
  test('comes longest due first, without what is in hand and what is due later', async () => {
    await addMatches(scratch.database, streamId, { blocks: numbers(30) });
    await scratch.database.query(
      sql`UPDATE stream_deliveries SET due_at = now() + make_interval(mins => (block_number - 20)::int)`,
    );
    const read = (limit: number, without: readonly string[]) =>
      readDueDeliveries(scratch.database, { streamIds: [streamId], limit, without });
    const first = await read(5, []);
    expect(first.map(blockOf)).toEqual([0, 1, 2, 3, 4]);
    const inHand = first.map(({ delivery }) => delivery.id);
    const next = await read(5, inHand);
    expect(next.map(blockOf)).toEqual([5, 6, 7, 8, 9]);
    const rest = await read(100, inHand);
    expect(rest.map(blockOf)).toEqual(numbers(21).slice(5));
  });

  test('is all that a host is to get, however unevenly its streams have it', async () => {
    const other = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
    await addMatches(scratch.database, streamId, { blocks: [1] });
    await addMatches(scratch.database, other, { blocks: numbers(40) });
    const streamIds = [streamId, other];
    const due = await readDueDeliveries(scratch.database, { streamIds, limit: 30, without: [] });
    expect(due).toHaveLength(30);
    expect(new Set(due.map(({ delivery }) => delivery.id)).size).toBe(30);
    expect(due.filter(({ delivery }) => delivery.streamId === streamId)).toHaveLength(1);
  });
});
