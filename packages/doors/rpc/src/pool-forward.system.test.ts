import { describe, expect, test, vi } from 'vitest';
import { RpcCallError, UpstreamsExhaustedError } from './errors.ts';
import type { RawCall, RawResult } from './forwarding-pool.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, ofSilence, startedPool } from './testing/test-pool.ts';
import type { FaultKind } from './upstream-pool.ts';

function only(method: string, answer: Scripted): ScriptedNode['script'] {
  return (call) => (call.method === method ? answer : undefined);
}

function rawCall(method: string, params: string, more: Partial<RawCall> = {}): RawCall {
  return { method, params, nullable: false, block: null, ...more };
}

const GAS_PRICE = rawCall('eth_gasPrice', '[]');

function textOf(result: RawResult): string {
  if (!Buffer.isBuffer(result)) throw new Error('it came in pieces');
  return result.toString();
}

describe('a fault of one upstream is passed over within one forwarded call', () => {
  test.each<[string, Scripted, FaultKind]>([
    ['a body that is not JSON', { http: { status: 200, body: '<html>busy</html>' } }, 'not-json'],
    ['a cut-off body', { http: { status: 200, body: '{"jsonrpc":"2.0","id":1,"result":{"a":{}' } }, 'truncated'],
    ['a body cut off at a bracket', { http: { status: 200, body: '{"result":{"a":{}}' } }, 'truncated'],
    ['an HTTP error', { http: { status: 502, body: 'Bad Gateway' } }, 'http-status'],
    ['an HTTP error with a result in it', { http: { status: 500, body: '{"result":"0x6"}' } }, 'http-status'],
    ['an error inside HTTP 200', { error: { code: -32603, message: 'Internal error' } }, 'rpc-error'],
    ['neither result nor error', { http: { status: 200, body: '{"jsonrpc":"2.0","id":1}' } }, 'malformed'],
    [
      'the answer to another call',
      { http: { status: 200, body: '{"jsonrpc":"2.0","id":999,"result":"0x6"}' } },
      'malformed',
    ],
    ['a list of two', { http: { status: 200, body: '[{"result":"0x6"},{"result":"0x7"}]' } }, 'malformed'],
    ['a broken connection', 'disconnect', 'connection'],
    ['silence', 'hang', 'timeout'],
    [
      'a throttle inside HTTP 200',
      { error: { code: 429, message: 'exceeded its compute units per second' } },
      'rate-limited',
    ],
    [
      'a body larger than allowed',
      { http: { status: 200, body: `{"x":"${'x'.repeat(300_000)}"}` } },
      'range-limit',
    ],
  ])('%s', async (_what, answer, kind) => {
    const ill = await node(100);
    const well = await node(100);
    // One at a time there, so that concurrent calls also try the other upstream, whichever scores better.
    const pool = await startedPool([ill, { url: well.url, concurrency: 1 }], {
      limits: { ...ofSilence(answer), responseBytesMax: 200_000 },
    });
    ill.script = only('eth_gasPrice', answer);
    well.script = only('eth_gasPrice', { result: '0x5' });
    const answers = await Promise.all(Array.from({ length: 6 }, () => pool.forward(GAS_PRICE)));
    for (const { value, upstream } of answers) expect([textOf(value), upstream]).toEqual(['"0x5"', well.name]);
    await errorOf(pool.forward(GAS_PRICE, { only: ill.name }));
    expect(faultsOf(pool, ill.name)[kind]).toBeGreaterThan(0);
  });
});

test('parameters and result are passed on to the byte', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  const params = '[ {"to": "0xAB", "n": 12345678901234567890.0, "u": "\\u00e9é"} , "latest" ]';
  const result = '{ "b":1e400,\n"a" : "\\u0041é\\"}" , "a": 12345678901234567890 }';
  one.script = only('eth_call', { http: { status: 200, body: `{"result": ${result} ,"jsonrpc":"2.0"}` } });
  const { value } = await pool.forward(rawCall('eth_call', params));
  expect(textOf(value)).toBe(result);
  expect(one.bodies.at(-1)).toMatch(/^\{"jsonrpc":"2\.0","id":\d+,"method":"eth_call","params":/);
  expect(one.bodies.at(-1)?.endsWith(`"params":${params}}`)).toBe(true);
});

