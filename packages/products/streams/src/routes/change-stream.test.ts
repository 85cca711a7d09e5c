import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AnsweredStream,
  type Client,
  clientOf,
  type ExampleServices,
  exampleServices,
  exampleStreamApi,
  TRANSFER_EVENT,
  TRANSFER_HASH,
  TRANSFER_SIGNATURE,
} from './testing/example-stream-api.ts';
import { type ExampleStreams, exampleStreams } from './testing/example-streams.ts';

const OTHER_ID = '11111111-2222-4333-8444-555555555555';

const scratch = scratchOfFile();
let services: ExampleServices;
let ask: Client;
let streams: ExampleStreams;

beforeEach(async () => {
  services = exampleServices();
  ask = clientOf(await exampleStreamApi(scratch.database, services));
  streams = exampleStreams(ask, scratch.database);
});

describe('update', () => {
  test('changes what is given and keeps the rest', async () => {
    const stream = await streams.create({
      tag: 'before',
      topic0: [TRANSFER_SIGNATURE],
      abi: [TRANSFER_EVENT],
      includeContractLogs: true,
    });
    const { body } = await ask<AnsweredStream>('POST', `/streams/evm/${stream.id}`, {
      tag: 'after',
      includeNativeTxs: false,
    });
    expect(body).toEqual({ ...stream, tag: 'after', includeNativeTxs: false, updatedAt: body.updatedAt });
    expect(Date.parse(body.updatedAt)).toBeGreaterThan(Date.parse(stream.updatedAt));
    expect(await streams.get(stream.id)).toEqual(body);
  });

  test('clears by null', async () => {
    const getNativeBalances = [{ type: 'tx', selectors: ['$toAddress'] }];
    const stream = await streams.create({
      topic0: [TRANSFER_HASH],
      abi: [TRANSFER_EVENT],
      getNativeBalances,
      triggers: [],
    });
    const cleared = { topic0: null, abi: null, advancedOptions: null, triggers: null };
    const { body } = await ask('POST', `/streams/evm/${stream.id}`, { ...cleared, getNativeBalances: null });
    expect(body).toMatchObject({ ...cleared, getNativeBalances: [] });
  });

  test('is checked with what the stream has already', async () => {
    const stream = await streams.create({ topic0: [TRANSFER_HASH], abi: [TRANSFER_EVENT] });
    const { status, body } = await ask('POST', `/streams/evm/${stream.id}`, { abi: null });
    expect(status).toBe(400);
    expect(body).toEqual({
      message: 'Validation Failed',
      details: { 'requestBody.topic0.$0': { message: 'has no event in the abi', value: TRANSFER_HASH } },
    });
  });

  test('with nothing changes nothing but the time', async () => {
    const stream = await streams.create();
    const { body } = await ask<AnsweredStream>('POST', `/streams/evm/${stream.id}`, {});
    expect(body).toEqual({ ...stream, updatedAt: body.updatedAt });
  });

  test('that would contradict one that came in between is refused', async () => {
    const stream = await streams.create({ includeContractLogs: true });
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow = {
      ...services,
      testWebhook: async () => {
        entered.resolve();
        await release.promise;
        return { ok: true as const };
      },
    };
    const requestSlowly = clientOf(await exampleStreamApi(scratch.database, slow));
    const waiting = requestSlowly('POST', `/streams/evm/${stream.id}`, { includeNativeTxs: false });
    await entered.promise;
    await ask('POST', `/streams/evm/${stream.id}`, { includeContractLogs: false });
    release.resolve();
    expect(await waiting).toMatchObject({ status: 400, body: { message: 'Validation Failed' } });
    expect(await streams.get(stream.id)).toMatchObject({ includeNativeTxs: true, includeContractLogs: false });
  });

  test.each(['paused', 'error', 'terminated'])('leaves a stream %s', async (status) => {
    const stream = await streams.create();
    await streams.setStatus(stream.id, status);
    expect((await ask('POST', `/streams/evm/${stream.id}`, { tag: 'x' })).body).toMatchObject({
      tag: 'x',
      status,
    });
  });
});

describe('status', () => {
  const change = (id: string, body: object) => ask<AnsweredStream>('POST', `/streams/evm/${id}/status`, body);

  test('is paused and resumed by the user', async () => {
    const stream = await streams.create();
    const paused = await change(stream.id, { status: 'paused' });
    expect(paused.body).toMatchObject({ status: 'paused', statusMessage: 'Stream was paused by the user' });
    expect(services.tested).toHaveLength(1);
    const resumed = await change(stream.id, { status: 'active' });
    expect(resumed.body).toMatchObject({ status: 'active', statusMessage: 'Stream is active' });
    expect(services.tested).toHaveLength(2);
  });

  test('stays without a test where it is so already', async () => {
    const stream = await streams.create();
    const { body } = await change(stream.id, { status: 'active' });
    expect(body).toEqual(stream);
    expect(services.tested).toHaveLength(1);
  });

  test('goes from error to active and to paused', async () => {
    const stream = await streams.create();
    for (const status of ['active', 'paused']) {
      await scratch.database.query(
        sql`UPDATE streams SET status = 'error', error_since = now() WHERE id = ${stream.id}`,
      );
      expect((await change(stream.id, { status })).body.status).toBe(status);
      const [row] = await scratch.database.query(sql`SELECT error_since FROM streams WHERE id = ${stream.id}`);
      expect(row).toEqual({ errorSince: null });
    }
  });

  test('of a terminated stream changes only where that is asked for', async () => {
    const stream = await streams.create();
    await streams.setStatus(stream.id, 'terminated');
    for (const body of [
      { status: 'active' },
      { status: 'paused' },
      { status: 'paused', resumeTerminated: true },
    ]) {
      const refused = await change(stream.id, body);
      expect(refused.status).toBe(400);
      expect(refused.body).toEqual({
        message:
          'Stream is terminated. Resume it with status active and resumeTerminated true, or create a new stream.',
      });
    }
    const resumed = await change(stream.id, { status: 'active', resumeTerminated: true });
    expect(resumed.body).toMatchObject({ status: 'active', statusMessage: 'Stream is active' });
  });
});

