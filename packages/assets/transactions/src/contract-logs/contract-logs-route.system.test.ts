/** Logs of contracts, read on request, over a real socket and a devnet. */

import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { compileSolidity } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { type Abi, keccak256, stringToBytes, type TransactionReceipt } from 'viem';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openLogsStage } from './testing/logs-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Emitter {
  event Noted(address indexed who, uint256 indexed number, string note);
  event Quiet();
  function note(uint256 number) external { emit Noted(msg.sender, number, "hello"); emit Quiet(); }
  function bare() external {
    assembly { mstore(0, 7) log0(0, 32) log1(0, 0, 1) log4(0, 32, 1, 2, 3, 4) }
  }
}`;

const opened = stageOfFile(openLogsStage);
let emitter: { readonly address: Address; readonly abi: Abi };
let other: Address;
/** Receipts of both contracts, in chain order. */
let receipts: TransactionReceipt[];

interface Shown {
  readonly block_number: string;
  readonly log_index: number;
  readonly topic0: string | null;
}
interface Answer {
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly indexed: {
    readonly from_block: string | null;
    readonly to_block: string | null;
    readonly complete: boolean;
  };
  readonly result: readonly Shown[];
}

beforeAll(async () => {
  const { devnet } = opened.stage;
  const contract = (await compileSolidity({ 'Emitter.sol': SOURCE })).get('Emitter');
  if (contract === undefined) throw new Error('There is no contract Emitter');
  emitter = { address: await devnet.deploy(contract), abi: contract.abi };
  other = await devnet.deploy(contract);
  receipts = [];
  for (let number = 0; number < 4; number++)
    for (const address of [emitter.address, other])
      receipts.push(await devnet.send({ ...emitter, address, functionName: 'note', args: [BigInt(number)] }));
  receipts.push(await devnet.send({ ...emitter, functionName: 'bare' }));
  await devnet.mine(3);
  await opened.commit();
  await untilRead(emitter.address);
});

async function get(query = '', contract = emitter.address): Promise<Answer> {
  const { status, body } = await opened.ask(`${contract}/logs${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Answer;
}

/** Repeats the request until all final blocks were read. */
async function untilRead(contract: Address): Promise<void> {
  const last = Number(receipts.at(-1)?.blockNumber);
  const first = await get('', contract);
  expect(first).toMatchObject({ indexed: { complete: false }, result: [] });
  await vi.waitFor(
    async () => expect(Number((await get('', contract)).indexed.to_block)).toBeGreaterThanOrEqual(last),
    { timeout: 20_000, interval: 50 },
  );
}

/** The contract's logs from the node, newest first. */
async function reported(contract = emitter.address) {
  const { client } = opened.stage.devnet;
  const all = [];
  for (const { logs, blockHash } of receipts) {
    const { timestamp } = await client.getBlock({ blockHash });
    for (const log of logs.filter(({ address }) => parseAddress(address) === contract)) {
      const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
      all.push({
        transaction_hash: log.transactionHash,
        address: contract,
        block_timestamp: new Date(Number(timestamp) * 1_000).toISOString(),
        block_number: String(log.blockNumber),
        block_hash: log.blockHash,
        data: log.data,
        ...{ topic0, topic1, topic2, topic3 },
        transaction_index: log.transactionIndex,
        log_index: log.logIndex,
      });
    }
  }
  return all.reverse();
}

describe('logs of a contract that nothing was indexed of', () => {
  test('are read because of the request, all of them, and no other contract’s', async () => {
    const answer = await get();
    expect(answer).toEqual({
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: expect.any(String), complete: false },
      result: await reported(),
    });
    expect(answer.result).toHaveLength(11);
    const rows = await opened.stage.scratch.database.query(sql`SELECT DISTINCT address FROM logs`);
    expect(rows).toHaveLength(1);
  });

  test('are complete as far as they were read, and not beyond', async () => {
    const { to_block: read } = (await get()).indexed;
    expect((await get(`?to_block=${read}`)).indexed.complete).toBe(true);
    expect((await get(`?to_block=${Number(read) + 1}`)).indexed.complete).toBe(false);
  });

  test('come with later blocks once these are final and somebody asks again', async () => {
    const { devnet, scratch } = opened.stage;
    await untilRead(other);
    receipts.push(await devnet.send({ ...emitter, address: other, functionName: 'note', args: [99n] }));
    await devnet.mine(3);
    await opened.commit();
    // A finished backfill is not repeated for a while.
    await scratch.database.query(sql`UPDATE backfill_requests SET updated_at = now() - interval '1 hour'`);
    await expect
      .poll(async () => (await get('', other)).result, { timeout: 20_000, interval: 50 })
      .toEqual(await reported(other));
  });

  test('are refused where requests may cause no calls, and nothing is known', async () => {
    const closed = await openLogsStage(0);
    await closed.commit();
    const answer = await closed.ask(`${emitter.address}/logs`);
    await closed.close();
    expect(answer).toEqual({
      status: 400,
      body: {
        message:
          'logs of eth are not indexed, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node',
        details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
      },
    });
  });
});

