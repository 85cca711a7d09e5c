import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock, toQuantity } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { type AuditActor, listAudit } from '@chainstead/http';
import {
  createScratchDatabase,
  type ScratchDatabase,
  startWebhookReceiver,
  type WebhookReceiver,
} from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createProbeWebhook, createTestWebhook } from '../delivery/test-webhook.ts';
import { EXAMPLE_DELAYS_MS } from '../delivery/testing/example-retries.ts';
import { createDeliveryWorker } from '../delivery/worker.ts';
import { createEnrichMatch } from '../enrichment/enrich-match.ts';
import { createWebhookBodies } from '../enrichment/webhook-bodies.ts';
import { createPastBlockServices } from '../historical/past-block-services.ts';
import { ERC20_TRANSFER, TRANSFER_SIGNATURE } from '../matching/testing/example-stream.ts';
import { TEST_BODY } from '../payload/render-body.ts';
import { readStreamSettings } from '../records/settings.ts';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import { FOLLOWED_CONFIRMATIONS, openFollowedChain, walletsOf } from '../watching/testing/followed-chain.ts';
import { readAbiEvents } from './read-abi-events.ts';
import { createStreamOperations, type GivenStream } from './stream-operations.ts';

const BY: AuditActor = { door: 'console', id: '0123abcd', name: 'Ann', address: '127.0.0.1', requestId: 'r1' };
const WALLET = `0x${'aB'.repeat(20)}`;

let scratch: ScratchDatabase;
let receiver: WebhookReceiver;
let count = 0;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.close();
  await scratch.drop();
});
beforeEach(async () => {
  receiver.answerWith(() => ({}));
  await scratch.database.query(sql`DELETE FROM audit_log`);
});

function open() {
  const registry = createChainRegistry();
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  onTestFinished(() => egress.close());
  const probeWebhook = createProbeWebhook({
    egress,
    settings: () => readStreamSettings(scratch.database),
    sentAt: async () => Date.now(),
    perHost: 3,
  });
  return createStreamOperations({
    database: scratch.database,
    probeWebhook,
    services: {
      registry,
      chains: [registry.get('eth'), registry.get('base')],
      bounds: { streamsPerKey: 100, addressesPerStream: 3, addressesPerKey: 100 },
      testWebhook: createTestWebhook(probeWebhook),
      offersTraces: async () => true,
      previewBlock: async () => ({ found: false }),
    },
  });
}

function given(config: object = {}, addresses: readonly string[] | null = []): GivenStream {
  const about = { webhookUrl: `${receiver.url}/hook`, description: `Stream ${++count}`, chainIds: ['0x1'] };
  return { config: { ...about, includeNativeTxs: true, ...config }, addresses };
}

const audit = async () =>
  (await listAudit(scratch.database, null, 20)).map(({ action, target, details, id }) => ({
    action,
    target,
    details,
    id,
  }));

