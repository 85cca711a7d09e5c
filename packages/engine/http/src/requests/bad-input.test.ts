import { describe, expect, test } from 'vitest';
import { InvalidParameterError } from '../errors/api-error.ts';
import { createDemoApi, errorOf, TOKEN, WALLET } from '../testing/demo-api.ts';
import { bytesOfValues } from './body-bounds.ts';
import { answerTo } from './error-answer.ts';

const { app } = createDemoApi();
const LIMITS = { bodyBytesMax: 1_000, pageLimitMax: 50, requestTimeoutMs: 30_000, rateLimit: null };
const rows = `/demo/${WALLET}/rows`;

const INVALID_ADDRESS = '[C0005] Invalid address provided';
const BLOCK = 'must be a block number (a whole number from 0 to 9007199254740991)';
const DATE =
  'must be a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const LIMIT = 'must be a whole number from 1 (above 50 means 50)';
const CHAIN = 'must be a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';

const badAddresses = [
  'abc',
  '0x',
  '0x12',
  WALLET.slice(0, -1),
  `${WALLET}0`,
  WALLET.slice(2),
  `0x${'g'.repeat(40)}`,
  'vitalik.eth',
  "0x' OR 1=1--",
  '%20',
];

const badQueries: readonly (readonly [query: string, parameter: string, message: string])[] = [
  ['limit=0', 'limit', `limit ${LIMIT}, "0" was given`],
  ['limit=-1', 'limit', `limit ${LIMIT}, "-1" was given`],
  ['limit=1e9', 'limit', `limit ${LIMIT}, "1e9" was given`],
  ['limit=1.5', 'limit', `limit ${LIMIT}, "1.5" was given`],
  ['limit=ten', 'limit', `limit ${LIMIT}, "ten" was given`],
  ['limit=', 'limit', `limit ${LIMIT}, "" was given`],
  ['limit=%2B5', 'limit', `limit ${LIMIT}, "+5" was given`],
  ['limit=5&limit=5', 'limit', 'limit may be given once, it was given 2 times'],
  ['chain=nope', 'chain', `chain ${CHAIN}, "nope" was given`],
  ['chain=', 'chain', `chain ${CHAIN}, "" was given`],
  ['chain=0x', 'chain', `chain ${CHAIN}, "0x" was given`],
  ['chain=0x89abcdef', 'chain', `chain ${CHAIN}, "0x89abcdef" was given`],
  ['chain=1;DROP TABLE blocks', 'chain', `chain ${CHAIN}, "1;DROP TABLE blocks" was given`],
  ['chain=eth&chain=base', 'chain', 'chain may be given once, it was given 2 times'],
  ['chain[]=eth&from_block=x', 'from_block', `from_block ${BLOCK}, "x" was given`],
  ['from_block=-1', 'from_block', `from_block ${BLOCK}, "-1" was given`],
  ['from_block=1.0', 'from_block', `from_block ${BLOCK}, "1.0" was given`],
  ['from_block=0x10', 'from_block', `from_block ${BLOCK}, "0x10" was given`],
  ['from_block=latest', 'from_block', `from_block ${BLOCK}, "latest" was given`],
  ['from_block=', 'from_block', `from_block ${BLOCK}, "" was given`],
  ['from_block=NaN', 'from_block', `from_block ${BLOCK}, "NaN" was given`],
  ['to_block=9007199254740992', 'to_block', `to_block ${BLOCK}, "9007199254740992" was given`],
  ['to_block=99999999999999999999', 'to_block', `to_block ${BLOCK}, "99999999999999999999" was given`],
  ["to_block=1' OR '1'='1", 'to_block', `to_block ${BLOCK}, "1' OR '1'='1" was given`],
  ['from_block=1&from_block=2', 'from_block', 'from_block may be given once, it was given 2 times'],
  ['from_block=20&to_block=10', 'from_block', 'from_block must be at most to_block (10), "20" was given'],
  ['from_date=yesterday', 'from_date', `from_date ${DATE}, "yesterday" was given`],
  ['from_date=2024-13-01', 'from_date', `from_date ${DATE}, "2024-13-01" was given`],
  ['to_date=2023-02-30', 'to_date', `to_date ${DATE}, "2023-02-30" was given`],
  ['to_date=', 'to_date', `to_date ${DATE}, "" was given`],
  ['to_date=-5', 'to_date', `to_date ${DATE}, "-5" was given`],
  [
    'from_date=2024-02-01&to_date=2024-01-01',
    'from_date',
    'from_date must be at most to_date (2024-01-01T00:00:00.000Z), "2024-02-01T00:00:00.000Z" was given',
  ],
  ['order=up', 'order', 'order must be ASC or DESC, "up" was given'],
  ['order=', 'order', 'order must be ASC or DESC, "" was given'],
  ['order=ASC;--', 'order', 'order must be ASC or DESC, "ASC;--" was given'],
  ['order=ASC&order=DESC', 'order', 'order may be given once, it was given 2 times'],
  ['contract_addresses=', 'contract_addresses.0', INVALID_ADDRESS],
  ['contract_addresses[]=0x1', 'contract_addresses.0', INVALID_ADDRESS],
  [`contract_addresses[0]=${TOKEN}&contract_addresses[1]=usdt`, 'contract_addresses.1', INVALID_ADDRESS],
  [`contract_addresses=${TOKEN},`, 'contract_addresses.1', INVALID_ADDRESS],
  [
    'cursor=null',
    'cursor',
    'cursor must be the cursor of an earlier page of this query, unchanged, "null" was given',
  ],
  ['cursor=%00x', '', 'URL must not contain a NUL character (%00)'],
  ['chain=%zz', '', 'URL has a malformed percent-encoding'],
  ['chain=%E0%A4', '', 'URL has a malformed percent-encoding'],
];