describe('a page of logs', () => {
  const NOTED = keccak256(stringToBytes('Noted(address,uint256,string)'));
  const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;

  test.each<[string, (log: Record<string, unknown>) => boolean]>([
    [`?topic0=${NOTED}`, ({ topic0 }) => topic0 === NOTED],
    [
      `?topic0=${NOTED.toUpperCase().replace('X', 'x')}&topic2=${word(2)}`,
      ({ topic0, topic2 }) => topic0 === NOTED && topic2 === word(2),
    ],
    [`?topic2=${word(3)}`, ({ topic2 }) => topic2 === word(3)],
    [
      `?topic0=${word(1)}&topic1=${word(2)}&topic2=${word(3)}&topic3=${word(4)}`,
      ({ topic3 }) => topic3 === word(4),
    ],
    [`?topic0=${word(9)}`, () => false],
    [`?topic3=${word(9)}`, () => false],
  ])('has those of the topics: %s', async (query, isWanted) => {
    const expected = (await reported()).filter(isWanted);
    expect((await get(query)).result).toEqual(expected);
    expect((await get(`${query}&order=ASC`)).result).toEqual(expected.toReversed());
  });

  test('has those of one block, whatever the range says, and of ranges of blocks and times', async () => {
    const all = await reported();
    const { block_number: number = '', block_timestamp: time = '' } = all[3] ?? {};
    const inBlock = all.filter((log) => log.block_number === number);
    expect((await get(`?block_number=${number}&from_block=9999&to_block=1&from_date=2001-01-01`)).result).toEqual(
      inBlock,
    );
    expect((await get(`?from_block=${number}`)).result).toEqual(
      all.filter((log) => Number(log.block_number) >= Number(number)),
    );
    expect((await get(`?to_block=${number}`)).result).toEqual(
      all.filter((log) => Number(log.block_number) <= Number(number)),
    );
    expect((await get(`?to_date=${time}`)).result).toEqual(all.filter((log) => log.block_timestamp <= time));
    expect((await get(`?from_date=${time}`)).result).toEqual(all.filter((log) => log.block_timestamp >= time));
  });

  test.each(['ASC', 'DESC'])('is followed by the next one, none shown twice: %s', async (order) => {
    for (const filter of ['', `&topic0=${NOTED}`]) {
      const whole = (await get(`?order=${order}${filter}`)).result;
      const shown: Shown[] = [];
      let number = 0;
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await get(cursor === '' ? `?limit=2&order=${order}${filter}` : `?cursor=${cursor}`);
        number += 1;
        expect(answer.page).toBe(number);
        shown.push(...answer.result);
        cursor = answer.cursor;
      }
      expect(shown).toEqual(whole);
    }
  });

  test('is read by the official SDK', async () => {
    const { events } = opened.sdk.EvmApi;
    const topic0 = NOTED;
    const first = await events.getContractLogs({ chain: '0x1', address: emitter.address, topic0, limit: 3 });
    expect(first.result.map(({ blockNumber }) => String(blockNumber))).toEqual(
      (await get(`?topic0=${topic0}&limit=3`)).result.map((log) => log.block_number),
    );
    const next = await first.next();
    expect(next.result).toHaveLength(1);
  });
});

describe('events of a contract', () => {
  const NOTED = {
    anonymous: false,
    name: 'Noted',
    type: 'event',
    inputs: [
      { indexed: true, name: 'who', type: 'address' },
      { indexed: true, name: 'number', type: 'uint256' },
      { indexed: false, name: 'note', type: 'string' },
    ],
  };
  const TOPIC = keccak256(stringToBytes('Noted(address,uint256,string)'));
  const post = (query = '', body: unknown = NOTED) => opened.ask(`${emitter.address}/events${query}`, body);

  test('are decoded by the item of the body, in the order asked for', async () => {
    const all = (await reported()).filter(({ topic0 }) => topic0 === TOPIC);
    const [sender = ''] = (await opened.stage.devnet.client.getAddresses()) ?? [];
    const { status, body } = await post('?order=ASC');
    expect(status).toBe(200);
    expect(body).toEqual({
      page: 0,
      page_size: 100,
      cursor: null,
      skipped: 0,
      indexed: { from_block: '0', to_block: expect.any(String), complete: false },
      result: all.toReversed().map((log, number) => ({
        transaction_hash: log.transaction_hash,
        address: emitter.address,
        block_timestamp: log.block_timestamp,
        block_number: log.block_number,
        block_hash: log.block_hash,
        data: { who: sender, number: String(number), note: 'hello' },
      })),
    });
  });

  test('of another layout are left out and counted', async () => {
    const [who, number, note] = NOTED.inputs;
    const other = { ...NOTED, inputs: [who, { ...number, indexed: false }, note] };
    expect((await post('', other)).body).toMatchObject({ skipped: 4, result: [] });
  });

  test('are followed by the next page, and begin behind an offset', async () => {
    const numbers = (body: unknown) =>
      (body as { result: { data: { number: string } }[] }).result.map(({ data }) => data.number);
    const first = await post('?limit=2&offset=1');
    expect(numbers(first.body)).toEqual(['2', '1']);
    const { cursor } = first.body as { cursor: string };
    const next = await post(`?cursor=${cursor}`);
    expect(next.body).toMatchObject({ page: 1, cursor: null });
    expect(numbers(next.body)).toEqual(['0']);
  });

  test('are read by the official SDK, with the topic and without', async () => {
    const { events } = opened.sdk.EvmApi;
    for (const topic of [TOPIC, undefined]) {
      const found = await events.getContractEvents({
        ...{ chain: '0x1', address: emitter.address, abi: NOTED, order: 'ASC' as const },
        ...(topic !== undefined && { topic }),
      } as unknown as Parameters<typeof events.getContractEvents>[0]);
      expect(found.result).toHaveLength(4);
    }
  });
});