describe('what operators do with streams', () => {
  test('makes one with its addresses at once, after the test webhook, and writes it down without its URL', async () => {
    const streams = open();
    const before = receiver.received.length;
    const stream = await streams.create(
      given({ tag: 'shop', webhookUrl: `${receiver.url}/?key=secret` }, [WALLET, WALLET]),
      BY,
    );
    expect(receiver.received.slice(before).map(({ body }) => body)).toEqual([TEST_BODY]);
    expect(stream).toMatchObject({ status: 'active', tag: 'shop', amountOfAddresses: 1 });
    expect(await streams.find(stream.id)).toEqual(stream);
    expect(await createStreamAddressStore(scratch.database).list(stream.id, null, 5)).toMatchObject({
      addresses: [WALLET.toLowerCase()],
    });
    const details = { tag: 'shop', chains: [1], addresses: 1 };
    expect(await audit()).toEqual([{ action: 'stream.create', target: stream.id, details, id: BY.id }]);
    expect(JSON.stringify(await listAudit(scratch.database, null, 1))).not.toContain('secret');
  });

  test.each<[string, object, readonly string[], string]>([
    ['a URL that is none', { webhookUrl: 'nonsense' }, [], 'STREAM_VALIDATION_FAILED'],
    ['nothing to tell of', { includeNativeTxs: false }, [], 'STREAM_VALIDATION_FAILED'],
    ['an address that is none', {}, ['0x1'], 'STREAM_ADDRESS_INVALID'],
    [
      'too many addresses',
      {},
      [1, 2, 3, 4].map((digit) => `0x${String(digit).repeat(40)}`),
      'STREAM_ADDRESSES_LIMITED',
    ],
  ])('makes none with %s', async (_name, config, addresses, code) => {
    await expect(open().create(given(config, addresses), BY)).rejects.toMatchObject({ code });
    expect(await audit()).toEqual([]);
  });

  test('makes none whose endpoint does not answer, and no second one that is the same', async () => {
    const streams = open();
    const first = given();
    receiver.answerWith(() => ({ status: 500 }));
    await expect(streams.create(first, BY)).rejects.toMatchObject({ code: 'WEBHOOK_TEST_FAILED' });
    receiver.answerWith(() => ({}));
    const { id } = await streams.create(first, BY);
    const identical = { code: 'STREAM_IDENTICAL', details: { streamId: id } };
    await expect(streams.create(first, BY)).rejects.toMatchObject(identical);
    expect(await audit()).toHaveLength(1);
  });

  test('changes one as a whole, keeps what it watches, and writes down what changed by name', async () => {
    const streams = open();
    const before = given(
      { tag: 'a', topic0: [TRANSFER_SIGNATURE], abi: [ERC20_TRANSFER], includeContractLogs: true },
      [WALLET],
    );
    const { id } = await streams.create(before, BY);
    const config = { ...before.config, topic0: null, abi: null, includeContractLogs: false, tag: 'b' };
    const changed = await streams.update(id, { config, addresses: null }, BY);
    expect(changed).toMatchObject({ id, tag: 'b', abi: null, topic0: null, amountOfAddresses: 1 });
    const [entry] = await audit();
    expect(entry).toEqual({
      action: 'stream.update',
      target: id,
      details: { changed: ['tag', 'topic0', 'include_contract_logs', 'abi'] },
      id: BY.id,
    });
    await expect(streams.update('00000000-0000-4000-8000-000000000000', before, BY)).rejects.toMatchObject({
      status: 404,
    });
  });

  test('pauses, resumes and terminates, each once; a terminated one comes back only when its endpoint answers', async () => {
    const streams = open();
    const { id } = await streams.create(given(), BY);
    for (const status of ['paused', 'paused', 'terminated'] as const)
      expect(await streams.setStatus(id, status, BY)).toMatchObject({ status });
    await expect(streams.setStatus(id, 'paused', BY)).rejects.toMatchObject({ code: 'STREAM_TERMINATED' });
    receiver.answerWith(() => ({ status: 500 }));
    await expect(streams.setStatus(id, 'active', BY)).rejects.toMatchObject({ code: 'WEBHOOK_TEST_FAILED' });
    receiver.answerWith(() => ({}));
    expect(await streams.setStatus(id, 'active', BY)).toMatchObject({
      status: 'active',
      statusMessage: 'Stream is active',
    });
    expect((await audit()).map(({ action, details }) => [action, details])).toEqual([
      ['stream.resume', { before: 'terminated' }],
      ['stream.terminate', { before: 'paused' }],
      ['stream.pause', { before: 'active' }],
      ['stream.create', expect.anything()],
    ]);
  });

  test('copies one with what it watches once its endpoint answers, deletes one once, and writes down both', async () => {
    const streams = open();
    const { id } = await streams.create(given({ tag: 'shop' }, [WALLET]), BY);
    receiver.answerWith(() => ({ status: 500 }));
    await expect(streams.duplicate(id, BY)).rejects.toMatchObject({ code: 'WEBHOOK_TEST_FAILED' });
    receiver.answerWith(() => ({}));
    const copy = await streams.duplicate(id, BY);
    expect(copy).toMatchObject({ tag: 'shop', status: 'active', amountOfAddresses: 1 });
    expect(copy.id).not.toBe(id);
    await streams.remove(id, BY);
    expect(await streams.find(id)).toBeNull();
    expect(await streams.find(copy.id)).not.toBeNull();
    for (const work of [() => streams.remove(id, BY), () => streams.duplicate(id, BY)])
      await expect(work()).rejects.toMatchObject({ status: 404 });
    expect((await audit()).slice(0, 2)).toEqual([
      { action: 'stream.delete', target: id, details: { tag: 'shop', addresses: 1 }, id: BY.id },
      { action: 'stream.duplicate', target: copy.id, details: { of: id, addresses: 1 }, id: BY.id },
    ]);
  });

  test('changes what is watched, and writes down how much', async () => {
    const streams = open();
    const { id } = await streams.create(given(), BY);
    const [one, two] = ['0x'.padEnd(42, '1'), '0x'.padEnd(42, '2')];
    await streams.changeAddresses(id, 'add', [one, two], BY);
    await streams.changeAddresses(id, 'remove', [one], BY);
    await streams.changeAddresses(id, 'replace', [WALLET], BY);
    await expect(streams.changeAddresses(id, 'remove', [one], BY)).rejects.toMatchObject({ status: 404 });
    await expect(streams.changeAddresses(id, 'add', ['x'], BY)).rejects.toMatchObject({
      code: 'STREAM_ADDRESS_INVALID',
    });
    expect((await streams.find(id))?.amountOfAddresses).toBe(1);
    expect((await audit()).map(({ details }) => details).slice(0, 3)).toEqual([
      { replaced_by: 1 },
      { removed: 1 },
      { added: 2 },
    ]);
  });

  test('sends the test webhook and tells what was said, also by addresses that may not be reached; only so often', async () => {
    const streams = open();
    receiver.answerWith(() => ({ status: 418, body: `<b>teapot</b>${'x'.repeat(5_000)}` }));
    const outcome = await streams.testUrl(receiver.url, BY);
    expect(outcome).toMatchObject({
      success: false,
      httpStatus: 418,
      answer: expect.stringMatching(/^<b>teapot/),
    });
    expect(outcome.answer).toHaveLength(1_000);
    expect(await streams.testUrl('http://169.254.169.254/latest', BY)).toMatchObject({
      success: false,
      blockedRange: 'linkLocal',
    });
    await expect(streams.testUrl('ftp://x', BY)).rejects.toMatchObject({ code: 'STREAM_VALIDATION_FAILED' });
    receiver.answerWith(() => ({}));
    const { id } = await streams.create(given(), BY);
    expect(await streams.test(id, BY)).toMatchObject({ success: true, httpStatus: 200 });
    await expect(streams.test(id, BY)).rejects.toMatchObject({ code: 'WEBHOOK_TESTS_LIMITED', status: 429 });
    expect((await audit()).filter(({ action }) => action === 'stream.test').map(({ target }) => target)).toEqual([
      id,
      'new',
      'new',
    ]);
  });
});

