import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { startWebhookReceiver } from '@chainstead/testkit';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { OWN_ORIGIN, openConsoleStage } from '../../testing/console-stage.ts';
import { seedStream, seedWebhook } from '../../testing/seed-streams.ts';

const TRANSFER = {
  type: 'event',
  name: 'Transfer',
  anonymous: false,
  inputs: [
    { indexed: true, name: 'from', type: 'address' },
    { indexed: true, name: 'to', type: 'address' },
    { indexed: false, name: 'value', type: 'uint256' },
  ],
};
const TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const WALLET = `0x${'aB'.repeat(20)}`;

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());
const receiver = stageOfFile(() => startWebhookReceiver());
let count = 0;

beforeEach(() => receiver.answerWith(() => ({})));

const page = async (path: string) => {
  const answer = await stage.get(path, visitor);
  return { status: answer.status, text: await answer.text() };
};
/** A form with several values of a name. */
async function post(path: string, fields: readonly (readonly [string, string])[]) {
  const body = new URLSearchParams([['token', visitor.token], ...fields.map(([name, value]) => [name, value])]);
  const headers = { accept: 'text/html', cookie: visitor.cookie, ...OWN_ORIGIN };
  const answer = await stage.app.request(path, { method: 'POST', body, headers });
  return { status: answer.status, goTo: answer.headers.get('location') ?? '', text: await answer.text() };
}
const lastAudit = async () => (await listAudit(stage.database, null, 1))[0];

const formFields = (changes: Readonly<Record<string, string>> = {}): (readonly [string, string])[] =>
  Object.entries({
    stream: '',
    webhookUrl: `${receiver.url}/hook`,
    description: `Stream ${++count}`,
    tag: 'made',
    chainIds: '0x1',
    switches: 'includeNativeTxs',
    ...changes,
  });

