import { describe, expect, test, vi } from 'vitest';
import { RpcCallError, UpstreamsExhaustedError } from './errors.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, ofSilence, startedPool } from './testing/test-pool.ts';
import type { FaultKind } from './upstream-pool.ts';

function only(method: string, answer: Scripted): ScriptedNode['script'] {
  return (call) => (call.method === method ? answer : undefined);
}

describe('a fault of one upstream is not seen while another can answer', () => {
  test.each<[string, Scripted, FaultKind]>([
    ['a body that is not JSON', { http: { status: 200, body: '<html>busy</html>' } }, 'not-json'],
    ['a cut-off body', { http: { status: 200, body: '{"jsonrpc":"2.0","id":1,"resu' } }, 'truncated'],
    ['an HTTP error', { http: { status: 502, body: 'Bad Gateway' } }, 'http-status'],
    [
      'an HTTP error with a JSON-RPC error in it',
      { http: { status: 500, body: '{"error":{"code":-32603,"message":"oops"}}' } },
      'rpc-error',
    ],
    ['an error inside HTTP 200', { error: { code: -32603, message: 'Internal error' } }, 'rpc-error'],
    ['neither result nor error', { http: { status: 200, body: '{"jsonrpc":"2.0","id":1}' } }, 'malformed'],
    [
      'the answer to another call',
      { http: { status: 200, body: '{"jsonrpc":"2.0","id":999,"result":"0x5"}' } },
      'malformed',
    ],
    ['a broken connection', 'disconnect', 'connection'],
    ['silence', 'hang', 'timeout'],
    [
      'a throttle inside HTTP 200',
      { error: { code: 429, message: 'exceeded its compute units per second' } },
      'rate-limited',
    ],
    ['HTTP 429', { http: { status: 429, body: 'slow down', headers: { 'retry-after': '60' } } }, 'rate-limited'],
    [
      'a body larger than allowed',
      { http: { status: 200, body: `{"result":"${'x'.repeat(300_000)}"}` } },
      'range-limit',
    ],
  ])('%s', async (_what, answer, kind) => {
    const ill = await node(100);
    const well = await node(100);
    const pool = await startedPool([ill, well], { limits: { ...ofSilence(answer), responseBytesMax: 200_000 } });
    ill.script = only('eth_gasPrice', answer);
    well.script = only('eth_gasPrice', { result: '0x5' });
    for (let call = 0; call < 3; call++) {
      const { value, upstream } = await pool.request('eth_gasPrice', []);
      expect([value, upstream]).toEqual(['0x5', well.name]);
    }
    const error = await errorOf(pool.request('eth_gasPrice', [], { only: ill.name }));
    expect(error).toBeInstanceOf(UpstreamsExhaustedError);
    expect(faultsOf(pool, ill.name)[kind]).toBeGreaterThan(0);
  });
});

test('when all fail the error lists what each did last', async () => {
  const one = await node(100);
  const two = await node(100);
  const pool = await startedPool([one, two]);
  one.script = only('eth_gasPrice', { http: { status: 503, body: 'down for maintenance' } });
  two.script = only('eth_gasPrice', { error: { code: -32000, message: 'database is locked' } });
  const error = await errorOf(pool.request('eth_gasPrice', []));
  expect(error).toMatchObject({ code: 'UPSTREAMS_EXHAUSTED', retryable: true });
  expect(String(error)).toContain(`${one.name}: http-status: HTTP 503: down for maintenance`);
  expect(String(error)).toContain(`${two.name}: rpc-error: database is locked`);
});

test('an error of the call itself is passed on with code and data, and nobody else is asked', async () => {
  const one = await node(100);
  const two = await node(100);
  const pool = await startedPool([one, two]);
  const revert: Scripted = { error: { code: 3, message: 'execution reverted: no', data: '0x08c379a0' } };
  one.script = only('eth_call', revert);
  two.script = only('eth_call', revert);
  const error = await errorOf(pool.request('eth_call', [{}, 'latest']));
  expect(error).toBeInstanceOf(RpcCallError);
  expect(error).toMatchObject({ rpcCode: 3, rpcMessage: 'execution reverted: no', rpcData: '0x08c379a0' });
  expect(one.count('eth_call') + two.count('eth_call')).toBe(1);
});

test('parameters that one client refuses are tried on one other', async () => {
  const strict = await node(100);
  const lax = await node(100);
  const pool = await startedPool([strict, lax]);
  strict.script = only('eth_call', { error: { code: -32602, message: 'invalid argument 0' } });
  lax.script = only('eth_call', { result: '0x01' });
  expect((await pool.request('eth_call', [{}])).value).toBe('0x01');
  lax.script = strict.script;
  expect(await errorOf(pool.request('eth_call', [{}]))).toMatchObject({ rpcCode: -32602 });
});

