import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readStreamSettings } from '../records/settings.ts';
import {
  type AnsweredStream,
  type Client,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
} from './testing/example-stream-api.ts';

let scratch: ScratchDatabase;
let ask: Client;

beforeEach(async () => {
  scratch = await createScratchDatabase();
  ask = clientOf(await exampleStreamApi(scratch.database, exampleServices()));
});
afterEach(() => scratch.drop());

interface Settings {
  readonly region: string;
  readonly secretKey: string;
}

describe('settings', () => {
  test('begin with a secret of 64 hexadecimal digits, the same for everyone who asks', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask<Settings>('GET', '/settings')));
    const [first] = answers;
    expect(first?.body).toEqual({ region: 'us-east-1', secretKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const { body } of answers) expect(body).toEqual(first?.body);
  });

  test('change one by one', async () => {
    const { body: before } = await ask<Settings>('GET', '/settings');
    const region = await ask('POST', '/settings', { region: 'eu-central-1' });
    expect(region.body).toEqual({ region: 'eu-central-1', secretKey: before.secretKey });
    const secretKey = 'a new secret: ü';
    expect((await ask('POST', '/settings', { secretKey })).body).toEqual({ region: 'eu-central-1', secretKey });
    expect((await ask('POST', '/settings', {})).body).toEqual({ region: 'eu-central-1', secretKey });
    expect((await ask('GET', '/settings')).body).toEqual({ region: 'eu-central-1', secretKey });
  });

  test('let a replaced secret sign for 24 hours more', async () => {
    const { database } = scratch;
    const { secretKey: first, previousSecretKey: none } = await readStreamSettings(database);
    expect(none).toBeNull();
    await ask('POST', '/settings', { secretKey: 'second secret' });
    expect(await readStreamSettings(database)).toMatchObject({
      secretKey: 'second secret',
      previousSecretKey: first,
    });
    // The same secret again is not a rotation.
    await ask('POST', '/settings', { secretKey: 'second secret' });
    expect(await readStreamSettings(database)).toMatchObject({ previousSecretKey: first });
    const [until] = await database.query(
      sql`SELECT previous_valid_until BETWEEN now() + '23 hours 59 minutes' AND now() + '24 hours' AS right FROM stream_settings`,
    );
    expect(until).toEqual({ right: true });
    await database.query(sql`UPDATE stream_settings SET previous_valid_until = now() - interval '1 second'`);
    expect(await readStreamSettings(database)).toMatchObject({ previousSecretKey: null });
  });

  test('need a key', async () => {
    const app = await exampleStreamApi(scratch.database, exampleServices());
    for (const path of ['/settings', '/stats', '/streams/evm?limit=1', '/history?limit=1', '/historical-jobs'])
      expect((await app.request(path)).status).toBe(401);
  });
});

describe('stats', () => {
  const NONE = {
    totalWebhooksDelivered: 0,
    totalWebhooksFailed: 0,
    totalLogsProcessed: 0,
    totalTxsProcessed: 0,
    totalTxsInternalProcessed: 0,
  };

  test('of nothing are zero', async () => {
    expect((await ask('GET', '/stats')).body).toEqual({ ...NONE, streams: [] });
  });

  test('are the sums of all streams, deleted ones too', async () => {
    const ids: string[] = [];
    for (const description of ['one', 'two', 'three'])
      ids.push((await ask<AnsweredStream>('PUT', '/streams/evm', { ...MINIMAL, description })).body.id);
    for (const [index, id] of ids.entries())
      await scratch.database.query(
        sql`UPDATE stream_stats SET webhooks_delivered = ${10 ** index}::bigint, webhooks_failed = ${10 ** index} * 10, logs_processed = ${10 ** index} * 100,
         txs_processed = ${10 ** index} * 1000, txs_internal_processed = ${10 ** index} * 10000 WHERE stream_id = ${id}`,
      );
    await ask('DELETE', `/streams/evm/${ids[0]}`, {});
    const counters = (n: number) => ({
      totalWebhooksDelivered: n,
      totalWebhooksFailed: n * 10,
      totalLogsProcessed: n * 100,
      totalTxsProcessed: n * 1_000,
      totalTxsInternalProcessed: n * 10_000,
    });
    const { body } = await ask('GET', '/stats');
    expect(body).toEqual({
      ...counters(111),
      streams: ids.map((streamId, index) => ({ ...counters(10 ** index), streamId })),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const one = await ask('GET', `/stats/${ids[1]}`);
    expect(one.body).toEqual({ ...counters(10), createdAt: expect.any(String), updatedAt: expect.any(String) });
  });
});