describe('400', () => {
  test.each(badAddresses)('for the address %j', async (address) => {
    const response = await app.request(`/demo/${address}/rows`);
    expect(response.status).toBe(400);
    const body = await errorOf(response);
    expect(body.message).toBe(INVALID_ADDRESS);
    expect(body.details?.errors?.[0]).toMatchObject({ parameter: 'address', given: decodeURIComponent(address) });
  });

  test.each(badQueries)('for %s', async (query, parameter, message) => {
    const response = await app.request(`${rows}?${query}`);
    expect(response.status).toBe(400);
    const body = await errorOf(response);
    expect(body.message).toBe(message);
    if (parameter !== '') expect(body.details?.errors?.map((error) => error.parameter)).toEqual([parameter]);
  });

  test('names every parameter that is wrong', async () => {
    const body = await errorOf(await app.request(`${rows}?limit=0&order=up&chain=nope`));
    expect(body.details?.errors?.map((error) => error.parameter).sort()).toEqual(['chain', 'limit', 'order']);
    expect(body.message).toBe(
      `chain ${CHAIN}, "nope" was given, limit ${LIMIT}, "0" was given, order must be ASC or DESC, "up" was given`,
    );
  });

  test('repeats only the beginning of what was given', async () => {
    const body = await errorOf(await app.request(`${rows}?order=${'x'.repeat(5_000)}`));
    expect(body.message.length).toBeLessThan(300);
    expect(body.message).toContain('xxx…');
  });

  test('for more items than an array parameter may have', async () => {
    const many = Array.from({ length: 101 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
    const response = await app.request(`${rows}?contract_addresses=${many.join(',')}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain('contract_addresses: at most 100 items');
  });

  test.each([
    ['a list for a body', '[]', 'body'],
    ['an empty body', '', 'name'],
    ['a missing member', '{}', 'name'],
    ['a member of another type', '{"name":5}', 'name'],
    ['a text that is too long', `{"name":"${'x'.repeat(21)}"}`, 'name'],
    ['a fraction for a whole number', '{"name":"x","size":1.5}', 'size'],
  ])('for %s', async (_name, body, parameter) => {
    const response = await postThing(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).details?.errors?.[0]?.parameter).toBe(parameter);
  });

  test.each(['{', 'null,', '{"name":}'])('for the malformed JSON %j', async (body) => {
    const response = await postThing(body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe('Malformed JSON in request body');
  });
});

describe('other refusals', () => {
  test.each([
    ['GET', '/nope'],
    ['GET', '/demo'],
    ['GET', `${rows}/more`],
    ['POST', '/nope'],
    ['GET', '/docs/../package.json'],
    ['GET', '/docs/%2e%2e%2fpackage.json'],
    ['GET', '/docs/index.js'],
  ])('404 for %s %s', async (method, path) => {
    const response = await app.request(path, { method });
    expect(response.status).toBe(404);
    expect((await errorOf(response)).message).toMatch(/^No route for /);
  });

  test.each([
    ['POST', rows, 'GET, HEAD'],
    ['DELETE', rows, 'GET, HEAD'],
    ['OPTIONS', rows, 'GET, HEAD'],
    ['GET', '/demo/things', 'POST'],
    ['HEAD', '/demo/things', 'POST'],
    ['PUT', '/health', 'GET, HEAD'],
  ])('405 for %s %s', async (method, path, allow) => {
    const response = await app.request(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
  });

  // Invariant: HTTP-BODY-BOUNDED
  test('413 for a body above the limit, stated or not', async () => {
    const body = `{"name":"${'x'.repeat(2_000)}"}`;
    const stated = await postThing(body, { 'content-length': String(body.length) });
    expect(stated.status).toBe(413);
    expect(await errorOf(stated)).toEqual({
      message: 'Request body is larger than 1000 bytes',
      details: { limit_bytes: 1_000 },
    });
    expect((await postThing(body)).status).toBe(413);
  });

  test('415 for a body of another type', async () => {
    const response = await app.request('/demo/things', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{"name":"x"}',
    });
    expect(response.status).toBe(415);
    expect((await errorOf(response)).message).toBe('Unsupported Media Type');
  });

  test('500 without a word of the cause', async () => {
    const response = await app.request('/demo/broken');
    expect(response.status).toBe(500);
    expect(await errorOf(response)).toEqual({ message: 'Internal error' });
  });

  test('503 for what may work later, without a word of the cause', async () => {
    const response = await app.request('/demo/database-away');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await errorOf(response)).toEqual({ message: 'Temporarily unavailable' });
  });

  test('503 for a request that takes too long', async () => {
    const impatient = createDemoApi({
      limits: { bodyBytesMax: 1_000, pageLimitMax: 50, requestTimeoutMs: 20, rateLimit: null },
    });
    const response = await impatient.app.request('/demo/slow');
    impatient.release();
    expect(response.status).toBe(503);
    expect((await errorOf(response)).message).toBe('The request took too long');
  });

  test('unknown parameters are no refusal', async () => {
    const response = await app.request(`${rows}?utm_source=x&a[b]=c&__proto__[x]=1&constructor=1&format=decimal`);
    expect(response.status).toBe(200);
  });
});

function postThing(body: string, headers: Record<string, string> = {}): Response | Promise<Response> {
  return app.request('/demo/things', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

describe('a body that is small as bytes and large as values', () => {
  // Invariant: HTTP-BODY-BOUNDED
  test('is refused before it is parsed', async () => {
    const wide = createDemoApi({ limits: { ...LIMITS, bodyBytesMax: 1_000_000 } });
    const post = (body: string) =>
      wide.app.request('/demo/things', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const many = await post(`{"name":"x","more":[${'{},'.repeat(20_000)}{}]}`);
    expect([many.status, (await errorOf(many)).message]).toEqual([
      413,
      'JSON holds more than 10000 values. Send it in several requests',
    ]);
    const deep = await post(`{"name":${'['.repeat(65)}${']'.repeat(65)}}`);
    expect([deep.status, (await errorOf(deep)).message]).toEqual([
      400,
      'JSON is nested deeper than 64 levels. Send it with fewer levels',
    ]);
    const long = await post(JSON.stringify({ name: 'x'.repeat(262_144) }));
    expect([long.status, (await errorOf(long)).message]).toEqual([
      413,
      'Request body is larger than 262144 bytes',
    ]);
  });

  test('takes room of its key until it is answered, values included', async () => {
    const taken: number[] = [];
    const bodies = {
      take: (_key: string, bytes: number) => taken.push(bytes) > 0,
      give: (_key: string, bytes: number) => taken.push(-bytes),
      keyBytesMax: 1_000,
      rowBytesMax: 1_000,
      used: 0,
    };
    const { app: counted } = createDemoApi({ bodies });
    const body = '{"name":"x","more":[{},{},{},{},{}]}';
    await counted.request('/demo/things', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const values = bytesOfValues(8, body.length);
    expect(values).toBeGreaterThan(0);
    expect(taken).toEqual([body.length, values, -(body.length + values)]);
  });

  test('is documented with its bounds', async () => {
    const response = await app.request('/openapi.json');
    const { paths } = (await response.json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
    };
    expect(paths['/demo/things']?.post).toMatchObject({
      'x-body-bytes-max': 262_144,
      'x-body-values-max': 10_000,
    });
  });
});

test('of many problems ten are told, each shortened', () => {
  const given = Array.from({ length: 1_000 }, () => ({ deep: 'x'.repeat(1_000) }));
  const problems = Array.from({ length: 50 }, (_, n) => ({
    parameter: `${n}`.repeat(500),
    given,
    allowed: 'less',
  }));
  const { message, details } = new InvalidParameterError(...problems);
  expect(details?.errors).toHaveLength(10);
  expect(message.length).toBeLessThan(10 * 500);
  expect(JSON.stringify(details).length).toBeLessThan(10 * 500);
});

test.each(['40P01', '40001'])('a statement that Postgres aborts with %s may be retried', (code) => {
  const { status, headers } = answerTo(Object.assign(new Error('aborted'), { code }));
  expect([status, headers]).toEqual([503, { 'retry-after': '1' }]);
});

test('a text that Postgres can’t hold is the client’s doing', () => {
  const { status } = answerTo(
    Object.assign(new Error('invalid byte sequence for encoding "UTF8": 0x00'), { code: '22021' }),
  );
  expect(status).toBe(400);
});