describe('duplicate', () => {
  test('has the configuration and the addresses, and is another stream', async () => {
    const stream = await streams.create({ tag: 'original' });
    const address = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
    await ask('POST', `/streams/evm/${stream.id}/address`, { address });
    await ask('POST', `/streams/evm/${stream.id}/status`, { status: 'paused' });
    const { body } = await ask<AnsweredStream>('POST', `/streams/evm/${stream.id}/duplicate`, {});
    expect(body).toEqual({
      ...stream,
      id: body.id,
      amountOfAddresses: 2,
      createdAt: body.createdAt,
      updatedAt: body.updatedAt,
    });
    expect(body.id).not.toBe(stream.id);
    const list = await ask('GET', `/streams/evm/${body.id}/address?limit=10`);
    expect(list.body).toEqual({ result: address.map((each) => ({ address: each })), total: 2 });
    expect((await streams.get(stream.id)).status).toBe('paused');
  });
});

describe('delete', () => {
  test('answers the stream as it was; nothing finds it any more', async () => {
    const stream = await streams.create();
    const { status, body } = await ask('DELETE', `/streams/evm/${stream.id}`, {});
    expect(status).toBe(200);
    expect(body).toEqual(stream);
    expect((await ask('GET', `/streams/evm/${stream.id}`)).body).toEqual({ message: 'Stream not found' });
    expect((await ask('DELETE', `/streams/evm/${stream.id}`, {})).status).toBe(404);
    const { body: list } = await ask<{ result: { id: string }[] }>('GET', '/streams/evm?limit=100');
    expect(list.result.map(({ id }) => id)).not.toContain(stream.id);
  });

  test('drops what waits, ends its jobs, forgets its addresses and keeps its statistics', async () => {
    const stream = await streams.create();
    await ask('POST', `/streams/evm/${stream.id}/address`, { address: `0x${'1'.repeat(40)}` });
    const { database } = scratch;
    for (const status of ['pending', 'delivered', 'failed'])
      await database.query(
        sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status)
         VALUES (gen_random_uuid(), ${stream.id}, 1, 1, '\\x01', 'confirmed', ${status})`,
      );
    await database.query(
      sql`INSERT INTO historical_jobs (id, stream_id, chain_id, from_block, to_block, next_block)
       VALUES (gen_random_uuid(), ${stream.id}, 1, 1, 9, 1)`,
    );
    await ask('DELETE', `/streams/evm/${stream.id}`, {});
    const deliveries = await database.query(
      sql`SELECT status FROM stream_deliveries WHERE stream_id = ${stream.id} ORDER BY status`,
    );
    expect(deliveries.map((row) => row.status)).toEqual(['delivered', 'dropped', 'failed']);
    expect(await database.query(sql`SELECT 1 FROM stream_addresses WHERE stream_id = ${stream.id}`)).toEqual([]);
    const { body: jobs } = await ask('GET', `/historical-jobs?streamId=${stream.id}`);
    expect(jobs).toMatchObject([{ status: 'failed', errorMessage: 'The stream was deleted' }]);
    expect((await ask('GET', `/stats/${stream.id}`)).status).toBe(200);
  });
});

describe('list', () => {
  test('pages through all streams, newest first, and through those of a status', async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.unshift((await streams.create()).id);
    const paused = made.filter((_, index) => index % 2 === 0);
    for (const id of paused) await streams.setStatus(id, 'paused');
    const read = async (query: string) => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const path = `/streams/evm?limit=3${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
        const { body } = await ask<{ result: AnsweredStream[]; total: number; cursor?: string }>('GET', path);
        expect(body.result.length).toBeLessThanOrEqual(3);
        ids.push(...body.result.map(({ id }) => id));
        cursor = body.cursor;
        if (cursor === undefined) expect(body.total).toBe(ids.length);
      } while (cursor !== undefined);
      return ids;
    };
    expect((await read('')).slice(0, 7)).toEqual(made);
    expect((await read('&status=paused')).slice(0, paused.length)).toEqual(paused);
  });

  test('refuses a cursor with another status', async () => {
    await streams.create();
    await streams.create();
    const { body } = await ask<{ cursor: string }>('GET', '/streams/evm?limit=1');
    const refused = await ask<{ details: object }>(
      'GET',
      `/streams/evm?limit=1&status=error&cursor=${body.cursor}`,
    );
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.details)).toEqual(['cursor']);
  });
});

test('an id may be written in upper case', async () => {
  const stream = await streams.create();
  expect((await ask('GET', `/streams/evm/${stream.id.toUpperCase()}`)).body).toMatchObject({ id: stream.id });
  expect((await ask('GET', `/streams/evm/${OTHER_ID.toUpperCase()}`)).status).toBe(404);
});