test('a verdict on the call comes as the node gave it, however long, and nobody else is asked', async () => {
  const one = await node(100);
  const two = await node(100);
  const pool = await startedPool([one, two]);
  const message = `execution reverted: ${'long '.repeat(300)}`;
  const revert: Scripted = { error: { code: 3, message, data: { reason: 'no', bytes: '0x08c379a0' } } };
  one.script = only('eth_call', revert);
  two.script = only('eth_call', revert);
  const error = await errorOf(pool.forward(rawCall('eth_call', '[{},"latest"]')));
  expect(error).toBeInstanceOf(RpcCallError);
  expect(error).toMatchObject({
    rpcCode: 3,
    rpcMessage: message,
    rpcData: { reason: 'no', bytes: '0x08c379a0' },
  });
  expect(one.count('eth_call') + two.count('eth_call')).toBe(1);
});

test('an unknown error that every upstream gives alike is about the call, and no upstream is blamed for it', async () => {
  const nodes = [await node(100), await node(100)];
  const pool = await startedPool(nodes);
  for (const one of nodes)
    one.script = only('eth_call', { error: { code: -32000, message: 'frobnication is off' } });
  for (let call = 0; call < 20; call++)
    expect(await errorOf(pool.forward(rawCall('eth_call', '[]')))).toMatchObject({
      code: 'RPC_CALL',
      rpcCode: -32000,
      rpcMessage: 'frobnication is off',
    });
  for (const { name } of nodes) expect(faultsOf(pool, name)).toEqual({});
  expect(pool.status().map(({ state }) => state)).toEqual(['healthy', 'healthy']);
});

test('what every upstream refuses for its size or range is answered with the node’s own error', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  one.script = only('eth_getLogs', { error: { code: -32602, message: 'query exceeds max results 20000' } });
  const error = await errorOf(pool.forward(rawCall('eth_getLogs', '[{}]')));
  expect(error).toMatchObject({
    code: 'RPC_CALL',
    rpcCode: -32602,
    rpcMessage: 'query exceeds max results 20000',
  });
});

test('when nobody answers, the error names what each did', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  one.script = only('eth_gasPrice', { http: { status: 503, body: 'down for maintenance' } });
  const error = await errorOf(pool.forward(GAS_PRICE));
  expect(error).toBeInstanceOf(UpstreamsExhaustedError);
  expect(String(error)).toContain('HTTP 503: down for maintenance');
});

describe('null', () => {
  const RECEIPT = rawCall('eth_getTransactionReceipt', '["0x1"]', { nullable: true });

  test('is passed on only after another upstream says it too', async () => {
    const behind = await node(100);
    const well = await node(100);
    const pool = await startedPool([behind, well]);
    behind.script = only('eth_getTransactionReceipt', { result: null });
    well.script = only('eth_getTransactionReceipt', { result: { ok: true } });
    for (let call = 0; call < 4; call++) expect(textOf((await pool.forward(RECEIPT)).value)).toBe('{"ok":true}');
    well.script = behind.script;
    expect(textOf((await pool.forward(RECEIPT)).value)).toBe('null');
  });

  test('of a block that nobody has reached is believed at once', async () => {
    const pool = await startedPool([await node(100), await node(100)]);
    const block = rawCall('eth_getBlockByNumber', '["0xffff",false]', { nullable: true, block: 0xffff });
    expect(textOf((await pool.forward(block)).value)).toBe('null');
  });

  test('of a block that nobody had reached is believed of upstreams that fail to tell their heads', async () => {
    const nodes = [await node(100), await node(100)];
    const pool = await startedPool(nodes, { pollIntervalMs: 600_000 });
    for (const one of nodes)
      one.script = only('eth_blockNumber', { http: { status: 500, body: 'internal error' } });
    const block = rawCall('eth_getBlockByNumber', '["0xffff",false]', { nullable: true, block: 0xffff });
    expect(textOf((await pool.forward(block)).value)).toBe('null');
  });

  test('of an upstream that lags is passed over for the block that another has', async () => {
    const behind = await node(90);
    const well = await node(100);
    const pool = await startedPool([behind, well]);
    for (let number = 91; number <= 100; number++) {
      const params = `["0x${number.toString(16)}",false]`;
      const { value } = await pool.forward(
        rawCall('eth_getBlockByNumber', params, { nullable: true, block: number }),
      );
      expect(JSON.parse(textOf(value))).toMatchObject({ number: `0x${number.toString(16)}` });
    }
  });

  test('where null is a value it is passed on as it is', async () => {
    const one = await node(100);
    const pool = await startedPool([one, await node(100)]);
    const answer = only('eth_getStorageAt', { result: null });
    one.script = answer;
    expect(textOf((await pool.forward(rawCall('eth_getStorageAt', '[]'), { only: one.name })).value)).toBe(
      'null',
    );
  });
});

