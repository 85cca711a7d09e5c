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
  JOB_ID,
  MINIMAL,
  SECOND_KEY,
  TRANSFER_EVENT,
  TRANSFER_SIGNATURE,
} from './testing/example-stream-api.ts';

const ADDRESS = '0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

const scratch = scratchOfFile();
let services: ExampleServices;
let ask: Client;
let id: string;

beforeEach(async () => {
  services = exampleServices();
  ask = clientOf(await exampleStreamApi(scratch.database, services));
  const { body } = await ask<AnsweredStream>('PUT', '/streams/evm', { ...MINIMAL, chainIds: ['0x1', '0x2105'] });
  ({ id } = body);
});

describe('a block preview', () => {
  test('is asked for with the whole configuration, and answers what it gives', async () => {
    services.preview = { confirmed: true, chainId: '0x2105', logs: [] };
    const { status, body } = await ask('POST', '/streams/evm/0x2105/block/77', {
      tag: 'try',
      topic0: [TRANSFER_SIGNATURE],
      abi: TRANSFER_EVENT,
      includeContractLogs: true,
      addresses: [ADDRESS, ADDRESS.toLowerCase()],
    });
    expect(status).toBe(200);
    expect(body).toEqual(services.preview);
    expect(services.requested).toMatchObject([
      {
        service: 'preview',
        request: {
          chain: { key: 'base' },
          blockNumber: 77,
          addresses: [ADDRESS.toLowerCase()],
          config: {
            tag: 'try',
            chainIds: [8453],
            topic0: [TRANSFER_SIGNATURE],
            abi: [TRANSFER_EVENT],
            includeContractLogs: true,
            includeNativeTxs: false,
            triggers: null,
          },
        },
      },
    ]);
    expect(services.tested).toHaveLength(1);
  });

  test('is refused with 429 while four others of the key are running, unlike those of another key', async () => {
    const release = Promise.withResolvers<void>();
    const app = await exampleStreamApi(scratch.database, {
      ...services,
      async previewBlock(request) {
        await release.promise;
        return services.previewBlock(request);
      },
    });
    const preview = (client: Client) => client('POST', '/streams/evm/0x1/block/1', { includeNativeTxs: true });
    const [own, other] = [clientOf(app), clientOf(app, SECOND_KEY)];
    const running = [preview(own), preview(own), preview(own), preview(own), preview(other)];
    await expect.poll(async () => (await preview(own)).status).toBe(429);
    release.resolve();
    const answers = await Promise.all(running);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect((await preview(own)).status).toBe(200);
  });

  test('answers null where nothing matches', async () => {
    const { status, body } = await ask('POST', '/streams/evm/0x1/block/0', { includeNativeTxs: true });
    expect({ status, body }).toEqual({ status: 200, body: null });
  });

  test('refuses bad addresses, and a chain without internal transactions', async () => {
    expect(
      (await ask('POST', '/streams/evm/0x1/block/1', { includeNativeTxs: true, addresses: ['x'] })).body,
    ).toEqual({
      message: 'Invalid address provided',
      details: {
        'requestBody.addresses.$0': { message: 'must be a hexadecimal address (0x and 40 digits)', value: 'x' },
      },
    });
    expect((await ask('POST', '/streams/evm/0x64/block/1', { includeInternalTxs: true })).body).toMatchObject({
      details: {
        'requestBody.includeInternalTxs': { message: 'internal transactions are not available on gnosis' },
      },
    });
    expect(services.requested).toEqual([]);
  });
});

