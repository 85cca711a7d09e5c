import { type Address, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Stream, StreamConfig, StreamStatus } from '../stream.ts';
import { loadStreamsAt } from '../watching/watched-streams.ts';
import { changeStreamStatus } from './change-status.ts';
import { createStreamAddressStore, holdStreamsVersion } from './stream-addresses.ts';
import { createStreamStore, type StreamStore } from './stream-store.ts';
import { exampleActor } from './testing/example-actor.ts';
import { exampleConfig } from './testing/example-config.ts';

const BY = exampleActor();

const scratch = scratchOfFile();
let store: StreamStore;
let count = 0;

beforeAll(async () => {
  store = createStreamStore(scratch.database);
});

const create = (given: Partial<StreamConfig> = {}): Promise<Stream> =>
  store.create({ ...exampleConfig(), description: `Stream ${++count}`, ...given }, BY);
const load = () => scratch.database.transaction((transaction) => loadStreamsAt(transaction));
const version = () => scratch.database.transaction((transaction) => holdStreamsVersion(transaction));
const addressOf = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`);
const setStatus = (id: string, status: StreamStatus) =>
  scratch.database.transaction((transaction) =>
    changeStreamStatus(transaction, id, () => ({ status, statusMessage: status })),
  );

test('every change raises the version, by one', async () => {
  const addresses = createStreamAddressStore(scratch.database);
  const stream = await create();
  let copy: Stream | null = null;
  const changes: (() => Promise<unknown>)[] = [
    () => create(),
    () => store.update(stream.id, (current) => ({ ...current, tag: 'changed' }), BY),
    () => addresses.add(stream.id, [addressOf(1), addressOf(2)], BY),
    () => addresses.remove(stream.id, [addressOf(1)], BY),
    () => addresses.replace(stream.id, [addressOf(3)], BY),
    () => setStatus(stream.id, 'paused'),
    async () => {
      copy = await store.duplicate(stream.id, BY);
    },
    () => store.remove(stream.id, BY),
  ];
  for (const change of changes) {
    const before = await version();
    await change();
    expect(await version()).toBe(before + 1);
  }
  expect(copy).toMatchObject({ amountOfAddresses: 1, tag: 'changed' });
});

test('blocks wait for no other block and see what was committed before them; a change waits for the block', async () => {
  const stream = await create();
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const order: string[] = [];
  const block = scratch.database.transaction(async (transaction) => {
    const before = await loadStreamsAt(transaction);
    held.resolve();
    await release.promise;
    const again = await loadStreamsAt(transaction);
    expect(again).toEqual(before);
    order.push('block');
  });
  await held.promise;
  // A block of another chain shares the version lock with the first.
  await scratch.database.transaction(async (transaction) => {
    expect((await loadStreamsAt(transaction)).changed.find(({ id }) => id === stream.id)?.tag).toBe('');
    order.push('other block');
  });
  const change = store
    .update(stream.id, (current) => ({ ...current, tag: 'later' }), BY)
    .then(() => order.push('change'));
  await vi.waitFor(async () => {
    const waiting = await scratch.database.query(
      sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(waiting).not.toEqual([]);
  });
  release.resolve();
  await Promise.all([block, change]);
  expect(order).toEqual(['other block', 'block', 'change']);
  expect((await load()).changed.find(({ id }) => id === stream.id)?.tag).toBe('later');
});

test('streams that are active or in error are matched, others are not', async () => {
  const stream = await create();
  const matched = async () => (await load()).changed.some(({ id }) => id === stream.id);
  const seen: Record<string, boolean> = {};
  for (const status of ['active', 'paused', 'error', 'terminated', 'active'] as const) {
    await setStatus(stream.id, status);
    seen[status] = await matched();
  }
  expect(seen).toEqual({ active: true, paused: false, error: true, terminated: false });
  await store.remove(stream.id, BY);
  expect(await matched()).toBe(false);
});

test('a stream comes back from the database as it went in', async () => {
  const config: StreamConfig = {
    ...exampleConfig(),
    description: "quote ' and \\ and {braces}",
    topic0: ['A(uint256)', 'with "quotes", and commas'],
    abi: [{ type: 'event', name: 'A', inputs: [{ type: 'uint256', name: 'ü', indexed: true }] }],
    advancedOptions: [{ topic0: 'A(uint256)', filter: { in: ['ü', ['1', '2']] }, includeNativeTxs: false }],
    triggers: [],
    getNativeBalances: [{ selectors: ['$to'], type: 'internalTx' }],
    sendRemoved: true,
    contracts: ['vault', 'vault.Deposit', 'with "quotes", and commas'],
  };
  const stream = await store.create(config, BY);
  expect(await store.get(stream.id)).toEqual({ ...config, ...stream });
  expect((await load()).changed.find(({ id }) => id === stream.id)).toMatchObject(stream);
});

test('the time of an error is kept until it is over, also when it ends in termination', async () => {
  const { id } = await create();
  const since = async (): Promise<unknown> => {
    const [row] = await scratch.database.query(sql`SELECT error_since FROM streams WHERE id = ${id}`);
    return row?.errorSince;
  };
  await setStatus(id, 'error');
  const first = await since();
  expect(first).toBeInstanceOf(Date);
  await setStatus(id, 'error');
  expect(await since()).toEqual(first);
  await setStatus(id, 'terminated');
  expect(await since()).toEqual(first);
  await setStatus(id, 'active');
  expect(await since()).toBeNull();
});
