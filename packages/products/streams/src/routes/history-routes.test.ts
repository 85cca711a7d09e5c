import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Client,
  clientOf,
  type ExampleServices,
  exampleServices,
  exampleStreamApi,
} from './testing/example-stream-api.ts';

const STREAM_A = 'aaaaaaaa-0000-4000-8000-000000000000';
const STREAM_B = 'bbbbbbbb-0000-4000-8000-000000000000';
const START = Date.parse('2026-01-01T00:00:00.000Z');
const BODY = {
  confirmed: false,
  chainId: '0x1',
  abi: [],
  streamId: STREAM_A,
  tag: 'a',
  retries: 2,
  block: { number: '5', hash: '0x05', timestamp: '1' },
  logs: [{ logIndex: '1' }],
  txs: [],
  txsInternal: [],
  erc20Transfers: [{ value: '1' }],
  erc20Approvals: [],
  nftTransfers: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTokenApprovals: [],
  nativeBalances: [],
};

interface Page {
  readonly result: readonly { readonly id: string; readonly payload?: object }[];
  readonly total: number;
  readonly cursor?: string;
}

const scratch = scratchOfFile();
let services: ExampleServices;
let ask: Client;

/** 20 attempts, a minute apart in pairs: even ones fail; the first half is stream A on chain 1, the rest B on 8453. */
beforeAll(async () => {
  services = exampleServices();
  ask = clientOf(await exampleStreamApi(scratch.database, services));
  for (let index = 0; index < 20; index++) {
    const success = index % 2 === 1;
    const first = index < 10;
    await scratch.database.query(
      sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries,
         success, http_status, error_message, body, records, duration_ms, created_at)
       VALUES (${idOf(index)}, gen_random_uuid(), ${first ? STREAM_A : STREAM_B}, ${first ? 1 : 8453}, ${index % 5}, ${!first}, 'https://example.com', 'a', ${index}, ${success}, ${success ? 200 : 500}, ${success ? null : 'Request failed with status code 500'}, ${success || index === 2 ? null : JSON.stringify(BODY)}, 3, 12, ${new Date(START + Math.floor(index / 2) * 60_000)})`,
    );
  }
  // The matches of attempts 0, 1 and 12. Attempt 5 belongs to another block with the same number.
  for (const [index, fork] of [
    [0, 1],
    [1, 1],
    [12, 1],
    [5, 2],
  ] as const) {
    const forked = Buffer.alloc(32, fork);
    await scratch.database.query(
      sql`WITH delivery AS (
         INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status)
         SELECT delivery_id, stream_id, chain_id, block_number, ${forked}, 'unconfirmed', 'delivered' FROM stream_attempts WHERE id = ${idOf(index)}
       )
       INSERT INTO stream_match_transactions (chain_id, block_number, stream_id, block_hash, transaction_hash)
       SELECT chain_id, block_number, stream_id, ${Buffer.alloc(32, 1)}, ${Buffer.alloc(32, 7)} FROM stream_attempts WHERE id = ${idOf(index)} ON CONFLICT DO NOTHING`,
    );
  }
});

const idOf = (index: number): string => `00000000-0000-4000-8000-${index.toString().padStart(12, '0')}`;
const indexOf = ({ id }: { readonly id: string }): number => Number(id.slice(-12));

async function indexes(path: string): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const { status, body } = await ask<Page>('GET', `${path}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    found.push(...body.result.map(indexOf));
    cursor = body.cursor;
    if (cursor === undefined) expect(body.total).toBe(found.length);
  } while (cursor !== undefined);
  return found;
}

const every = Array.from({ length: 20 }, (_, index) => 19 - index);

