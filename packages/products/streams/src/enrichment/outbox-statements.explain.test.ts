import { randomUUID } from 'node:crypto';
import { type Database, sql, statementOf } from '@chainstead/db';
import {
  createScratchDatabase,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  rowsRead,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordArrivals } from '../delivery/arrivals.ts';
import { areStillDue, type Delivery, readDueDeliveries } from '../delivery/outbox.ts';
import { addMatches, addStream, numberedHash } from '../delivery/testing/delivery-stage.ts';
import { storeBodies } from './match-rows.ts';

const OUTBOX = 4_000;
const BATCH = 100;

let scratch: ScratchDatabase;
let streamId: string;

beforeAll(async () => {
  scratch = await createScratchDatabase({ autovacuum: false });
  const { database } = scratch;
  streamId = await addStream(database, { webhookUrl: 'http://receiver.example/' });
  await addMatches(database, streamId, { blocks: Array.from({ length: 10 }, (_, number) => number) });
  await database.query(sql`ANALYZE`);
  await addMatches(database, streamId, { blocks: Array.from({ length: OUTBOX }, (_, number) => 10 + number) });
});
afterAll(() => scratch.drop());

/** Returns the plans of a function's statements, which run but return no rows. */
async function explained(
  plan: PlanKind,
  ask: (database: Database) => Promise<unknown>,
): Promise<readonly PlanNode[][]> {
  const plans: PlanNode[][] = [];
  const database: Database = {
    ...scratch.database,
    async query(statement) {
      const { text, values } = statementOf(statement);
      const { nodes } = await explain(scratch.database, { text, values }, plan);
      plans.push([...nodes]);
      return [];
    },
  };
  await ask(database);
  return plans;
}

async function waiting(): Promise<Delivery[]> {
  const due = await readDueDeliveries(scratch.database, { streamIds: [streamId], limit: BATCH, without: [] });
  return due.map(({ delivery }) => delivery);
}

describe.each(PLANS)('on a $plan plan, $statistics, a batch', ({ plan, prepare }) => {
  let deliveries: readonly Delivery[];
  beforeAll(async () => {
    await prepare(scratch.database);
    deliveries = await waiting();
  });

  test('of bodies looks up the webhooks they are for, and reads no more of the outbox', async () => {
    const made = deliveries.map((delivery) => {
      return { delivery, body: '{}', transactions: new Set([numberedHash(delivery.blockNumber)]) };
    });
    // Each match is then stored again individually, because the batch returned nothing.
    const [batch = []] = await explained(plan, (database) => storeBodies(database, made));
    expect(rowsRead(batch, 'stream_deliveries')).toBe(BATCH);
    expect(rowsRead(batch, 'stream_matches')).toBeLessThanOrEqual(3 * BATCH);
  });

  test('of webhooks that may still be due is looked up', async () => {
    const [nodes = []] = await explained(plan, (database) => areStillDue(database, deliveries));
    expect(rowsRead(nodes, 'stream_deliveries')).toBe(BATCH);
  });

  test('of arrivals looks up what has arrived, and reads no more of the outbox', async () => {
    const outcome = { success: true, httpStatus: 200, errorMessage: null, durationMs: 5 };
    const attempts = deliveries.map((delivery) => {
      return { id: randomUUID(), delivery, body: null, outcome, finishedAt: new Date() };
    });
    const [nodes = []] = await explained(plan, (database) => recordArrivals(database, attempts));
    // Locked, found, and written.
    expect(rowsRead(nodes, 'stream_deliveries')).toBe(3 * BATCH);
  });
});
