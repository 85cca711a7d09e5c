import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createChainRegistry } from '@chainstead/chains';
import { readDefinitions } from '@chainstead/contracts';
import { parseAddress } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';
import { createAbiSource, readSourceAbi } from './abi-source.ts';

const scratch = scratchOfFile();
const VAULT = parseAddress(`0x${'c0'.repeat(20)}`);
const IMPLEMENTATION = parseAddress(`0x${'1a'.repeat(20)}`);
const base = createChainRegistry().get('base');
const ABI = [{ type: 'event', name: 'Deposit', inputs: [{ name: 'owner', type: 'address', indexed: true }] }];

let server: Server;
let answer: { status?: number; location?: string; body: string };
let requested: (string | undefined)[];
beforeAll(async () => {
  server = createServer((request, response) => {
    requested.push(request.url);
    const headers = answer.location === undefined ? {} : { location: answer.location };
    response.writeHead(answer.status ?? 200, headers).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());
beforeEach(() => {
  requested = [];
  answer = { body: JSON.stringify({ abi: ABI }) };
});

const source = (query = '') =>
  `http://127.0.0.1:${Object(server.address()).port}/{chain_id}/{address}?key=secret${query}`;
const read = () => readSourceAbi(source(), { address: VAULT, chainId: base.id }, AbortSignal.timeout(10_000));

describe('a server of verified contracts', () => {
  test.each<[string, unknown, unknown]>([
    ['Sourcify', { abi: ABI, match: 'exact_match' }, { abi: ABI, match: 'exact_match' }],
    ['an explorer with the API of Etherscan', { status: '1', result: JSON.stringify(ABI) }, ABI],
    ['an explorer with a list', { status: '1', result: ABI }, ABI],
    ['a server of files', ABI, ABI],
  ])('such as %s returns the ABI of a contract', async (_name, body, abi) => {
    answer = { body: JSON.stringify(body) };
    expect(await read()).toEqual(abi);
    expect(requested).toEqual([`/8453/${VAULT}?key=secret`]);
  });

  test.each<[typeof answer, string]>([
    [{ status: 404, body: '' }, 'it answered 404'],
    [{ body: 'not JSON' }, 'the response is not JSON'],
    [{ body: '{"abi":7}' }, 'the response contains no ABI'],
    [
      { body: '{"status":"0","result":"Contract source code not verified"}' },
      'Contract source code not verified',
    ],
    [{ status: 302, location: 'http://127.0.0.2:9/', body: '' }, 'not allowed'],
  ])('that answers %j is refused with the reason, without its key', async (given, reason) => {
    answer = given;
    const error = await read().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain('secret');
    const { host, read: readForm } = createAbiSource(source());
    expect(host).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await readForm(base, VAULT)).toEqual({ problem: expect.stringContaining(reason) });
  });
});

describe('contracts add without an ABI', () => {
  const add = (options: readonly string[], environment: Readonly<Record<string, string>>) =>
    runCaptured(['contracts', 'add', 'vault', '--chain', 'base', ...options], {
      DATABASE_URL: scratch.url,
      ...environment,
    });

  test('requests it, for a proxy that of its implementation', async () => {
    const environment = { ABI_SOURCE: source() };
    expect(await add(['--address', VAULT], environment)).toMatchObject({ exitCode: 0 });
    expect(await readDefinitions(scratch.database, 'vault')).toMatchObject([{ tables: [{ event: 'deposit' }] }]);
    await add(['--address', VAULT, '--implementation', IMPLEMENTATION], environment);
    expect(requested).toEqual([VAULT, IMPLEMENTATION].map((address) => `/8453/${address}?key=secret`));
  });

  test.each<[readonly string[], () => string, string]>([
    [['--address', VAULT], () => '', '--abi is missing. Give the path of a JSON file, or set ABI_SOURCE'],
    [['--factory', VAULT, '--event', 'Made(address pool)', '--child', 'pool'], source, 'are not known yet'],
    [['--address', VAULT], () => 'https://sourcify.dev', 'does not contain {address}'],
  ])('is refused with %j', async (options, setting, reason) => {
    const outcome = await add(options, { ABI_SOURCE: setting() });
    expect([outcome.exitCode, outcome.stderr]).toEqual([2, expect.stringContaining(reason)]);
    expect(requested).toEqual([]);
  });
});