test('a method that one upstream lacks is asked of the others, and not of it again', async () => {
  const poor = await node(100);
  const rich = await node(100);
  const pool = await startedPool([poor, rich]);
  rich.script = only('trace_block', { result: [] });
  for (let call = 0; call < 6; call++)
    expect((await pool.request('trace_block', ['0x1'])).upstream).toBe(rich.name);
  expect(poor.count('trace_block')).toBeLessThanOrEqual(1);
  expect(await errorOf(pool.request('eth_noSuchMethod', []))).toMatchObject({
    code: 'RPC_CALL',
    rpcCode: -32601,
  });
});

test('an execution timeout inside a trace result sends the trace elsewhere', async () => {
  const slow = await node(100);
  const well = await node(100);
  const pool = await startedPool([slow, well]);
  slow.script = only('debug_traceBlockByNumber', { result: [{ error: 'execution timeout' }] });
  well.script = only('debug_traceBlockByNumber', { result: [{ result: {} }] });
  for (let call = 0; call < 4; call++)
    expect((await pool.request('debug_traceBlockByNumber', ['0x1', {}])).upstream).toBe(well.name);
  expect(pool.status().find(({ name }) => name === well.name)?.capabilities.traces).toBe('debug');
});

test('null for a receipt is passed on only after another upstream says it too', async () => {
  const behind = await node(100);
  const well = await node(100);
  const pool = await startedPool([behind, well]);
  behind.script = only('eth_getTransactionReceipt', { result: null });
  well.script = only('eth_getTransactionReceipt', { result: { ok: true } });
  for (let call = 0; call < 4; call++)
    expect((await pool.request('eth_getTransactionReceipt', ['0x1'])).value).toEqual({ ok: true });
  well.script = behind.script;
  expect((await pool.request('eth_getTransactionReceipt', ['0x1'])).value).toBeNull();
});

test('Retry-After is honoured: a single upstream is left alone for that long, then asked again', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  let throttledAt = 0;
  let requestedAgainAfter = 0;
  one.script = ({ method }) => {
    if (method !== 'eth_gasPrice') return undefined;
    if (throttledAt === 0) {
      throttledAt = performance.now();
      return { http: { status: 429, body: 'slow down', headers: { 'retry-after': '1' } } };
    }
    requestedAgainAfter ||= performance.now() - throttledAt;
    return { result: '0x7' };
  };
  expect((await pool.request('eth_gasPrice', [])).value).toBe('0x7');
  expect(requestedAgainAfter).toBeGreaterThanOrEqual(990);
});

test('a single upstream that fails for a while is never out for good', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  one.script = () => ({ http: { status: 500, body: 'broken' } });
  for (let call = 0; call < 5; call++) await errorOf(pool.request('eth_gasPrice', []));
  expect(pool.status()[0]?.state).toBe('open-circuit');
  one.script = only('eth_gasPrice', { result: '0x7' });
  expect((await pool.request('eth_gasPrice', [])).value).toBe('0x7');
  expect(pool.status()[0]?.state).not.toBe('open-circuit');
});

test('an open circuit closes by a probe, without traffic', async () => {
  const ill = await node(100);
  const well = await node(100);
  const pool = await startedPool([ill, well]);
  ill.script = () => ({ http: { status: 500, body: 'broken' } });
  for (let call = 0; call < 4; call++) await errorOf(pool.request('eth_gasPrice', [], { only: ill.name }));
  expect(pool.status()[0]?.state).toBe('open-circuit');
  const before = ill.received.length;
  ill.script = () => undefined;
  await vi.waitFor(() => expect(pool.status()[0]?.state).not.toBe('open-circuit'));
  expect(ill.received.slice(before).every(({ method }) => method === 'eth_chainId')).toBe(true);
});

test('a key that is refused later leaves the upstream out, with the reason for the operator, until it is accepted', async () => {
  const one = await node(100);
  const two = await node(100);
  // No head polls meanwhile: they would be refused too.
  const pool = await startedPool([one, two], { pollIntervalMs: 60_000 });
  one.script = () => ({ http: { status: 401, body: '{"message":"key is inactive"}' } });
  two.script = only('eth_gasPrice', { result: '0x5' });
  await errorOf(pool.request('eth_gasPrice', [], { only: one.name }));
  expect(pool.status()[0]).toMatchObject({ state: 'disabled', faults: { unauthorized: 1 } });
  expect(pool.status()[0]?.reason).toContain('key is inactive');
  one.script = () => undefined;
  await vi.waitFor(() => expect(pool.status()[0]?.state).toBe('healthy'));
});

