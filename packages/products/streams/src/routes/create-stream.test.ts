import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Client,
  clientOf,
  type ExampleServices,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
  TRANSFER_EVENT,
  TRANSFER_HASH,
  TRANSFER_SIGNATURE,
} from './testing/example-stream-api.ts';
import { type ExampleStreams, exampleStreams } from './testing/example-streams.ts';

const BALANCE_OF = {
  name: 'balanceOf',
  type: 'function',
  stateMutability: 'view',
  outputs: [{ type: 'uint256', name: '' }],
  inputs: [{ type: 'address', name: 'owner' }],
};

const scratch = scratchOfFile();
let services: ExampleServices;
let ask: Client;
let streams: ExampleStreams;

beforeEach(async () => {
  services = exampleServices();
  ask = clientOf(await exampleStreamApi(scratch.database, services));
  streams = exampleStreams(ask, scratch.database);
});

describe('create', () => {
  test('answers the whole stream, active, after its test webhook', async () => {
    const stream = await streams.create({ description: 'The least' });
    expect(stream).toEqual({
      webhookUrl: MINIMAL.webhookUrl,
      description: 'The least',
      tag: '',
      topic0: null,
      allAddresses: false,
      includeNativeTxs: true,
      includeContractLogs: false,
      includeInternalTxs: false,
      includeAllTxLogs: false,
      getNativeBalances: [],
      abi: null,
      advancedOptions: null,
      chainIds: ['0x1'],
      filterPossibleSpamAddresses: false,
      demo: false,
      sendRemoved: false,
      contracts: null,
      triggers: null,
      id: stream.id,
      status: 'active',
      statusMessage: 'Stream is active',
      createdAt: stream.updatedAt,
      updatedAt: stream.updatedAt,
      amountOfAddresses: 0,
    });
    expect(stream.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Date(stream.updatedAt).toISOString()).toBe(stream.updatedAt);
    expect(services.tested).toEqual([MINIMAL.webhookUrl]);
    expect(await streams.get(stream.id)).toEqual(stream);
  });

  test('keeps everything as it was given, the order of keys too', async () => {
    const given = {
      tag: 'tägs ✓',
      chainIds: ['0xAA36A7', '0x2105', '0x1', '0x01'],
      topic0: [TRANSFER_SIGNATURE, TRANSFER_HASH],
      allAddresses: true,
      includeContractLogs: true,
      includeInternalTxs: true,
      includeAllTxLogs: true,
      filterPossibleSpamAddresses: true,
      demo: true,
      sendRemoved: true,
      abi: [TRANSFER_EVENT, BALANCE_OF],
      advancedOptions: [
        {
          includeNativeTxs: true,
          filter: { and: [{ gt: ['value', '1'] }, { eq: ['from', `0x${'1'.repeat(40)}`] }] },
          topic0: TRANSFER_HASH,
        },
      ],
      getNativeBalances: [{ type: 'tx', selectors: ['$fromAddress', '$toAddress'] }],
      triggers: [
        {
          inputs: ['$from'],
          functionAbi: BALANCE_OF,
          contractAddress: '$contract',
          type: 'erc20transfer',
          callFrom: `0x${'2'.repeat(40)}`,
        },
      ],
    };
    const stream = await streams.create(given);
    expect(stream).toMatchObject({ ...given, chainIds: ['0xaa36a7', '0x2105', '0x1'] });
    for (const member of ['abi', 'advancedOptions', 'triggers'] as const)
      expect(JSON.stringify(stream[member])).toBe(JSON.stringify(given[member]));
  });

  test('takes a single object where a list belongs, and answers a list', async () => {
    const advancedOptions = { topic0: TRANSFER_SIGNATURE, filter: {} };
    const triggers = {
      type: 'tx',
      contractAddress: '$toAddress',
      functionAbi: BALANCE_OF,
      inputs: ['$fromAddress'],
    };
    const getNativeBalances = { type: 'internalTx', selectors: ['$from'] };
    const stream = await streams.create({ abi: TRANSFER_EVENT, advancedOptions, triggers, getNativeBalances });
    expect(stream).toMatchObject({
      abi: [TRANSFER_EVENT],
      advancedOptions: [advancedOptions],
      triggers: [triggers],
      getNativeBalances: [getNativeBalances],
    });
  });

  test('takes empty lists and null where nothing is set', async () => {
    expect(
      await streams.create({ topic0: [], abi: [], advancedOptions: [], triggers: [], getNativeBalances: [] }),
    ).toMatchObject({
      topic0: [],
      abi: [],
      advancedOptions: [],
      triggers: [],
      getNativeBalances: [],
    });
    expect(
      await streams.create({
        topic0: null,
        abi: null,
        advancedOptions: null,
        triggers: null,
        getNativeBalances: null,
      }),
    ).toMatchObject({
      topic0: null,
      abi: null,
      advancedOptions: null,
      triggers: null,
      getNativeBalances: [],
    });
  });

  test('is enough with the transaction of one event', async () => {
    const advancedOptions = [{ topic0: TRANSFER_SIGNATURE, includeNativeTxs: true }];
    expect(await streams.create({ includeNativeTxs: false, advancedOptions })).toMatchObject({ advancedOptions });
  });

  test('of the same configuration answers the stream that there is, with its addresses', async () => {
    const config = { description: 'Twice', tag: 'same', chainIds: ['0x1', '0x2105'], abi: [TRANSFER_EVENT] };
    const first = await streams.create(config);
    await ask('POST', `/streams/evm/${first.id}/address`, { address: `0x${'1'.repeat(40)}` });
    const second = await streams.create({ ...config, chainIds: ['0x2105', '0x1'] });
    expect(second).toMatchObject({ id: first.id, amountOfAddresses: 1 });
    expect((await streams.create({ ...config, tag: 'other' })).id).not.toBe(first.id);
    await ask('DELETE', `/streams/evm/${first.id}`, {});
    expect((await streams.create(config)).id).not.toBe(first.id);
  });

  test('does not bring a terminated stream back', async () => {
    const first = await streams.create({ description: 'Terminated once' });
    await streams.setStatus(first.id, 'terminated');
    const second = await streams.create({ description: 'Terminated once' });
    expect(second.id).not.toBe(first.id);
    expect(second.status).toBe('active');
  });

  test('twice at the same time makes one stream', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => streams.create({ description: 'At once' })));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });
});