const blockOf = (body: string): number => Number(JSON.parse(body).block.number);
const byBlock = (one: string, other: string): number => blockOf(one) - blockOf(other);

test('events of an ABI are told with their topic0, whatever else is in it', () => {
  const { events, given: known } = readAbiEvents(
    [ERC20_TRANSFER, { type: 'event', name: 5 }, null, { type: 'function', name: 'f' }],
    [TRANSFER_SIGNATURE, 'Other()'],
  );
  const topic0 = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  expect(events).toEqual([{ signature: TRANSFER_SIGNATURE, topic0 }]);
  expect([...known.keys()]).toEqual([TRANSFER_SIGNATURE]);
  expect(readAbiEvents('nonsense', []).events).toEqual([]);
});

test('a preview gives the very webhooks that the stream then sends', async () => {
  const followed = await openFollowedChain(scratch.database, 960_001);
  onTestFinished(() => followed.close());
  const { chain, pool, scripted } = followed;
  const registry = {
    find: (id: string | number) =>
      String(id) === String(chain.id) || id === toQuantity(chain.id) ? chain : null,
  };
  const logger = silentLogger();
  const enrich = createEnrichMatch({ database: scratch.database, chain, pool, clock: systemClock, logger });
  const past = createPastBlockServices({
    database: scratch.database,
    chains: [{ chain, pool, policy: 'strict', enrich }],
    logger,
  });
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  onTestFinished(() => egress.close());
  const probeWebhook = createProbeWebhook({
    egress,
    settings: () => readStreamSettings(scratch.database),
    sentAt: async () => Date.now(),
  });
  const streams = createStreamOperations({
    database: scratch.database,
    probeWebhook,
    services: { ...past, registry, chains: [chain], testWebhook: createTestWebhook(probeWebhook) },
  });
  const running = followed.start();
  onTestFinished(() => running.stop());
  await followed.caughtUp();
  const wallets: readonly Address[] = walletsOf(followed, 0, 6);
  const made = given({ chainIds: [toQuantity(chain.id)] }, wallets);
  const { id } = await streams.create(made, BY);
  const from = scripted.head + 1;
  scripted.mine(12);
  await followed.caughtUp();
  const range = { from, to: scripted.head + 2 };
  // Previews the stored stream with its addresses, and a new one with given addresses.
  const stored = await streams.preview({ given: { ...made, addresses: null }, streamId: id, chain, range });
  const unsaved = await streams.preview({ given: made, streamId: null, chain, range });
  expect(stored).toMatchObject({
    looked: 14,
    absent: [scripted.head + 1, scripted.head + 2],
    followedTo: scripted.head,
  });
  expect(stored.matched).toBeGreaterThan(2);
  expect(unsaved.webhooks.map(({ body }) => body)).toEqual(
    stored.webhooks.map(({ body }) => body.replace(`"streamId":"${id}"`, '"streamId":""')),
  );
  const matches = await scratch.database.query<{ blockNumber: number }>(
    sql`SELECT block_number FROM stream_matches WHERE stream_id = ${id} ORDER BY block_number`,
  );
  expect(stored.matched).toBe(matches.length);
  expect(stored.webhooks.map(({ blockNumber }) => blockNumber)).toEqual(
    matches.slice(0, 10).map((row) => row.blockNumber),
  );
  const worker = createDeliveryWorker({
    database: scratch.database,
    egress,
    bodies: createWebhookBodies({ database: scratch.database, chains: [{ chain, enrich }], clock: systemClock }),
    retryDelaysMs: EXAMPLE_DELAYS_MS,
    concurrency: 10,
    concurrencyPerHost: 10,
    logger,
    metrics: createMetricsRegistry(),
    clock: systemClock,
    sweepEveryMs: 25,
  });
  await worker.start();
  onTestFinished(() => worker.stop(2_000));
  const unconfirmed = () =>
    receiver.received
      .filter(({ body }) => body.startsWith('{"confirmed":false') && body.includes(id))
      .map(({ body }) => body)
      .toSorted(byBlock);
  await expect.poll(() => unconfirmed().length, { timeout: 20_000 }).toBe(matches.length);
  expect(stored.webhooks.map(({ body }) => body.replace('"confirmed":true', '"confirmed":false'))).toEqual(
    unconfirmed().slice(0, 10),
  );
  const confirmed = stored.webhooks.map(({ body }) => JSON.parse(body).confirmed);
  expect(confirmed).toEqual(
    stored.webhooks.map(({ blockNumber }) => blockNumber <= scripted.head - FOLLOWED_CONFIRMATIONS),
  );
  await expect(
    streams.preview({
      given: given({ chainIds: [toQuantity(chain.id)] }),
      streamId: null,
      chain: createChainRegistry().get('eth'),
      range,
    }),
  ).rejects.toMatchObject({ code: 'STREAM_CHAIN_MISMATCH' });
});
