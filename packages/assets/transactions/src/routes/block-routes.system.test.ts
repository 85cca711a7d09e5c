import { sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { hashOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTransactionStage, type TransactionStage } from '../testing/transaction-stage.ts';

const opened = stageOfFile(openTransactionStage);
let client: TransactionStage['stage']['devnet']['client'];

/** Blocks are ten seconds apart from here on. */
const FROM = 4_000_000_000;
const STEP = 10;
const BLOCKS = 30;

beforeAll(async () => {
  ({ client } = opened.stage.devnet);
  const [from, to] = opened.stage.devnet.accounts;
  for (let number = 0; number < BLOCKS; number++) {
    await client.setNextBlockTimestamp({ timestamp: BigInt(FROM + number * STEP) });
    if (from === undefined || to === undefined || number % 3 !== 0) await client.mine({ blocks: 1 });
    else {
      const hash = await client.sendTransaction({ account: from, to, value: 1n, chain: null });
      // Only then may the next block's time be set.
      await client.waitForTransactionReceipt({ hash });
    }
  }
  await opened.stage.commit();
});
beforeEach(() => opened.reset());

describe('a block', () => {
  test('is what the node says of it, asked for by number, hexadecimal number, hash or tag', async () => {
    const block = await client.getBlock({ blockNumber: 4n, includeTransactions: true });
    const raw = (await client.request({
      method: 'eth_getBlockByNumber',
      params: ['0x4', true],
    })) as unknown as Record<string, string>;
    const digits = (value: unknown): string => String(BigInt(String(value)));
    const optional: Record<string, unknown> = {
      base_fee_per_gas: raw.baseFeePerGas && digits(raw.baseFeePerGas),
      mix_hash: raw.mixHash,
      withdrawals_root: raw.withdrawalsRoot,
      withdrawals: raw.withdrawals,
      blob_gas_used: raw.blobGasUsed && digits(raw.blobGasUsed),
      excess_blob_gas: raw.excessBlobGas && digits(raw.excessBlobGas),
      parent_beacon_block_root: raw.parentBeaconBlockRoot,
      requests_hash: raw.requestsHash,
    };
    const expected = {
      timestamp: new Date(Number(block.timestamp) * 1_000).toISOString(),
      number: '4',
      hash: block.hash,
      parent_hash: block.parentHash,
      nonce: raw.nonce,
      sha3_uncles: raw.sha3Uncles,
      logs_bloom: raw.logsBloom,
      transactions_root: raw.transactionsRoot,
      state_root: raw.stateRoot,
      receipts_root: raw.receiptsRoot,
      miner: raw.miner?.toLowerCase(),
      difficulty: digits(raw.difficulty),
      size: digits(raw.size),
      extra_data: raw.extraData,
      gas_limit: digits(raw.gasLimit),
      gas_used: digits(raw.gasUsed),
      transaction_count: '1',
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
      source: 'node',
      proof: 'receipts+transactions',
      confirmations: BLOCKS - 4,
    };
    for (const place of ['4', '0x4', block.hash, block.hash?.toUpperCase().replace('X', 'x')]) {
      const { status, body } = await opened.ask(`block/${place}`);
      expect(status).toBe(200);
      expect(body).toMatchObject(expected);
      const [{ hash, block_hash, logs }] = Object(body).transactions;
      expect([hash, block_hash, logs]).toEqual([block.transactions[0]?.hash, block.hash, []]);
    }
    expect((await opened.ask('block/LATEST')).body).toMatchObject({ number: String(BLOCKS), confirmations: 0 });
    expect((await opened.ask('block/earliest')).body).toMatchObject({ number: '0' });
    for (const tag of ['safe', 'finalized']) {
      const { number } = await client.getBlock({ blockTag: tag as 'safe' });
      expect((await opened.ask(`block/${tag}`)).body).toMatchObject({ number: String(number) });
    }
  });

  test('that is final is kept by clients, unless it was asked for by a tag', async () => {
    const url = `${opened.server.url}/api/v2.2/block`;
    const ask = (at: string, tag = '') =>
      fetch(`${url}/${at}`, {
        headers: { 'x-api-key': EXAMPLE_KEY, ...(tag !== '' && { 'if-none-match': tag }) },
      });
    const first = await ask('0');
    const tag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'private, max-age=60']);
    expect(tag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    await opened.stage.scratch.database.query(sql`UPDATE sync_chains SET checkpoint = checkpoint - 1`);
    for (const known of [tag, `"other", ${tag.slice(2)}`, '*']) expect((await ask('0', known)).status).toBe(304);
    expect((await ask('0', '"other"')).status).toBe(200);
    for (const at of ['earliest', String(BLOCKS)]) {
      const { headers } = await ask(at, tag);
      expect([at, headers.get('etag'), headers.get('cache-control')]).toEqual([at, null, 'no-store']);
    }
    await opened.stage.commit();
  });

  test('above the head, or of a hash that no node knows, is 404', async () => {
    const notFound = { status: 404, body: { message: 'Block not found' } };
    for (const path of [`block/${BLOCKS + 5}`, `block/${hashOf(9, 9)}`, `block/${BLOCKS + 5}/stats`])
      expect(await opened.ask(path)).toMatchObject(notFound);
  });

  test('that the chain has and its nodes do not is 503', async () => {
    opened.stage.node.alter = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x3' ? { result: null } : undefined;
    const answer = await opened.ask('block/3');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('of an abandoned branch is 404, and the one in its place is answered', async () => {
    await opened.stage.devnet.mine(2);
    const { hash, number } = await client.getBlock();
    expect((await opened.ask(`block/${hash}`)).status).toBe(200);
    const before = Object((await opened.ask(`block/${number}`)).body).hash;
    await opened.stage.devnet.reorg(2);
    await opened.reset();
    const now = await client.getBlock({ blockNumber: number ?? 0n });
    expect((await opened.ask(`block/${hash}`)).status).toBe(404);
    expect((await opened.ask(`block/${number}`)).body).toMatchObject({ hash: now.hash });
    expect(now.hash).not.toBe(before);
  });

  test('has its transactions and transfers counted', async () => {
    expect(await opened.ask('block/4/stats')).toMatchObject({
      status: 200,
      body: { transactions: { total: '1' }, nft_transfers: { total: '0' }, token_transfers: { total: '0' } },
    });
  });

  test('is read by the official SDK', async () => {
    const { block } = opened.sdk.EvmApi;
    const found = await block.getBlock({ chain: '0x1', blockNumberOrHash: '4' });
    expect(String(found?.result.number)).toBe('4');
    expect(found?.result.transactions).toHaveLength(1);
    expect(await block.getBlock({ chain: '0x1', blockNumberOrHash: '999' })).toBeNull();
    const stats = await block.getBlockStats({ chain: '0x1', blockNumberOrHash: '4' });
    expect(stats.toJSON()).toMatchObject({ transactions: { total: '1' } });
  });
});

describe('the block of a date', () => {
  const at = (seconds: number): string => new Date((FROM + seconds) * 1_000).toISOString();
  const ask = async (query: string) => {
    const { status, body } = await opened.ask(`dateToBlock?${query}`);
    expect(status).toBe(200);
    return Object(body) as Record<string, unknown>;
  };
  const headerReads = (): number =>
    opened.stage.node.received.filter(({ method }) => method === 'eth_getBlockByNumber').length;

  test('is told by indexed blocks, at no call, as the hosted provider writes it', async () => {
    const block = await client.getBlock({ blockNumber: 6n });
    const before = headerReads();
    const expected = {
      date: at(5 * STEP + 2).replace('.000Z', '+00:00'),
      block: 6,
      timestamp: FROM + 5 * STEP + 2,
      block_timestamp: at(5 * STEP),
      hash: block.hash,
      parent_hash: block.parentHash,
    };
    expect(await ask(`chain=0x1&date=${at(5 * STEP + 2)}`)).toEqual(expected);
    // As backfills store blocks that they created from logs.
    const { database } = opened.stage.scratch;
    await database.query(sql`UPDATE blocks SET parent_hash = NULL WHERE block_number = 6`);
    expect(await ask(`chain=0x1&date=${at(5 * STEP + 2)}`)).toEqual(expected);
    await opened.stage.commit();
    expect(headerReads()).toBe(before);
  });

  test.each<[string, number, number]>([
    ['', 52, 6],
    ['', 55, 6],
    ['', 56, 7],
    ['&closest=before', 59, 6],
    ['&closest=BEFORE', 60, 7],
    ['&closest=after', 51, 7],
    ['&closest=after', 60, 7],
    ['&closest=nearest', 60, 7],
  ])('%s of second %d is block %d, with indexed blocks and without', async (closest, seconds, expected) => {
    expect((await ask(`date=${FROM + seconds}${closest}`)).block).toBe(expected);
    const { database } = opened.stage.scratch;
    await database.query(sql`DELETE FROM blocks WHERE block_number BETWEEN 3 AND 20`);
    try {
      const before = headerReads();
      expect((await ask(`date=${FROM + seconds}${closest}`)).block).toBe(expected);
      expect(headerReads()).toBeGreaterThan(before);
      expect((await ask(`date=${(FROM + seconds) * 1_000}${closest}`)).block).toBe(expected);
    } finally {
      await opened.stage.commit();
    }
  });

  test.each([
    ['', 55.5, 7],
    ['', 54.999, 6],
    ['&closest=before', 59.999, 6],
    ['&closest=after', 50.001, 7],
  ])('%s of second %d, with its milliseconds, is block %d', async (closest, seconds, expected) => {
    const date = Math.round((FROM + seconds) * 1_000);
    const { block, timestamp } = await ask(`date=${date}${closest}`);
    expect([block, timestamp]).toEqual([expected, Math.floor(date / 1_000)]);
    const { database } = opened.stage.scratch;
    await database.query(sql`DELETE FROM blocks WHERE block_number BETWEEN 3 AND 20`);
    try {
      expect((await ask(`date=${new Date(date).toISOString()}${closest}`)).block).toBe(expected);
    } finally {
      await opened.stage.commit();
    }
  });

  test('ahead of the head is the head, and before the first block that one', async () => {
    const { number } = await client.getBlock();
    expect((await ask('date=9999-01-01')).block).toBe(Number(number));
    // Microseconds, which read as milliseconds are a date far ahead.
    expect(await ask('date=1667823435000000')).toMatchObject({ block: Number(number), timestamp: 1667823435000 });
    expect((await ask('date=9999-01-01&closest=after')).block).toBe(Number(number));
    expect((await ask('date=1971-01-01')).block).toBe(0);
  });

  test('needs a node where it lies between indexed blocks', async () => {
    await opened.stage.scratch.database.query(sql`DELETE FROM blocks WHERE block_number BETWEEN 3 AND 20`);
    try {
      opened.settings.maxCalls = 0;
      expect((await opened.ask(`dateToBlock?date=${FROM + 52}`)).status).toBe(400);
      opened.settings.maxCalls = 1;
      opened.stage.node.alter = () => ({ error: { code: -32603, message: 'away' } });
      const answer = await opened.ask(`dateToBlock?date=${FROM + 52}`);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    } finally {
      await opened.stage.commit();
    }
  });

  test('is read by the official SDK, to which numbers are milliseconds', async () => {
    const { block } = opened.sdk.EvmApi;
    const found = await block.getDateToBlock({ chain: '0x1', date: new Date((FROM + 52) * 1_000) });
    expect(found.toJSON()).toMatchObject({ block: 6, timestamp: FROM + 52 });
  });
});

describe('the official SDK', () => {
  test('reads the version and the weights of operations', async () => {
    const { utils } = opened.sdk.EvmApi;
    expect((await utils.web3ApiVersion()).toJSON()).toEqual({ version: '0.0.0' });
    const weights = (await utils.endpointWeights()).toJSON();
    expect(weights).toContainEqual({
      endpoint: 'getBlock',
      path: '/block/{block_number_or_hash}',
      rateLimitCost: 100,
      price: 0,
    });
    expect(weights).toContainEqual({
      endpoint: 'getTransactionVerbose',
      path: '/transaction/{transaction_hash}/verbose',
      rateLimitCost: 20,
      price: 0,
    });
    expect(weights).toContainEqual({
      endpoint: 'getDateToBlock',
      path: '/dateToBlock',
      rateLimitCost: 1,
      price: 0,
    });
  });
});