describe('the test webhook', () => {
  test.each<[name: string, method: string, path: (id: string) => string, body: object]>([
    ['create', 'PUT', () => '/streams/evm', { ...MINIMAL, description: 'Never made' }],
    ['update', 'POST', (id) => `/streams/evm/${id}`, { tag: 'never' }],
    ['duplicate', 'POST', (id) => `/streams/evm/${id}/duplicate`, {}],
    ['resume', 'POST', (id) => `/streams/evm/${id}/status`, { status: 'active' }],
  ])('has to be answered for %s', async (_name, method, path, body) => {
    const stream = await streams.create();
    await streams.setStatus(stream.id, 'paused');
    const before = await ask('GET', '/streams/evm?limit=100');
    services.answer = { ok: false, reason: 'unreachable' };
    const refused = await ask(method, path(stream.id), body);
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      message: `Could not POST to ${MINIMAL.webhookUrl}. Please check your webhook URL.`,
    });
    services.answer = { ok: false, reason: 'not-allowed', range: 'loopback' };
    const { message } = (await ask<{ message: string }>(method, path(stream.id), body)).body;
    expect(message).toContain(`Could not POST to ${MINIMAL.webhookUrl}.`);
    expect(message).toContain('loopback');
    expect(message).toContain('WEBHOOK_ALLOW_PRIVATE');
    services.answer = { ok: false, reason: 'too-many' };
    const limited = await ask(method, path(stream.id), body);
    expect(limited.status).toBe(429);
    expect(limited.body).toEqual({ message: 'Too many webhook validation requests. Please slow down.' });
    expect(await ask('GET', '/streams/evm?limit=100')).toMatchObject({ body: before.body });
  });

  test('of an update goes to the new URL', async () => {
    const stream = await streams.create();
    const webhookUrl = 'http://example.org/new';
    await ask('POST', `/streams/evm/${stream.id}`, { webhookUrl });
    expect(services.tested).toEqual([MINIMAL.webhookUrl, webhookUrl]);
  });

  test('that was answered lets a URL begin anew', async () => {
    const webhookUrl = 'https://example.com/bad-history';
    await scratch.database.query(
      sql`INSERT INTO webhook_health (webhook_url, success_rate) VALUES (${webhookUrl}, 12)`,
    );
    await streams.create({ webhookUrl });
    const [health] = await scratch.database.query(
      sql`SELECT success_rate FROM webhook_health WHERE webhook_url = ${webhookUrl}`,
    );
    expect(health).toEqual({ successRate: 100 });
  });
});
