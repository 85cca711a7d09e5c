import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type AnsweredStream,
  type Client,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
} from './testing/example-stream-api.ts';

interface AddressPage {
  readonly result: readonly { readonly address: string }[];
  readonly total: number;
  readonly cursor?: string;
}

const scratch = scratchOfFile();
let ask: Client;
let id: string;
let path: string;
let count = 0;

beforeAll(async () => {
  ask = clientOf(await exampleStreamApi(scratch.database, exampleServices()));
});
beforeEach(async () => {
  const { body } = await ask<AnsweredStream>('PUT', '/streams/evm', {
    ...MINIMAL,
    description: `Stream ${++count}`,
  });
  ({ id } = body);
  path = `/streams/evm/${id}/address`;
});

const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;
const addressesOf = (from: number, amount: number): string[] =>
  Array.from({ length: amount }, (_, index) => addressOf(from + index));

async function amount(): Promise<number> {
  return (await ask<AnsweredStream>('GET', `/streams/evm/${id}`)).body.amountOfAddresses;
}

async function all(limit = 100): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await ask<AddressPage>(
      'GET',
      `${path}?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    );
    found.push(...body.result.map(({ address }) => address));
    cursor = body.cursor;
  } while (cursor !== undefined);
  return found;
}

const CHECKSUMMED = '0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

test('one address is answered as one, a list as a list, in lower case', async () => {
  const one = await ask('POST', path, { address: CHECKSUMMED });
  expect(one.body).toEqual({ streamId: id, address: CHECKSUMMED.toLowerCase() });
  const list = await ask('POST', path, { address: [CHECKSUMMED, addressOf(1)] });
  expect(list.body).toEqual({ streamId: id, address: [CHECKSUMMED.toLowerCase(), addressOf(1)] });
  expect(await all()).toEqual([addressOf(1), CHECKSUMMED.toLowerCase()]);
});

test('an address counts once, in whatever letter case it comes', async () => {
  await ask('POST', path, {
    address: [CHECKSUMMED, CHECKSUMMED.toLowerCase(), `0x${CHECKSUMMED.slice(2).toUpperCase()}`],
  });
  await ask('POST', path, { address: CHECKSUMMED });
  expect(await amount()).toBe(1);
});

test('addresses are removed whatever their letter case; those that it does not have are passed over', async () => {
  await ask('POST', path, { address: [CHECKSUMMED, addressOf(1), addressOf(2)] });
  const { status } = await ask('DELETE', path, {
    address: [CHECKSUMMED.toLowerCase(), addressOf(1), addressOf(9)],
  });
  expect(status).toBe(200);
  expect(await all()).toEqual([addressOf(2)]);
  expect(await amount()).toBe(1);
});

test('removing none that it has is 404', async () => {
  await ask('POST', path, { address: addressOf(1) });
  const { status, body } = await ask('DELETE', path, { address: [addressOf(2), addressOf(3)] });
  expect(status).toBe(404);
  expect(body).toEqual({ message: 'Address not found' });
  expect(await amount()).toBe(1);
});

test('replacing leaves exactly the given ones', async () => {
  await ask('POST', path, { address: addressesOf(1, 10) });
  await ask('PATCH', path, { address: [...addressesOf(8, 5), addressOf(8)] });
  expect(await all()).toEqual(addressesOf(8, 5));
  expect(await amount()).toBe(5);
  await ask('PATCH', path, { address: [] });
  expect(await all()).toEqual([]);
  expect(await amount()).toBe(0);
});

test('one bad address refuses the whole list', async () => {
  const { status } = await ask('POST', path, { address: [addressOf(1), '0x1'] });
  expect(status).toBe(400);
  expect(await amount()).toBe(0);
});

test('pages have every address once, ascending; the last one has no cursor', async () => {
  await ask('POST', path, { address: addressesOf(1, 25).reverse() });
  const first = await ask<AddressPage>('GET', `${path}?limit=10`);
  expect(first.body).toMatchObject({ total: 25, cursor: expect.any(String) });
  expect(first.body.result).toEqual(addressesOf(1, 10).map((address) => ({ address })));
  expect(await all(10)).toEqual(addressesOf(1, 25));
  expect(await all(5)).toHaveLength(25);
});

test('addresses that come and go while someone pages neither repeat nor hide others', async () => {
  await ask('POST', path, { address: addressesOf(10, 20) });
  const { body } = await ask<AddressPage>('GET', `${path}?limit=5`);
  await ask('DELETE', path, { address: addressesOf(10, 5) });
  await ask('POST', path, { address: addressesOf(1, 5) });
  const next = await ask<AddressPage>('GET', `${path}?limit=5&cursor=${body.cursor}`);
  expect(next.body.result).toEqual(addressesOf(15, 5).map((address) => ({ address })));
});

test('a cursor works on its own stream only', async () => {
  await ask('POST', path, { address: addressesOf(1, 3) });
  const { body } = await ask<AddressPage>('GET', `${path}?limit=1`);
  const other = await ask<AnsweredStream>('PUT', '/streams/evm', { ...MINIMAL, description: 'Another' });
  const refused = await ask('GET', `/streams/evm/${other.body.id}/address?limit=1&cursor=${body.cursor}`);
  expect(refused).toMatchObject({ status: 400, body: { message: 'Validation Failed' } });
});

test('requests at the same time add up exactly', async () => {
  const requests = Array.from({ length: 20 }, (_, index) =>
    // Each overlaps the next by half.
    ask('POST', path, { address: addressesOf(1 + index * 50, 100) }),
  );
  const removals = Array.from({ length: 5 }, (_, index) =>
    ask('DELETE', path, { address: addressesOf(5_000 + index, 1) }),
  );
  const answers = await Promise.all([...requests, ...removals]);
  expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await amount()).toBe(1_050);
  const [row] = await scratch.database.query(
    sql`SELECT count(*) AS rows FROM stream_addresses WHERE stream_id = ${id}`,
  );
  expect(row).toEqual({ rows: 1_050 });
});

test('50,000 addresses go in one request, and can be replaced by 50,000 others', async () => {
  const first = addressesOf(1, 50_000);
  const added = await ask<{ address: string[] }>('POST', path, { address: first });
  expect(added.status).toBe(200);
  expect(added.body.address).toHaveLength(50_000);
  expect(await amount()).toBe(50_000);
  const replaced = await ask('PATCH', path, { address: addressesOf(25_001, 50_000) });
  expect(replaced.status).toBe(200);
  expect(await amount()).toBe(50_000);
  const page = await ask<AddressPage>('GET', `${path}?limit=1`);
  expect(page.body).toMatchObject({ total: 50_000, result: [{ address: addressOf(25_001) }] });
});
