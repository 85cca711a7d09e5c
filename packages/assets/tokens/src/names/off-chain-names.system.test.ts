import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress } from '@chainstead/egress';
import { addressOf } from '@chainstead/testkit';
import { encodeAbiParameters, getAddress, type Hex, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NameStage, openNameStage } from './testing/name-stage.ts';

const FAR = getAddress(addressOf(0xfa2));

let opened: NameStage;
let server: Server;
let requested: string[] = [];
let answer: { status: number; body: string };
const egress = createEgress({ allowPrivate: ['127.0.0.1'] });

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requested.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  opened = await openNameStage(egress);
  const { resolver, set } = opened;
  await set(resolver, 'setGateway', dnsName('far.eth'), `${url}/{sender}/{data}.json`);
  await set(resolver, 'setGateway', dnsName('posted.eth'), `${url}/post`);
  await set(resolver, 'setGateway', dnsName('inner.eth'), 'http://127.0.0.2:9/{data}');
});
afterAll(async () => {
  await opened.close();
  await egress.close();
  server.close();
});
beforeEach(async () => {
  requested = [];
  answer = { status: 200, body: JSON.stringify({ data: encodeAbiParameters([{ type: 'address' }], [FAR]) }) };
  await opened.reset();
});

const dnsName = (name: string): Hex => toHex(packetToBytes(name));

test('a name that is kept off chain is what its gateway says and its contract takes', async () => {
  expect(await opened.ask('ens/far.eth')).toMatchObject({ status: 200, body: { address: FAR } });
  const sender = opened.resolver.address;
  expect(requested).toEqual([expect.stringMatching(new RegExp(`^GET /${sender}/0x[0-9a-f]+\\.json $`))]);
  expect(await opened.ask('ens/posted.eth')).toMatchObject({ status: 200, body: { address: FAR } });
  expect(requested[1]).toMatch(new RegExp(`^POST /post \\{"data":"0x[0-9a-f]+","sender":"${sender}"\\}$`));
});

test.each([
  ['refuses', 404, '{"message":"no"}'],
  ['fails', 500, 'no'],
  ['answers rubbish', 200, '{"data":"hello"}'],
  ['answers no JSON', 200, '<html>'],
  ['answers too much', 200, JSON.stringify({ data: `0x${'00'.repeat(200_000)}` })],
])('a gateway that %s makes it 503: it says nothing of the name', async (_what, status, body) => {
  answer = { status, body };
  const given = await opened.ask('ens/far.eth');
  expect([given.status, given.headers.get('retry-after')]).toEqual([503, '1']);
});

test('an address within this network is not reached', async () => {
  expect((await opened.ask('ens/inner.eth')).status).toBe(503);
});

test('a resolver that leads from lookup to lookup leads nowhere', async () => {
  const { resolver, set } = opened;
  await set(resolver, 'setEndless', true);
  try {
    const { status } = await opened.ask('ens/far.eth');
    expect(status).toBeGreaterThanOrEqual(404);
    expect(requested.length).toBeLessThanOrEqual(8);
  } finally {
    await set(resolver, 'setEndless', false);
  }
});