test('a hedged call asks a second upstream when the first takes longer than usual, and takes the first answer', async () => {
  const one = await node(100);
  const two = await node(100);
  const pool = await startedPool([one, two], { limits: { attemptTimeoutMs: 5_000 } });
  for (const upstream of [one, two]) {
    upstream.script = only('eth_gasPrice', { result: '0x1' });
    for (let call = 0; call < 5; call++) await pool.request('eth_gasPrice', [], { only: upstream.name });
  }
  let slow: string | null = null;
  const script =
    (name: string): ScriptedNode['script'] =>
    ({ method }) => {
      if (method !== 'eth_gasPrice') return undefined;
      slow ??= name;
      return slow === name ? 'hang' : { result: '0x2' };
    };
  one.script = script(one.name);
  two.script = script(two.name);
  const { value, upstream } = await pool.request('eth_gasPrice', [], { hedge: true });
  expect(value).toBe('0x2');
  expect(upstream).not.toBe(slow);
  expect(faultsOf(pool, slow ?? '')).toEqual({});
});

test('a block is read from a second upstream while the first is silent, which is blamed once its own time is over', async () => {
  const one = await node(100);
  const two = await node(100);
  const pool = await startedPool([one, two], { limits: { attemptTimeoutMs: 1_000, hangMinMs: 30 } });
  let silent: string | null = null;
  const script =
    (name: string): ScriptedNode['script'] =>
    ({ method }) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      silent ??= name;
      return silent === name ? 'hang' : undefined;
    };
  one.script = script(one.name);
  two.script = script(two.name);
  const block = await pool.getBlock(50);
  expect(block?.value.header.number).toBe(50);
  expect(block?.upstream).not.toBe(silent);
  expect(faultsOf(pool, silent ?? '')).toEqual({});
  await vi.waitFor(() => expect(faultsOf(pool, silent ?? '')).toEqual({ timeout: 1 }));
});

test('an aborted request ends at once and is no fault of the upstream', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  one.script = only('eth_gasPrice', 'hang');
  const controller = new AbortController();
  const request = errorOf(pool.request('eth_gasPrice', [], { signal: controller.signal }));
  await vi.waitFor(() => expect(one.count('eth_gasPrice')).toBe(1));
  controller.abort();
  expect(await request).toMatchObject({ code: 'REQUEST_ABORTED' });
  expect(faultsOf(pool, one.name)).toEqual({});
});

test('no more requests are in flight than an upstream allows', async () => {
  const one = await node(100);
  const pool = await startedPool([{ url: one.url, concurrency: 3 }]);
  let inFlight = 0;
  let most = 0;
  one.script = async ({ method }) => {
    if (method !== 'eth_gasPrice') return undefined;
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight--;
    return { result: '0x1' };
  };
  await Promise.all(Array.from({ length: 20 }, () => pool.request('eth_gasPrice', [])));
  expect(most).toBe(3);
});

test('requests keep to the rate that the operator gave', async () => {
  const one = await node(100);
  const pool = await startedPool([{ url: one.url, requestsPerSecond: 40 }]);
  one.script = only('eth_gasPrice', { result: '0x1' });
  const started = performance.now();
  await Promise.all(Array.from({ length: 60 }, () => pool.request('eth_gasPrice', [])));
  expect(performance.now() - started).toBeGreaterThan(400);
});

test('a transaction that is already known because its first send was lost counts as sent', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  let sends = 0;
  one.script = ({ method }) => {
    if (method !== 'eth_sendRawTransaction') return undefined;
    return ++sends === 1
      ? { http: { status: 502, body: '' } }
      : { error: { code: -32000, message: 'already known' } };
  };
  // keccak-256 of the single byte 0x01.
  expect((await pool.request('eth_sendRawTransaction', ['0x01'])).value).toBe(
    '0x5fe7f977e71dba2ea1a68e21057beebb9be2ac30c6410aa38d4f3fbe41dcffd2',
  );
  expect(await errorOf(pool.request('eth_sendRawTransaction', ['0x01']))).toMatchObject({
    rpcMessage: 'already known',
  });
});

test('a refusal that is not about the method stays retryable, even where it is marked as unsupported', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  one.script = only('eth_getLogs', { error: { code: -32005, message: 'limit exceeded' } });
  const error = await errorOf(pool.getLogs({ range: { from: 1, to: 5 }, topics: [] }));
  expect(error).toMatchObject({ code: 'UPSTREAMS_EXHAUSTED', retryable: true });
  one.script = () => undefined;
  expect((await pool.getLogs({ range: { from: 1, to: 5 }, topics: [] })).logs).toHaveLength(5);
});