describe('block to webhook', () => {
  test('has a stored stream send a block', async () => {
    const { status, body } = await ask('POST', `/streams/evm/0x2105/block-to-webhook/100/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: null });
    expect(services.requested).toMatchObject([
      {
        service: 'send',
        request: { chain: { key: 'base' }, blockNumber: 100, stream: { id, chainIds: [1, 8453] } },
      },
    ]);
  });

  test('is refused on a chain that the stream is not on, and beyond the head', async () => {
    expect(await ask('POST', `/streams/evm/0xaa36a7/block-to-webhook/1/${id}`)).toMatchObject({
      status: 400,
      body: { message: 'The stream is not on chain sepolia' },
    });
    expect(await ask('POST', `/streams/evm/0x1/block-to-webhook/101/${id}`)).toMatchObject({
      status: 404,
      body: { message: 'Block not found' },
    });
  });
});

describe('historical jobs', () => {
  test.each(['/historicalJobs/createJob', '/historical-jobs/create-job'])('are made by %s', async (path) => {
    const { status, body } = await ask('POST', path, {
      chainId: '0x1',
      streamId: id,
      blockFrom: 10,
      blockTo: 19,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: JOB_ID,
      message: 'The stream is replayed over 10 blocks',
      totalJobs: 1,
      totalBlocks: 10,
      totalPartitions: 1,
    });
    expect(services.requested).toMatchObject([
      {
        service: 'job',
        request: {
          stream: { id },
          chain: { key: 'eth' },
          range: { fromBlock: 10, toBlock: 19 },
          addresses: null,
        },
      },
    ]);
  });

  test('take times and addresses', async () => {
    const given = { chainId: '0x2105', streamId: id, fromTimestamp: 1_700_000_000, toTimestamp: 1_700_000_500 };
    const { body } = await ask('POST', '/historicalJobs/createJob', { ...given, addresses: [ADDRESS] });
    expect(body).toMatchObject({ id: JOB_ID, totalBlocks: 7 });
    expect(services.requested).toMatchObject([
      {
        request: {
          range: { fromTimestamp: 1_700_000_000, toTimestamp: 1_700_000_500 },
          addresses: [ADDRESS.toLowerCase()],
        },
      },
    ]);
  });

  test('are refused for a range without blocks, and on a chain that the stream is not on', async () => {
    const range = { blockFrom: 500, blockTo: 600 };
    expect(
      (await ask('POST', '/historicalJobs/createJob', { chainId: '0x1', streamId: id, ...range })).body,
    ).toEqual({
      message: 'Validation Failed',
      details: { requestBody: { message: 'there is no block in this range' } },
    });
    expect(
      await ask('POST', '/historicalJobs/createJob', { chainId: '0x64', streamId: id, ...range }),
    ).toMatchObject({
      status: 400,
      body: { message: 'The stream is not on chain gnosis' },
    });
  });

  test('are listed, newest first, of all streams or one', async () => {
    const other = '22222222-2222-4222-8222-222222222222';
    const jobs = [
      ['11111111-0000-4000-8000-000000000001', id, 14, 'running', new Date('2026-01-01')],
      ['11111111-0000-4000-8000-000000000002', id, 20, 'done', new Date('2026-01-02')],
      ['11111111-0000-4000-8000-000000000003', other, 10, 'pending', new Date('2026-01-03')],
    ] as const;
    for (const [job, stream, next, status, createdAt] of jobs)
      await scratch.database.query(
        sql`INSERT INTO historical_jobs (id, stream_id, chain_id, from_block, to_block, next_block, status, matches, created_at)
         VALUES (${job}, ${stream}, 1, 10, 19, ${next}, ${status}, 2, ${createdAt}) ON CONFLICT DO NOTHING`,
      );
    const given = { fromTimestamp: 1_700_000_000, toTimestamp: 1_700_000_500, addresses: [ADDRESS] };
    await scratch.database.query(
      sql`UPDATE historical_jobs SET from_timestamp = ${given.fromTimestamp}, to_timestamp = ${given.toTimestamp}, addresses = ${given.addresses} WHERE id = ${jobs[2][0]}`,
    );
    const all = await ask<{ id: string }[]>('GET', '/historical-jobs');
    expect(all.body.map((job) => job.id)).toEqual(jobs.map(([job]) => job).reverse());
    expect(all.body[0]).toMatchObject({ ...given, fromBlock: 10, toBlock: 19 });
    for (const name of Object.keys(given)) expect(all.body[1]).not.toHaveProperty(name);
    const own = await ask('GET', `/historical-jobs?streamId=${id}`);
    expect(own.body).toMatchObject([
      {
        streamId: id,
        chainId: '0x1',
        status: 'done',
        jobs: 1,
        jobsCompleted: 1,
        totalBlocks: 10,
        blocksCompleted: 10,
      },
      { status: 'running', jobs: 1, jobsCompleted: 0, totalBlocks: 10, blocksCompleted: 4, matches: 2 },
    ]);
  });
});

test('the OpenAPI document has every route of streams, with its members', async () => {
  const app = await exampleStreamApi(scratch.database, services);
  const document = (await (await app.request('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { operationId?: string; requestBody?: unknown }>>;
    components: { schemas: Record<string, { properties?: object }> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations).toEqual(
    expect.arrayContaining([
      'GET /streams/evm',
      'PUT /streams/evm',
      'GET /streams/evm/{id}',
      'POST /streams/evm/{id}',
      'DELETE /streams/evm/{id}',
      'POST /streams/evm/{id}/duplicate',
      'POST /streams/evm/{id}/status',
      'GET /streams/evm/{id}/address',
      'POST /streams/evm/{id}/address',
      'PATCH /streams/evm/{id}/address',
      'DELETE /streams/evm/{id}/address',
      'POST /streams/evm/{chainId}/block/{blockNumber}',
      'POST /streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}',
      'GET /stats',
      'GET /stats/{streamId}',
      'GET /settings',
      'POST /settings',
      'GET /history',
      'POST /history/replay/{streamId}/{id}',
      'GET /history/logs',
      'POST /historicalJobs/createJob',
      'GET /historical-jobs',
    ]),
  );
  const create = JSON.stringify(document.paths['/streams/evm']?.put?.requestBody);
  for (const name of ['AbiItem', 'AdvancedOption', 'NativeBalanceSelector', 'StreamTrigger']) {
    expect(create).toContain(`#/components/schemas/${name}`);
    expect(document.components.schemas[name]?.properties).toBeDefined();
  }
  expect(create).toContain('"required":["webhookUrl","description","chainIds"]');
  expect(create).toContain('"additionalProperties":false');
});
