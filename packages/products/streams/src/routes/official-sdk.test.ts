import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  EXAMPLE_KEY,
  exampleServices,
  exampleStreamApi,
  TRANSFER_EVENT,
  TRANSFER_SIGNATURE,
} from './testing/example-stream-api.ts';

const CHECKSUMMED = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const OTHER = '0x52908400098527886E0F7030069857D2E4169EE7';

const scratch = scratchOfFile();
let server: ApiServer;
let Streams: Moralis['Streams'];
const services = exampleServices();

beforeAll(async () => {
  server = await serveApi(await exampleStreamApi(scratch.database, services), { host: '127.0.0.1', port: 0 });
  ({ Streams } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
});

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

const config = {
  webhookUrl: 'https://example.com/sdk',
  description: 'By the SDK',
  tag: 'sdk',
  chains: ['0x1', '0x2105'],
  topic0: [TRANSFER_SIGNATURE],
  abi: [TRANSFER_EVENT],
  includeContractLogs: true,
  advancedOptions: [{ topic0: TRANSFER_SIGNATURE, filter: { gt: ['value', '1000'] }, includeNativeTxs: true }],
  getNativeBalances: [{ selectors: ['$fromAddress'], type: 'tx' as const }],
  triggers: [
    {
      type: 'erc20transfer' as const,
      contractAddress: '$contract',
      functionAbi: {
        type: 'function',
        name: 'balanceOf',
        stateMutability: 'view',
        inputs: [{ name: 'owner', type: 'address' }],
        outputs: [{ name: 'balance', type: 'uint256' }],
      },
      inputs: ['$from'],
    },
  ],
};

async function add(description: string) {
  return (await Streams.add({ ...config, description })).result;
}

describe('the official SDK', () => {
  test('adds a stream and reads it back', async () => {
    const stream = await add('added');
    expect(stream.toJSON()).toMatchObject({
      ...{ webhookUrl: config.webhookUrl, tag: 'sdk', topic0: [TRANSFER_SIGNATURE], abi: [TRANSFER_EVENT] },
      ...{ advancedOptions: config.advancedOptions, triggers: config.triggers, chainIds: ['0x1', '0x2105'] },
      ...{
        status: 'active',
        statusMessage: 'Stream is active',
        includeContractLogs: true,
        includeNativeTxs: false,
      },
    });
    const { result } = await Streams.getById({ id: stream.id });
    expect(result.toJSON()).toEqual(stream.toJSON());
  });

  test('adds, lists and deletes addresses, checksummed and not', async () => {
    const { id } = await add('addresses');
    const added = await Streams.addAddress({ id, address: [CHECKSUMMED, OTHER] });
    expect(added.raw).toEqual({ streamId: id, address: [CHECKSUMMED.toLowerCase(), OTHER.toLowerCase()] });
    const page = await Streams.getAddresses({ id, limit: 10 });
    expect(page.raw).toEqual({
      result: [{ address: OTHER.toLowerCase() }, { address: CHECKSUMMED.toLowerCase() }],
      total: 2,
    });
    await Streams.deleteAddress({ id, address: CHECKSUMMED });
    expect((await Streams.getAddresses({ id, limit: 10 })).raw).toMatchObject({ total: 1 });
    await expect(Streams.deleteAddress({ id, address: CHECKSUMMED })).rejects.toThrow('Address not found');
  });

  test('updates single members', async () => {
    const stream = await add('to be updated');
    const { result } = await Streams.update({ id: stream.id, tag: 'changed', chains: ['0x2105'] });
    expect(result.toJSON()).toMatchObject({
      tag: 'changed',
      chainIds: ['0x2105'],
      abi: [TRANSFER_EVENT],
      description: 'to be updated',
    });
    const triggers = await Streams.update({ id: stream.id, triggers: config.triggers });
    expect(triggers.result.toJSON()).toMatchObject({ triggers: config.triggers });
  });

  test('pauses and resumes', async () => {
    const { id } = await add('to be paused');
    const paused = await Streams.updateStatus({ id, status: 'paused' });
    expect(paused.result).toMatchObject({ status: 'paused', statusMessage: 'Stream was paused by the user' });
    const resumed = await Streams.updateStatus({ id, status: 'active' });
    expect(resumed.result).toMatchObject({ status: 'active' });
  });

  test('pages through all streams', async () => {
    for (const description of ['a', 'b', 'c', 'd']) await add(description);
    const seen: string[] = [];
    let cursor: string | undefined;
    let total: unknown;
    do {
      // The SDK's `next` sends a parameter that its own validation of this operation refuses.
      const page = await Streams.getAll({ limit: 2, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.result.map(({ id }) => id));
      ({ cursor, total } = page.raw as { cursor?: string; total: unknown });
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(total);
  });

  test('reads statistics, settings, history and logs', async () => {
    const { id } = await add('with history');
    const { database } = scratch;
    await database.query(sql`UPDATE stream_stats SET webhooks_delivered = 3 WHERE stream_id = ${id}`);
    await database.query(
      sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries,
         success, error_message, body, records, duration_ms)
       VALUES (${id}, gen_random_uuid(), ${id}, 8453, 7, true, 'https://example.com/sdk', 'sdk', 1, false, 'timeout', '{"chainId":"0x2105"}', 2, 9)`,
    );
    expect((await Streams.getStats()).raw).toMatchObject({ totalWebhooksDelivered: 3, totalWebhooksFailed: 0 });
    expect((await Streams.getStatsById({ streamId: id })).raw).toMatchObject({ totalWebhooksDelivered: 3 });
    expect((await Streams.setSettings({ region: 'eu-central-1' })).raw).toMatchObject({ region: 'eu-central-1' });
    expect((await Streams.readSettings()).raw).toMatchObject({
      region: 'eu-central-1',
      secretKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const history = await Streams.getHistory({ limit: 5, excludePayload: false });
    expect(history.result).toMatchObject([
      { id, streamId: id, payload: { chainId: '0x2105' }, errorMessage: 'timeout' },
    ]);
    const logs = await Streams.getLogs({ limit: 5 });
    expect(logs.result).toMatchObject([{ id, deliveryStatus: 'failed', blockNumber: 7 }]);
    expect(logs.result[0]?.chain.hex).toBe('0x2105');
    expect((await Streams.retry({ streamId: id, id })).raw).toMatchObject({
      id,
      tinyPayload: { block: '7', confirmed: true },
    });
    expect(services.requested).toEqual([
      {
        service: 'replay',
        request: { streamId: id, attemptId: id, by: expect.objectContaining({ door: 'api', id: 'config:1' }) },
      },
    ]);
  });

  test('deletes', async () => {
    const { id } = await add('to be deleted');
    expect((await Streams.delete({ id })).result.toJSON()).toMatchObject({ id, description: 'to be deleted' });
    await expect(Streams.getById({ id })).rejects.toThrow('Stream not found');
  });

  test('shows what is refused, with its details', async () => {
    const refused = Streams.add({ ...config, abi: [] });
    await expect(refused).rejects.toThrow(/Validation Failed.*requestBody\.topic0\.\$0.*has no event in the abi/);
    services.answer = { ok: false, reason: 'unreachable' };
    await expect(add('unreachable')).rejects.toThrow(
      'Could not POST to https://example.com/sdk. Please check your webhook URL.',
    );
    services.answer = { ok: true };
  });
});

test('the snippet of docs/migrate/sdk.md runs as it is printed', async () => {
  const { id } = await add('of the snippet');
  const document = await readFile(join(ROOT, 'docs/migrate/sdk.md'), 'utf8');
  const [, snippet = ''] = /streams\.mjs`:\n\n```js\n([\s\S]*?)^```/m.exec(document) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'streams-snippet-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'streams.mjs'), snippet);
    const env = { CHAINSTEAD_KEY: EXAMPLE_KEY, CHAINSTEAD_URL: server.url };
    const { stdout } = await promisify(execFile)(process.execPath, ['streams.mjs'], { cwd: folder, env });
    expect(stdout).toContain(`${id} of the snippet`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
