import { randomUUID } from 'node:crypto';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { addMatches, addStream } from '../delivery/testing/delivery-stage.ts';
import { listStreamOverviews, readStreamOverview, type StreamOverview } from './stream-overviews.ts';
import type { StreamPosition } from './stream-store.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`DELETE FROM streams`));

const URL = 'https://receiver.example/hook';
const list = (given: Partial<Parameters<typeof listStreamOverviews>[1]> = {}) =>
  listStreamOverviews(scratch.database, { status: null, text: null, after: null, limit: 10, ...given });
const tags = (streams: readonly StreamOverview[]) => streams.map(({ tag }) => tag);

async function addAttempt(
  streamId: string,
  success: boolean,
  agoSeconds: number,
  message = 'boom',
): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries, success,
       error_message, records, duration_ms, created_at)
     VALUES (${randomUUID()}, ${randomUUID()}, ${streamId}, 1, 1, false, '', '', 0, ${success}, ${success ? null : message}, 0, 1, now() - make_interval(secs => ${agoSeconds}))`,
  );
}

describe('the list of streams', () => {
  test('gives every stream once over its pages, also those made at the same moment', async () => {
    for (let index = 0; index < 7; index++)
      await addStream(scratch.database, { webhookUrl: URL, tag: `t${index}` });
    await scratch.database.query(
      sql`UPDATE streams SET created_at = '2026-01-01 00:00:00.123456+00' WHERE tag > 't2'`,
    );
    await scratch.database.query(sql`UPDATE streams SET deleted_at = now() WHERE tag = 't0'`);
    const seen: string[] = [];
    for (let after: StreamPosition | null = null, pages = 0; pages < 9; pages++) {
      const page = await list({ after, limit: 2 });
      seen.push(...tags(page.streams));
      after = page.next;
      if (after === null) break;
    }
    expect(seen.toSorted()).toEqual(['t1', 't2', 't3', 't4', 't5', 't6']);
    expect(seen.slice(0, 2)).toEqual(['t2', 't1']);
  });

  test('is narrowed by status and by text, whatever its case, without any wildcards', async () => {
    const paused = await addStream(scratch.database, { webhookUrl: URL, tag: '100%_Tag' });
    await addStream(scratch.database, { webhookUrl: 'https://other.example', tag: 'b', description: 'Treasury' });
    await scratch.database.query(sql`UPDATE streams SET status = 'paused' WHERE id = ${paused}`);
    expect(tags((await list({ status: 'paused' })).streams)).toEqual(['100%_Tag']);
    expect(tags((await list({ text: 'tREAS' })).streams)).toEqual(['b']);
    expect(tags((await list({ text: 'OTHER.example' })).streams)).toEqual(['b']);
    expect(tags((await list({ text: '0%_t' })).streams)).toEqual(['100%_Tag']);
    expect(tags((await list({ text: paused.toUpperCase() })).streams)).toEqual(['100%_Tag']);
    expect(tags((await list({ text: '%' })).streams)).toEqual(['100%_Tag']);
    expect(tags((await list({ status: 'error', text: 'b' })).streams)).toEqual([]);
  });

  test('tells what waits, what arrived, how well the URL answers, and the newest failure of late', async () => {
    const id = await addStream(scratch.database, { webhookUrl: URL, tag: 'busy' });
    await addMatches(scratch.database, id, { blocks: [1, 2, 3] });
    await scratch.database.query(
      sql`UPDATE stream_deliveries SET status = ${'delivered'} WHERE block_number = 1`,
    );
    await scratch.database.query(sql`INSERT INTO webhook_health (webhook_url, success_rate) VALUES (${URL}, 83)`);
    await scratch.database.query(
      sql`INSERT INTO stream_stats (stream_id, webhooks_delivered, webhooks_failed) VALUES (${id}, 4, 2)`,
    );
    await addAttempt(id, false, 50, 'older');
    await addAttempt(id, false, 40, 'newer');
    await addAttempt(id, true, 30);
    const overview = await readStreamOverview(scratch.database, id);
    expect(overview).toMatchObject({ waiting: 2, delivered: 4, failed: 2, successRate: 83, status: 'active' });
    expect(overview?.lastError?.message).toBe('newer');
    expect((await list()).streams).toEqual([overview]);
    expect(await readStreamOverview(scratch.database, randomUUID())).toBeNull();
  });
});