test('an upstream that only claims to have a block is not asked about it', async () => {
  const liar = await node(100);
  const well = await node(120);
  const pool = await startedPool([liar, well]);
  liar.script = ({ method, params }) => {
    if (method === 'eth_blockNumber') return { result: '0x3e8' };
    if (method === 'eth_call') return { result: '"stale"' };
    return method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { result: null } : undefined;
  };
  well.script = only('eth_call', { result: '"fresh"' });
  for (let block = 101; block <= 120; block++) {
    const { upstream } = await pool.forward(rawCall('eth_call', '[]', { block }));
    expect(upstream).toBe(well.name);
  }
  expect(liar.count('eth_call')).toBe(0);
});

test('a block that is about to come is waited for', async () => {
  const nodes = [await node(100), await node(100)];
  const pool = await startedPool(nodes, { limits: { backOffBaseMs: 50, backOffMaxMs: 100, rounds: 50 } });
  for (const one of nodes) one.script = only('eth_call', { result: '0x' });
  const answer = pool.forward(rawCall('eth_call', '[]'), { minBlock: 101 });
  await vi.waitFor(() => expect(nodes[0]?.count('eth_blockNumber')).toBeGreaterThan(1));
  expect(nodes.map((one) => one.count('eth_call'))).toEqual([0, 0]);
  for (const one of nodes) one.head = 101;
  expect(textOf((await answer).value)).toBe('"0x"');
});

test('a forwarded call that takes longer than usual is asked of a second upstream, and the first is given up', async () => {
  const nodes = [await node(100), await node(100)];
  const pool = await startedPool(nodes, { limits: { attemptTimeoutMs: 20_000 } });
  for (const one of nodes) {
    one.script = only('eth_gasPrice', { result: '0x1' });
    for (let call = 0; call < 5; call++) await pool.forward(GAS_PRICE, { only: one.name });
  }
  let slow: string | null = null;
  for (const one of nodes)
    one.script = ({ method }) => {
      if (method !== 'eth_gasPrice') return undefined;
      slow ??= one.name;
      return slow === one.name ? 'hang' : { result: '0x2' };
    };
  const { value, upstream } = await pool.forward(GAS_PRICE, { hedge: true });
  expect(textOf(value)).toBe('"0x2"');
  expect(upstream).not.toBe(slow);
  expect(faultsOf(pool, slow ?? '')).toEqual({});
  await vi.waitFor(() => expect(nodes.find(({ name }) => name === slow)?.open).toBe(0));
});

test('three upstreams, one slow, one lying about its head, one failing one call in ten: no answer is wrong', async () => {
  const slow = await node(200);
  const liar = await node(150);
  const flaky = await node(200);
  slow.script = async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return undefined;
  };
  liar.script = ({ method }) => (method === 'eth_blockNumber' ? { result: '0x3e8' } : undefined);
  let calls = 0;
  flaky.script = () => (++calls % 10 === 0 ? { http: { status: 500, body: 'oops' } } : undefined);
  const pool = await startedPool([slow, liar, flaky], { limits: { attemptTimeoutMs: 5_000 } });
  const numbers = Array.from({ length: 400 }, (_, index) => 1 + ((index * 7) % 200));
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        const quantity = `0x${number.toString(16)}`;
        const block = rawCall('eth_getBlockByNumber', `["${quantity}",false]`, { nullable: true, block: number });
        const { value } = await pool.forward(block, { hedge: true });
        expect(JSON.parse(textOf(value))).toMatchObject({ number: quantity });
        const logs = rawCall('eth_getLogs', `[{"fromBlock":"${quantity}","toBlock":"${quantity}"}]`, {
          block: number,
        });
        expect(JSON.parse(textOf((await pool.forward(logs, { hedge: true })).value))).toHaveLength(1);
      }
    }),
  );
});

test('a call that is given up ends its request to the upstream', async () => {
  const one = await node(100);
  const pool = await startedPool([one], { limits: { attemptTimeoutMs: 20_000 } });
  one.script = only('eth_gasPrice', 'hang');
  const controller = new AbortController();
  const call = errorOf(pool.forward(GAS_PRICE, { signal: controller.signal }));
  await vi.waitFor(() => expect(one.open).toBe(1));
  controller.abort();
  expect(await call).toMatchObject({ code: 'REQUEST_ABORTED' });
  await vi.waitFor(() => expect(one.open).toBe(0));
  expect(faultsOf(pool, one.name)).toEqual({});
});
