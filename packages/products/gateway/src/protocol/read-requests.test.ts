import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idText, idTexts, type ReadRequest, readRequests } from './read-requests.ts';
import { BATCH_MAX } from './rpc-errors.ts';

const CALL = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

function single(text: string): ReadRequest {
  const body = readRequests(text);
  if (body.kind !== 'single') throw new Error(`${text} is a ${body.kind}`);
  return body.request;
}

/** Returns the code and id text of the refusal of a body. */
function refusal(text: string): readonly [code: number, id: string] {
  const request = single(text);
  if (!('error' in request)) throw new Error(`${text} was accepted`);
  return [request.error.code, request.id];
}

describe('a request', () => {
  test('is read with its id as it was written', () => {
    for (const id of [
      '1',
      '0',
      '-7',
      '1.0',
      '1e3',
      '123456789012345678901234567890',
      '"a"',
      '"\\u00e9 \\" \\\\"',
      '""',
      'null',
    ])
      expect(single(`{ "jsonrpc" : "2.0", "params":[{"id":9}], "method":"eth_x","id" :\t${id} }`)).toEqual({
        id,
        method: 'eth_x',
        params: [{ id: 9 }],
      });
  });

  test('without an id is a notification', () => {
    expect(single('{"jsonrpc":"2.0","method":"eth_x","params":[{"id":1}]}')).toMatchObject({ id: null });
  });

  test('may leave its parameters out', () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"method":"m"}',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":null}',
    ])
      expect(single(text)).toEqual({ id: '1', method: 'm', params: [] });
  });

  test.each([
    ['', -32_700, 'null'],
    ['{', -32_700, 'null'],
    ['{"jsonrpc":"2.0","id":1,"method":"m"}x', -32_700, 'null'],
    ['1', -32_600, 'null'],
    ['"text"', -32_600, 'null'],
    ['null', -32_600, 'null'],
    ['{}', -32_600, 'null'],
    ['[]', -32_600, 'null'],
    ['{"jsonrpc":"1.0","id":5,"method":"m"}', -32_600, '5'],
    ['{"jsonrpc":2.0,"id":5,"method":"m"}', -32_600, '5'],
    ['{"id":"x","method":"m"}', -32_600, '"x"'],
    ['{"jsonrpc":"2.0","id":5}', -32_600, '5'],
    ['{"jsonrpc":"2.0","id":5,"method":""}', -32_600, '5'],
    ['{"jsonrpc":"2.0","id":5,"method":7}', -32_600, '5'],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', -32_600, 'null'],
    ['{"jsonrpc":"2.0","id":[1],"method":"m"}', -32_600, 'null'],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', -32_600, 'null'],
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":1}}', -32_602, '5'],
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":"x"}', -32_602, '5'],
  ])('%s is refused with %d and id %s', (text, code, id) => {
    expect(refusal(text)).toEqual([code, id]);
  });
});

describe('a batch', () => {
  test('keeps order and ids, each element by itself', () => {
    const text = `[ {"jsonrpc":"2.0","id":1.0,"method":"a"} , 3, {"jsonrpc":"2.0","id":"z","method":"b","params":["]"]},[] , {"id":7},{"jsonrpc":"2.0","method":"n"}]`;
    const body = readRequests(text);
    if (body.kind !== 'batch') throw new Error('Not a batch');
    expect(body.requests.map(({ id }) => id)).toEqual(['1.0', 'null', '"z"', 'null', '7', null]);
    expect(body.requests.map((request) => ('error' in request ? request.error.code : request.method))).toEqual([
      'a',
      -32_600,
      'b',
      -32_600,
      -32_600,
      'n',
    ]);
  });

  test('may have twenty elements', () => {
    expect(readRequests(JSON.stringify(Array(BATCH_MAX).fill(CALL)))).toMatchObject({ kind: 'batch' });
    expect(readRequests(JSON.stringify(Array(BATCH_MAX + 1).fill(CALL)))).toEqual({ kind: 'batch-too-large' });
  });
});

describe('any body', () => {
  /** Request-like bodies, truncated, doubled and overwritten at random places. */
  const mutated = fc
    .record({
      body: fc.oneof(
        fc.record(
          {
            jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
            id: fc.jsonValue(),
            method: fc.oneof(fc.constant('eth_call'), fc.jsonValue()),
            params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
          },
          { requiredKeys: [] },
        ),
        fc.array(fc.oneof(fc.constant(CALL), fc.jsonValue()), { maxLength: 25 }),
        fc.jsonValue(),
      ),
      at: fc.nat(200),
      cut: fc.nat(3),
      insert: fc.oneof(fc.constant(''), fc.constantFrom('"', '{', '}', '[', ']', ',', '\\', '\0', '1e999')),
    })
    .map(({ body, at, cut, insert }) => {
      const text = JSON.stringify(body);
      return text.slice(0, at) + insert + text.slice(at + cut);
    });

  test('is read without an error, and ids are JSON', () => {
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string(), fc.json()), (text) => {
        const body = readRequests(text);
        const requests = body.kind === 'single' ? [body.request] : body.kind === 'batch' ? body.requests : [];
        for (const { id } of requests) expect(() => JSON.parse(id ?? 'null')).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });

  test('is searched for ids as JSON.parse reads them', () => {
    const object = fc.dictionary(fc.oneof(fc.constant('id'), fc.string()), fc.jsonValue());
    const spaced = fc.tuple(fc.array(fc.oneof(object, fc.jsonValue())), fc.constantFrom(0, 1, 4));
    fc.assert(
      fc.property(spaced, ([items, spaces]) => {
        const ids = idTexts(JSON.stringify(items, null, spaces));
        const expected = items.map((item) =>
          typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, 'id')
            ? JSON.stringify(Reflect.get(item, 'id'))
            : null,
        );
        expect(ids.map((id) => (id === null ? null : JSON.stringify(JSON.parse(id))))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('nested as deep as it is long is no trouble', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(single(`{"jsonrpc":"2.0","id":3,"method":"m","params":${deep}}`)).toMatchObject({ id: '3' });
    expect(idText(`{"a":${deep},"id":4}`)).toBe('4');
  });
});