describe('the list of streams', () => {
  test('shows how each does, a page at a time, by status and text', async () => {
    const failing = await seedStream(stage.database, {
      tag: 'failing',
      status: 'error',
      statusMessage: 'Success rate 60 %',
    });
    const healthy = await seedStream(stage.database, { tag: 'healthy' });
    await seedWebhook(stage.database, healthy, {
      block: 1,
      status: 'delivered',
      errors: ['Request failed with status code 503', null],
    });
    await seedWebhook(stage.database, healthy, { block: 2, status: 'pending', errors: [] });
    const { text } = await page('/console/streams');
    expect(text).toContain(`/console/streams/${healthy}`);
    expect(text).toContain('Request failed with status code 503');
    expect(text).toContain('Success rate 60 %');
    expect(text).toContain('http://127.0.0.1:9');
    expect((await page('/console/streams?status=error')).text).not.toContain(healthy);
    const found = (await page(`/console/streams?text=${failing.slice(0, 8)}`)).text;
    expect([found.includes(failing), found.includes(healthy)]).toEqual([true, false]);
    for (let index = 0; index < 60; index++) await seedStream(stage.database, { tag: `many ${index}` });
    const first = (await page('/console/streams?text=many')).text;
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
    expect(next).toContain('text=many');
    const second = (await page(next.replaceAll('&amp;', '&'))).text;
    const ids = (of: string) =>
      [...of.matchAll(/href="\/console\/streams\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
    expect(new Set([...ids(first), ...ids(second)]).size).toBe(60);
  });

  test.each(['status=nonsense', 'after=x', `after=2026-13-45 00:00:00%2B00_${'0'.repeat(36)}`])(
    'refuses %s in words',
    async (query) => {
      expect(await page(`/console/streams?${query}`)).toMatchObject({
        status: 400,
        text: expect.stringContaining('must be'),
      });
    },
  );

  test('takes any text to look for', async () => {
    const text = `%_\\'"<b>${'x'.repeat(3_000)}`;
    expect((await page(`/console/streams?text=${encodeURIComponent(text)}`)).status).toBe(200);
  });
});

describe('one stream', () => {
  test('has its webhooks by what came of them, and each with body, answers and times', async () => {
    const id = await seedStream(stage.database);
    const failed = await seedWebhook(stage.database, id, {
      block: 5,
      status: 'failed',
      errors: ['boom', 'crash'],
    });
    const waiting = await seedWebhook(stage.database, id, { block: 6, status: 'pending', errors: [] });
    const all = (await page(`/console/streams/${id}`)).text;
    expect(all.match(new RegExp(`deliveries/${failed}`, 'g'))).toHaveLength(2);
    expect(all).toContain('HTTP 500');
    const pending = (await page(`/console/streams/${id}?show=waiting`)).text;
    expect([pending.includes(waiting), pending.includes(failed)]).toEqual([true, false]);
    const { text } = await page(`/console/streams/${id}/deliveries/${failed}`);
    for (const part of [
      'boom',
      'crash',
      'HTTP 500',
      'its retries are used up',
      '&quot;number&quot;: &quot;5&quot;',
    ])
      expect(text).toContain(part);
    const body = await stage.get(`/console/streams/${id}/deliveries/${failed}/body.json`, visitor);
    expect(await body.text()).toBe('{"confirmed":false,"retries":0,"block":{"number":"5"},"logs":[]}');
  });

  test.each(['failed', 'waiting'])('lists what %s a page at a time, each once', async (show) => {
    const id = await seedStream(stage.database);
    const ids = new Set<string>();
    for (let block = 1; block <= 60; block++)
      ids.add(
        await seedWebhook(
          stage.database,
          id,
          show === 'failed'
            ? { block, status: 'failed', errors: ['boom'] }
            : { block, status: 'pending', errors: [] },
        ),
      );
    const listed = (text: string) =>
      [...text.matchAll(/\/deliveries\/([0-9a-f-]{36})"/g)].map(([, one = '']) => one);
    const first = (await page(`/console/streams/${id}?show=${show}`)).text;
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
    const second = (await page(next.replaceAll('&amp;', '&').replace('#webhooks', ''))).text;
    expect([listed(first).length, listed(second).length]).toEqual([50, 10]);
    expect(new Set([...listed(first), ...listed(second)])).toEqual(ids);
    expect(second).not.toContain('rel="next"');
  });

  test.each(['eth', '00000000-0000-4000-8000-000000000000', '%20', `${'0'.repeat(36)}`])(
    'that is not there is not found: %s',
    async (id) => {
      for (const path of [
        '',
        '/edit',
        '/addresses',
        '/deliveries/x',
        '/deliveries/00000000-0000-4000-8000-000000000000/body.json',
      ])
        expect((await page(`/console/streams/${id}${path}`)).status, path).toBe(404);
    },
  );

  test('is paused, terminated only by who is sure, and resumed when its endpoint answers', async () => {
    const id = await seedStream(stage.database, { webhookUrl: receiver.url });
    const status = async () =>
      (await stage.database.query(sql`SELECT status FROM streams WHERE id = ${id}`))[0]?.status;
    const set = (wanted: string, more: Readonly<Record<string, string>> = {}) =>
      post('/console/streams/status', Object.entries({ stream: id, status: wanted, ...more }));
    expect((await set('paused')).goTo).toBe(`/console/streams/${id}`);
    expect(await status()).toBe('paused');
    expect(await set('terminated')).toMatchObject({ status: 400, text: expect.stringContaining('tick the box') });
    expect(await status()).toBe('paused');
    await set('terminated', { sure: 'yes' });
    expect(await status()).toBe('terminated');
    expect(await lastAudit()).toMatchObject({
      action: 'stream.terminate',
      target: id,
      id: visitor.prefix,
      door: 'console',
    });
    receiver.answerWith(() => ({ status: 404 }));
    expect(await set('active')).toMatchObject({ status: 400, text: expect.stringContaining('Could not POST') });
    receiver.answerWith(() => ({}));
    await set('active');
    expect(await status()).toBe('active');
  });

  test('is copied, and deleted only by who is sure; both are in the audit log', async () => {
    const id = await seedStream(stage.database, { webhookUrl: receiver.url, tag: 'twice' });
    const copied = await post('/console/streams/duplicate', [['stream', id]]);
    const copy = copied.goTo.split('/').at(-1) ?? '';
    expect(copied.status, copied.text).toBe(303);
    expect((await page(`/console/streams/${copy}`)).text).toContain('twice');
    expect(await lastAudit()).toMatchObject({ action: 'stream.duplicate', target: copy, details: { of: id } });
    expect(await post('/console/streams/delete', [['stream', copy]])).toMatchObject({
      status: 400,
      text: expect.stringContaining('tick the box'),
    });
    expect((await page(`/console/streams/${copy}`)).status).toBe(200);
    const sure = [
      ['stream', copy],
      ['sure', 'yes'],
    ] as const;
    expect((await post('/console/streams/delete', sure)).goTo).toBe('/console/streams');
    expect(await lastAudit()).toMatchObject({ action: 'stream.delete', target: copy, id: visitor.prefix });
    expect((await page(`/console/streams/${copy}`)).status).toBe(404);
    expect((await page('/console/streams?text=twice')).text).toContain(id);
    expect((await post('/console/streams/delete', sure)).status).toBe(404);
  });

  test('sends webhooks once more: one, a selection, all that failed', async () => {
    const id = await seedStream(stage.database, { status: 'paused' });
    for (const block of [1, 2, 3, 4])
      await seedWebhook(stage.database, id, { block, status: 'failed', errors: ['boom'] });
    const attempts = await stage.database.query<{ id: string }>(
      sql`SELECT id FROM stream_attempts WHERE stream_id = ${id}`,
    );
    const waiting = async () =>
      (
        await stage.database.query(
          sql`SELECT FROM stream_deliveries WHERE stream_id = ${id} AND status = 'pending'`,
        )
      ).length;
    const choose = (...chosen: readonly ({ readonly id: string } | undefined)[]) =>
      post('/console/streams/replay', [
        ['stream', id],
        ...chosen.map((attempt) => ['attempt', attempt?.id ?? ''] as const),
      ]);
    expect((await choose(attempts[0])).text).toContain('webhook is queued to be resent');
    expect((await choose(attempts[1], attempts[2])).text).toContain('webhooks are queued to be resent');
    expect(await waiting()).toBe(3);
    expect(await choose()).toMatchObject({ status: 400, text: expect.stringContaining('choose at least one') });
    await post('/console/streams/replay-failed', [['stream', id]]);
    expect(await waiting()).toBe(4);
    expect(await lastAudit()).toMatchObject({ action: 'stream.replay', details: { webhooks: 1, all: true } });
    expect((await post('/console/streams/replay-failed', [['stream', id]])).text).toContain('Nothing is sent');
  });

  test('is tested, and what its endpoint said is shown', async () => {
    receiver.answerWith(() => ({ status: 422, body: '<script>alert(1)</script>' }));
    const id = await seedStream(stage.database, { webhookUrl: receiver.url });
    const { text } = await post('/console/streams/test', [['stream', id]]);
    expect(text).toContain('Response: HTTP 422');
    expect(text).toContain('&lt;script&gt;alert(1)');
    expect(await lastAudit()).toMatchObject({
      action: 'stream.test',
      target: id,
      details: { success: false, http_status: 422 },
    });
  });

  test('has its addresses added, removed and replaced', async () => {
    const id = await seedStream(stage.database);
    const change = (operation: string, addresses: string) =>
      post('/console/streams/addresses', [
        ['stream', id],
        ['operation', operation],
        ['addresses', addresses],
      ]);
    await change('add', `${WALLET}\r\n0x${'1'.repeat(40)}, 0x${'2'.repeat(40)}`);
    const listed = (await page(`/console/streams/${id}/addresses`)).text;
    expect(listed).toContain(WALLET.toLowerCase());
    await change('remove', WALLET);
    expect((await page(`/console/streams/${id}/addresses`)).text).not.toContain(WALLET.toLowerCase());
    expect((await change('add', 'nonsense')).status).toBe(400);
  });
});

describe('the form', () => {
  test('makes a stream, and changes it without losing anything of it', async () => {
    const made = await post('/console/streams/form/save', [
      ...formFields({
        abi: JSON.stringify({ contractName: 'Token', abi: [TRANSFER] }),
        topic0: `${TOPIC}\r\n`,
        advancedOptions: '[{"topic0":"Transfer(address,address,uint256)","filter":{"gt":["value","5"]}}]',
        getNativeBalances: '[{"type":"tx","selectors":["$fromAddress"]}]',
        addresses: WALLET,
      }),
      ['switches', 'includeContractLogs'],
      ['switches', 'sendRemoved'],
    ]);
    expect(made.status, made.text).toBe(303);
    const id = made.goTo.split('/').at(-1) ?? '';
    const read = () => stage.database.query(sql`SELECT * FROM streams WHERE id = ${id}`);
    const [before] = await read();
    expect(before).toMatchObject({
      abi: JSON.stringify([TRANSFER]),
      topic0: [TOPIC],
      includeContractLogs: true,
      includeNativeTxs: true,
      sendRemoved: true,
      amountOfAddresses: 1,
      createdBy: visitor.prefix,
    });
    expect(await lastAudit()).toMatchObject({ action: 'stream.create', target: id });
    // As a browser submits the displayed form.
    const { text } = await page(`/console/streams/${id}/edit`);
    expect(text).toMatch(/value="0xddf252ad[0-9a-f]+" checked> <code><bdi>Transfer\(address,address,uint256\)/);
    const saved = await post('/console/streams/form/save', fieldsIn(text));
    expect(saved.status, saved.text).toBe(303);
    const [after] = await read();
    expect({ ...after, updatedAt: null }).toEqual({ ...before, updatedAt: null });
    // An unchanged form is not written to the audit log.
    expect(await lastAudit()).toMatchObject({ action: 'stream.create', target: id });
  });

  test.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['a URL', { webhookUrl: 'nonsense' }, 'webhookUrl', 'must be an http or https URL'],
    ['a chain', { chainIds: '0x89' }, 'chainIds', 'polygon'],
    ['no chain', { chainIds: '' }, 'chainIds', 'hexadecimal id'],
    ['no JSON', { abi: '[{' }, 'abi', 'is not JSON'],
    ['an ABI', { abi: '[{"type":"event"}]' }, 'abi', 'needs a name and known types'],
    ['a topic0', { topic0: 'Transfer(' }, 'topic0', 'must be an event signature'],
    [
      'a contract',
      { contracts: 'vault\r\n', switches: 'includeContractLogs' },
      'contracts',
      '0: is no indexed contract',
    ],
    [
      'a filter',
      {
        abi: JSON.stringify([TRANSFER]),
        advancedOptions: `[{"topic0":"${TOPIC}","filter":{"gt":["nothing","1"]}}]`,
      },
      'advancedOptions',
      '0.filter',
    ],
    ['a trigger', { triggers: '{"type":"tx"}' }, 'triggers', 'contractAddress'],
    [
      'a selector',
      { getNativeBalances: '[{"type":"tx","selectors":["$x"]}]' },
      'getNativeBalances',
      'must be a selector',
    ],
    ['an address', { addresses: '0x1' }, 'addresses', '0x1'],
    ['nothing to tell of', { switches: '' }, 'switches', 'at least one of'],
  ])('refuses %s beside its field, and keeps what was written', async (_name, changes, field, message) => {
    const { status, text } = await post(
      '/console/streams/form/save',
      formFields({ tag: 'kept as it is', ...changes }),
    );
    expect(status).toBe(400);
    const [, related = ''] = new RegExp(`id="${field}-problem">(.*?)</div>`, 's').exec(text) ?? [];
    expect(related).toContain(message);
    expect(text).toContain('value="kept as it is"');
    expect(await stage.database.query(sql`SELECT 1 FROM streams WHERE tag = 'kept as it is'`)).toEqual([]);
  });

  test('lists the events of the ABI with their topic0, also where something else is wrong', async () => {
    const { text } = await post(
      '/console/streams/form/check',
      formFields({ abi: JSON.stringify([TRANSFER]), webhookUrl: '' }),
    );
    expect(text).toContain(`<code class="soft">${TOPIC}</code>`);
    expect(text).toContain('id="webhookUrl-problem"');
    const done = await post('/console/streams/form/check', formFields());
    expect(done).toMatchObject({ status: 200, text: expect.stringContaining('The stream is valid') });
  });

  test('is not saved while the endpoint does not take the test webhook; which says what it said', async () => {
    receiver.answerWith(() => ({ status: 500, body: 'out of order' }));
    const refused = await post('/console/streams/form/save', formFields());
    expect(refused.text).toMatch(/id="webhookUrl-problem">.*Could not POST/s);
    const tested = await post('/console/streams/form/test', formFields());
    expect(tested).toMatchObject({ status: 200, text: expect.stringContaining('out of order') });
  });

  test('says in words what of a preview is wrong, and when no node answers', async () => {
    const preview = (changes: Readonly<Record<string, string>>) =>
      post(
        '/console/streams/form/preview',
        formFields({ chain: '0x1', from: '1', to: '', webhookUrl: '', ...changes }),
      );
    expect((await preview({ from: 'x' })).text).toMatch(/id="from-problem">.*whole number/s);
    expect((await preview({ from: '9', to: '8' })).text).toMatch(/id="to-problem">.*below/s);
    expect((await preview({ to: '1000' })).text).toMatch(/id="to-problem">.*a preview looks at 100/s);
    expect((await preview({ chain: '0x2105' })).text).toMatch(/id="chain-problem">.*not indexed here/s);
    expect((await preview({})).text).toContain('No upstream of eth is configured here');
  });

  test('takes the largest of ABIs, where other forms are small', async () => {
    const abi = JSON.stringify(Array.from({ length: 900 }, (_, index) => ({ ...TRANSFER, name: `E${index}` })));
    const checked = await post('/console/streams/form/check', formFields({ abi }));
    expect([checked.status, checked.text.match(/name="events"/g)?.length]).toEqual([200, 900]);
    expect((await post('/console/keys/create', [['name', abi]])).status).toBe(413);
    expect((await post('/console/streams/form/check', formFields({ abi: ' '.repeat(4_000_001) }))).status).toBe(
      413,
    );
  });
});

/** The fields that a browser submits for the page's only form. */
function fieldsIn(text: string): (readonly [string, string])[] {
  const plain = (value: string) =>
    value
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  const [form = ''] = /<form method="post" action="\/console\/streams\/form.*?<\/form>/s.exec(text) ?? [];
  const fields: [string, string][] = [];
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const [, name = ''] = /\bname="([^"]*)"/.exec(input) ?? [];
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(input) ?? [];
    const isLeftOut = input.includes('type="checkbox"') && !input.includes('checked');
    if (name !== 'token' && !isLeftOut) fields.push([name, plain(value)]);
  }
  for (const [, name = '', value = ''] of form.matchAll(/<textarea[^>]*\bname="([^"]*)"[^>]*>\n?([^<]*)</g))
    fields.push([name, plain(value).replaceAll('\n', '\r\n')]);
  return fields;
}
