import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import {
  type AnsweredStream,
  type Client,
  clientOf,
  exampleServices,
  exampleStreamApi,
  MINIMAL,
  SECOND_KEY,
} from './testing/example-stream-api.ts';

const scratch = scratchOfFile();

let count = 0;

async function clients(bounds: {
  readonly streamsPerKey?: number;
  readonly addressesPerStream?: number;
  readonly addressesPerKey?: number;
  readonly configBytesPerKey?: number;
}): Promise<{ readonly ask: Client; readonly requestOther: Client }> {
  await scratch.database.query(sql`UPDATE streams SET deleted_at = now() WHERE deleted_at IS NULL`);
  const unbounded = { streamsPerKey: 1_000, addressesPerStream: 1_000, addressesPerKey: 1_000 };
  const app = await exampleStreamApi(scratch.database, {
    ...exampleServices(),
    bounds: { ...unbounded, ...bounds },
  });
  return { ask: clientOf(app), requestOther: clientOf(app, SECOND_KEY) };
}

const create = (ask: Client) =>
  ask<AnsweredStream>('PUT', '/streams/evm', { ...MINIMAL, description: `Stream ${++count}` });
const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;
const addressesOf = (from: number, amount: number): string[] =>
  Array.from({ length: amount }, (_, index) => addressOf(from + index));

function statuses(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counted: Record<number, number> = {};
  for (const { status } of answers) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}

test('a key has as many streams as it may, also when it makes many at once; others have theirs, and a deleted one makes room', async () => {
  const { ask, requestOther } = await clients({ streamsPerKey: 4 });
  const answers = await Promise.all(Array.from({ length: 16 }, () => create(ask)));
  expect(statuses(answers)).toEqual({ 200: 4, 400: 12 });
  const [first] = answers.filter(({ status }) => status === 200);
  expect((await create(ask)).body).toEqual({
    message: 'This key has 4 streams, the limit is 4: delete one first',
    details: { streams: 4, limit: 4 },
  });
  const { body: stream } = first ?? (await create(ask));
  const copies = Array.from({ length: 3 }, () => ask('POST', `/streams/evm/${stream.id}/duplicate`));
  expect(statuses(await Promise.all(copies))).toEqual({ 400: 3 });
  const same = { ...MINIMAL, description: stream.description };
  expect(await ask<AnsweredStream>('PUT', '/streams/evm', same)).toMatchObject({
    status: 200,
    body: { id: stream.id },
  });
  expect((await create(requestOther)).status).toBe(200);
  await ask('DELETE', `/streams/evm/${stream.id}`);
  expect(statuses(await Promise.all(Array.from({ length: 5 }, () => create(ask))))).toEqual({ 200: 1, 400: 4 });
});

test('a stream watches as many addresses as it may, also when many are added at once', async () => {
  const { ask } = await clients({ addressesPerStream: 10 });
  const { body: stream } = await create(ask);
  const path = `/streams/evm/${stream.id}/address`;
  const amount = async () =>
    (await ask<AnsweredStream>('GET', `/streams/evm/${stream.id}`)).body.amountOfAddresses;
  const added = Array.from({ length: 12 }, (_, index) =>
    ask('POST', path, { address: addressesOf(4 * index, 4) }),
  );
  expect(statuses(await Promise.all(added))).toEqual({ 200: 2, 400: 10 });
  expect(await amount()).toBe(8);
  const beyond = await ask('POST', path, { address: addressesOf(1_000, 3) });
  expect(beyond.body).toMatchObject({
    message: expect.stringContaining('would watch 11 addresses, the limit is 10'),
    details: { addresses: 11, limit: 10 },
  });
  expect((await ask('PATCH', path, { address: addressesOf(2_000, 11) })).status).toBe(400);
  expect(await amount()).toBe(8);
  expect((await ask('PATCH', path, { address: addressesOf(2_000, 10) })).status).toBe(200);
  expect((await ask('POST', path, { address: addressOf(2_003) })).status).toBe(200);
  expect(await amount()).toBe(10);
});

test('the streams of a key watch as many addresses together as they may, copies included', async () => {
  const { ask, requestOther } = await clients({ addressesPerKey: 10 });
  const [one, two] = await Promise.all([create(ask), create(ask)]);
  const add = (client: Client, { body }: typeof one, from: number) =>
    client('POST', `/streams/evm/${body.id}/address`, { address: addressesOf(from, 3) });
  const added = Array.from({ length: 10 }, (_, index) => add(ask, index % 2 === 0 ? one : two, 3 * index));
  expect(statuses(await Promise.all(added))).toEqual({ 200: 3, 400: 7 });
  // The first three are arbitrary: they may all belong to one stream, and a copy of the other would watch nothing.
  const isWatching = async ({ body: { id } }: typeof one) =>
    (await ask<AnsweredStream>('GET', `/streams/evm/${id}`)).body.amountOfAddresses > 0;
  const [watching, other] = (await isWatching(one)) ? [one, two] : [two, one];
  const refused = await ask('POST', `/streams/evm/${watching.body.id}/duplicate`);
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('the limit is 10'), details: { limit: 10 } },
  });
  const { body: page } = await ask<{ total: number }>('GET', '/streams/evm?limit=10');
  expect(page.total).toBe(2);
  expect((await add(requestOther, await create(requestOther), 0)).status).toBe(200);
  await ask('PATCH', `/streams/evm/${watching.body.id}/address`, { address: [] });
  expect((await add(ask, other, 900)).status).toBe(200);
  // A stream without addresses needs no room.
  expect((await ask('POST', `/streams/evm/${watching.body.id}/duplicate`)).status).toBe(200);
});

// Invariant: FAIR-KEYS
test('ABIs and filters of a key have as many bytes together as they may, copies and changes included', async () => {
  const abiOf = (events: number) =>
    Array.from({ length: events }, (_, at) => ({ type: 'event', name: `Event${at}`, inputs: [] }));
  const bytesOf = (events: number): number => JSON.stringify(abiOf(events)).length;
  const limit = 2 * bytesOf(10) + 10;
  const { ask, requestOther } = await clients({ configBytesPerKey: limit });
  const withAbi = (client: Client, events: number) =>
    client<AnsweredStream>('PUT', '/streams/evm', {
      ...MINIMAL,
      description: `Stream ${++count}`,
      abi: abiOf(events),
    });
  const { body: first } = await withAbi(ask, 10);
  const copy = await ask<AnsweredStream>('POST', `/streams/evm/${first.id}/duplicate`);
  expect(copy.status).toBe(200);
  const path = `/streams/evm/${first.id}`;
  const bytes = bytesOf(10) + bytesOf(11);
  expect(await ask('POST', path, { abi: abiOf(11) })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(`would have ${bytes} bytes in total`), details: { bytes, limit } },
  });
  expect((await withAbi(ask, 1)).status).toBe(400);
  expect((await withAbi(requestOther, 10)).status).toBe(200);
  expect((await create(ask)).status).toBe(200);
  expect((await ask('POST', path, { abi: abiOf(5) })).status).toBe(200);
  expect((await withAbi(ask, 4)).status).toBe(200);
});