describe('/history/logs', () => {
  test.each([1, 3, 7, 20, 100])('has every attempt once, newest first, in pages of %i', async (limit) => {
    expect(await indexes(`/history/logs?limit=${limit}`)).toEqual(every);
  });

  test('tells of each attempt', async () => {
    const { body } = await ask<Page>('GET', '/history/logs?limit=2');
    expect(body.result).toEqual([
      {
        id: idOf(19),
        streamId: STREAM_B,
        chain: '0x2105',
        webhookUrl: 'https://example.com',
        tag: 'a',
        retries: 19,
        deliveryStatus: 'success',
        blockNumber: 4,
        errorMessage: '',
        type: 'evm',
        createdAt: '2026-01-01T00:09:00.000Z',
        updatedAt: '2026-01-01T00:09:00.000Z',
      },
      expect.objectContaining({ deliveryStatus: 'failed', errorMessage: 'Request failed with status code 500' }),
    ]);
  });

  const minute = (count: number): number => START / 1_000 + count * 60;
  test.each<[query: string, expected: number[]]>([
    ['deliveryStatus=failed', every.filter((index) => index % 2 === 0)],
    ['deliveryStatus[]=success', every.filter((index) => index % 2 === 1)],
    ['deliveryStatus[]=success&deliveryStatus[]=failed', every],
    [`streamId=${STREAM_A}`, every.slice(10)],
    [`streamId=${STREAM_B.toUpperCase()}`, every.slice(0, 10)],
    ['chainId[]=0x2105', every.slice(0, 10)],
    ['chainId=0x1,0x2105', every],
    ['chainId[]=0x89', []],
    ['blockNumber[]=1', [16, 11, 6, 1]],
    ['blockNumber[]=1&blockNumber[]=2', [17, 16, 12, 11, 7, 6, 2, 1]],
    [`transactionHash=0x${'07'.repeat(32)}`, [12, 1, 0]],
    [`transactionHash=0x${'07'.repeat(32)}&streamId=${STREAM_A}`, [1, 0]],
    [`transactionHash=0x${'08'.repeat(32)}`, []],
    [`fromTimestamp=${minute(8)}`, [19, 18, 17, 16]],
    [`toTimestamp=${minute(1)}`, [3, 2, 1, 0]],
    [`fromTimestamp=${minute(2) * 1_000}&toTimestamp=${minute(3) * 1_000}`, [7, 6, 5, 4]],
    [`streamId=${STREAM_A}&deliveryStatus=failed&blockNumber=2`, [2]],
  ])('filters by %s', async (query, expected) => {
    expect(await indexes(`/history/logs?limit=3&${query}`)).toEqual(expected);
  });

  test('keeps the filter in the cursor, and refuses another one with it', async () => {
    const { body } = await ask<Page>('GET', '/history/logs?limit=2&deliveryStatus=failed');
    const next = await ask<Page>('GET', `/history/logs?limit=2&cursor=${body.cursor}`);
    expect(next.body.result.map(indexOf)).toEqual([14, 12]);
    const refused = await ask<{ message: string; details: object }>(
      'GET',
      `/history/logs?limit=2&deliveryStatus=success&cursor=${body.cursor}`,
    );
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe('Validation Failed');
    expect(Object.keys(refused.body.details)).toEqual(['cursor']);
    expect((await ask('GET', `/history?limit=2&cursor=${body.cursor}`)).status).toBe(400);
  });
});

