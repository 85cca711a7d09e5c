/** The console's streams in the running program: what the form shows is what then arrives. */
import { sql } from '@chainstead/db';
import type { WebhookReceiver } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { numberToHex, parseEther } from 'viem';
import { beforeAll, expect, it } from 'vitest';
import { awaitWebhook, createStreamStage, STREAM_STAGE_KEY } from './stream-stage.ts';

const CHAIN_ID = 1_337_031;

const stage = stageOfFile(() => createStreamStage(CHAIN_ID));
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await stage.receive();
});

/** A session of the console. */
async function signIn() {
  const origin = stage.address;
  const send = (path: string, fields: Readonly<Record<string, string>> | null, cookie = '') =>
    fetch(origin + path, {
      method: fields === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { accept: 'text/html', origin, 'sec-fetch-site': 'same-origin', cookie },
      ...(fields !== null && { body: new URLSearchParams(fields) }),
    });
  const signedIn = await send('/console/sign-in', { key: STREAM_STAGE_KEY });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const page = await (await send('/console/streams/new', null, cookie)).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  return {
    get: async (path: string) => (await send(path, null, cookie)).text(),
    post: (path: string, fields: Readonly<Record<string, string>>) => send(path, { ...fields, token }, cookie),
  };
}

it('a form shows what would have been sent; the stream that it makes sends that, and is paused', async () => {
  const console = await signIn();
  const [from, to] = stage.devnet.accounts.slice(5);
  if (from === undefined || to === undefined) throw new Error('The node has too few accounts');
  const sendEther = () =>
    stage.devnet.client.sendTransaction({ account: from, to, value: parseEther('1'), chain: null });
  const mined = async () =>
    (await stage.devnet.client.waitForTransactionReceipt({ hash: await sendEther() })).blockNumber;
  const first = await mined();
  await stage.untilFollowed(first);
  const form = {
    stream: '',
    webhookUrl: `${receiver.url}/webhook`,
    description: 'of the console',
    tag: 'console',
    chainIds: numberToHex(CHAIN_ID),
    switches: 'includeNativeTxs',
    addresses: to,
    chain: numberToHex(CHAIN_ID),
    from: String(first),
  };
  const preview = await (await console.post('/console/streams/form/preview', form)).text();
  expect(preview).toContain('blocks matched');
  expect(preview).toContain(to.toLowerCase());
  const made = await console.post('/console/streams/form/save', form);
  expect(made.status, await made.text()).toBe(303);
  const id = made.headers.get('location')?.split('/').at(-1) ?? '';
  const second = await mined();
  const webhook = await awaitWebhook(stage, receiver, id, { blockNumber: second, confirmed: false });
  const kept = await console.get(
    `/console/streams/${id}/deliveries/${String(webhook.headers['webhook-id'])}/body.json`,
  );
  expect(kept).toBe(webhook.body);
  await console.post('/console/streams/status', { stream: id, status: 'paused' });
  expect((await stage.ask('GET', `/streams/evm/${id}`)).body).toMatchObject({ status: 'paused', tag: 'console' });
  const actions = await stage.scratch.database.query(
    sql`SELECT action FROM audit_log WHERE target = ${id} ORDER BY id`,
  );
  expect(actions.map(({ action }) => action)).toEqual(['stream.create', 'stream.pause']);
});
