import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Client,
  clientOf,
  type ExampleServices,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
  SECOND_KEY,
} from './testing/example-stream-api.ts';
import { type ExampleStreams, exampleStreams } from './testing/example-streams.ts';

const [ALICE, BOB] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`);

const scratch = scratchOfFile();
let services: ExampleServices;
let ask: Client;
let other: Client;
let streams: ExampleStreams;

beforeAll(async () => {
  services = exampleServices();
  const app = await exampleStreamApi(scratch.database, services);
  ask = clientOf(app);
  other = clientOf(app, SECOND_KEY);
  streams = exampleStreams(ask, scratch.database);
});

const audit = () => listAudit(scratch.database, null, 50);

describe('a change of a stream by the API is in the audit log', () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await streams.create({ tag: 'shop', webhookUrl: 'https://example.com/?key=secret' }));
    await ask('POST', `/streams/evm/${id}/address`, { address: [ALICE] });
    await scratch.database.query(sql`DELETE FROM audit_log`);
  });

  test.each<[string, string, (id: string) => string, object | undefined, object]>([
    ['update', 'POST', (one) => `/streams/evm/${one}`, { tag: 'b' }, { changed: ['tag'] }],
    ['pause', 'POST', (one) => `/streams/evm/${one}/status`, { status: 'paused' }, { before: 'active' }],
    ['addresses', 'POST', (one) => `/streams/evm/${one}/address`, { address: [ALICE, BOB] }, { added: 1 }],
    ['addresses', 'PATCH', (one) => `/streams/evm/${one}/address`, { address: [ALICE, BOB] }, { replaced_by: 2 }],
    ['addresses', 'DELETE', (one) => `/streams/evm/${one}/address`, { address: ALICE }, { removed: 1 }],
    ['delete', 'DELETE', (one) => `/streams/evm/${one}`, undefined, { tag: 'shop', addresses: 1 }],
  ])('stream.%s by %s, with the key that asked', async (verb, method, pathOf, body, details) => {
    expect((await other(method, pathOf(id), body)).status).toBe(200);
    expect(await audit()).toEqual([
      expect.objectContaining({
        door: 'api',
        id: 'config:2',
        action: `stream.${verb}`,
        target: id,
        details,
        requestId: expect.stringMatching(/./),
      }),
    ]);
    expect(JSON.stringify(await audit())).not.toContain('secret');
  });

  test('a new one and its duplicate, but not the same one once more', async () => {
    const body = { ...MINIMAL, description: 'once', webhookUrl: 'https://example.com/?key=secret' };
    const made = (await ask('PUT', '/streams/evm', body)).body.id;
    await ask('PUT', '/streams/evm', body);
    const copied = (await ask('POST', `/streams/evm/${id}/duplicate`)).body.id;
    expect((await audit()).map(({ action, target, details }) => ({ action, target, details }))).toEqual([
      { action: 'stream.duplicate', target: copied, details: { of: id, addresses: 1 } },
      { action: 'stream.create', target: made, details: { tag: '', chains: [1], addresses: 0 } },
    ]);
    expect(JSON.stringify(await audit())).not.toContain('secret');
  });

  test('the settings of all streams, without their secret', async () => {
    await ask('POST', '/settings', { secretKey: 'a new secret' });
    await ask('POST', '/settings', {});
    const records = await audit();
    expect(records).toMatchObject([
      { action: 'stream.settings', target: 'settings', id: 'config:1', details: { changed: ['secretKey'] } },
    ]);
    expect(JSON.stringify(records)).not.toContain('a new secret');
  });

  test('nothing of what changes nothing, or is refused', async () => {
    await ask('POST', `/streams/evm/${id}`, { tag: 'shop' });
    await ask('POST', `/streams/evm/${id}/status`, { status: 'active' });
    await ask('POST', `/streams/evm/${id}/address`, { address: ALICE });
    await ask('DELETE', `/streams/evm/${id}/address`, { address: BOB });
    await ask('GET', `/streams/evm/${id}`);
    services.answer = { ok: false, reason: 'unreachable' };
    expect((await ask('POST', `/streams/evm/${id}/duplicate`)).status).toBe(400);
    expect((await ask('POST', `/streams/evm/${id}`, { tag: 'other' })).status).toBe(400);
    services.answer = { ok: true };
    expect((await ask('DELETE', '/streams/evm/00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect(await audit()).toEqual([]);
  });
});