describe('/history', () => {
  test('has the failures, with what they carried', async () => {
    expect(await indexes('/history?limit=4')).toEqual(every.filter((index) => index % 2 === 0));
    const { body } = await ask<Page>('GET', `/history?limit=1&streamId=${STREAM_A}&blockNumber=3`);
    const {
      erc20Transfers,
      erc20Approvals,
      nftTransfers,
      nftApprovals,
      nftTokenApprovals,
      nativeBalances,
      ...payload
    } = BODY;
    expect(body.result).toEqual([
      {
        id: idOf(8),
        date: '2026-01-01T00:04:00.000Z',
        payload,
        tinyPayload: { chainId: '0x1', confirmed: false, block: '3', records: 3, retries: 8 },
        errorMessage: 'Request failed with status code 500',
        webhookUrl: 'https://example.com',
        streamId: STREAM_A,
        tag: 'a',
      },
    ]);
  });

  test('leaves the payload out where that is asked for, or where it is no longer kept', async () => {
    const { body } = await ask<Page>('GET', '/history?limit=100&excludePayload=true');
    expect(body.result.filter((item) => 'payload' in item)).toEqual([]);
    const { body: kept } = await ask<Page>('GET', '/history?limit=100');
    expect(kept.result.filter((item) => !('payload' in item)).map(indexOf)).toEqual([2]);
  });

  test('counts up to 10,000', async () => {
    await scratch.database.query(
      sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries,
         success, records, duration_ms, created_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'cccccccc-0000-4000-8000-000000000000', 10, n, true, '', '', 0, false, 0, 1, '2025-01-01'
       FROM generate_series(1, 10005) AS n`,
    );
    const { body } = await ask<Page>('GET', '/history?limit=1&chainId=0xa');
    expect(body.total).toBe(10_000);
    expect(body.cursor).toEqual(expect.any(String));
    await scratch.database.query(sql`DELETE FROM stream_attempts WHERE chain_id = 10`);
  });
});

describe('/history/replay', () => {
  test('has a failed attempt sent again, and answers it', async () => {
    const { status, body } = await ask('POST', `/history/replay/${STREAM_A}/${idOf(4)}`, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: idOf(4), streamId: STREAM_A, payload: { chainId: '0x1' } });
    expect(services.requested).toEqual([
      {
        service: 'replay',
        request: {
          streamId: STREAM_A,
          attemptId: idOf(4),
          by: expect.objectContaining({ door: 'api', id: 'config:1' }),
        },
      },
    ]);
  });

  test.each([
    ['a success', STREAM_A, idOf(3)],
    ['an attempt of another stream', STREAM_B, idOf(4)],
    ['nothing', STREAM_A, idOf(99)],
  ])('is 404 for %s', async (_title, streamId, id) => {
    const before = services.requested.length;
    expect(await ask('POST', `/history/replay/${streamId}/${id}`, {})).toMatchObject({
      status: 404,
      body: { message: 'History not found' },
    });
    expect(services.requested).toHaveLength(before);
  });

  test('is 404 when the body is gone', async () => {
    services.bodiesKept = false;
    expect((await ask('POST', `/history/replay/${STREAM_A}/${idOf(4)}`, {})).status).toBe(404);
    services.bodiesKept = true;
  });
});

describe('long bodies', () => {
  const MEGABYTE = 1_048_576;

  beforeAll(async () => {
    const body = (megabytes: number) =>
      sql`json_build_object('logs', repeat('x', ${megabytes * MEGABYTE}))::text`;
    await scratch.database.query(sql`UPDATE stream_attempts SET body = ${body(3)} WHERE NOT success`);
    await scratch.database.query(sql`UPDATE stream_attempts SET body = ${body(32)} WHERE id = ${idOf(4)}`);
  });

  test('end a page before its limit, and the cursor goes on', async () => {
    const found: string[] = [];
    const sizes: number[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await ask<Page>(
        'GET',
        `/history?limit=5&streamId=${STREAM_A}${cursor && `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      found.push(...body.result.map(({ id }) => id));
      sizes.push(JSON.stringify(body).length);
      if (body.cursor === undefined) break;
      cursor = body.cursor;
    }
    expect(found.map((id) => indexOf({ id }))).toEqual([8, 6, 4, 2, 0]);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8 * MEGABYTE);
  });

  test('above 4 MiB are left out, also after a replay', async () => {
    const { body } = await ask<Page>('GET', `/history?limit=100&blockNumber=4&streamId=${STREAM_A}`);
    expect(body.result.map(({ id, payload }) => [id, payload])).toEqual([[idOf(4), undefined]]);
    const { status, body: replayed } = await ask<Page['result'][number]>(
      'POST',
      `/history/replay/${STREAM_A}/${idOf(4)}`,
      {},
    );
    expect([status, replayed.payload]).toEqual([200, undefined]);
  });
});
