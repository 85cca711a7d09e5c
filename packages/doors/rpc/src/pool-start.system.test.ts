import { expect, test, vi } from 'vitest';
import { NoUpstreamError } from './errors.ts';
import { errorOf, faultsOf, node, pool, startedPool } from './testing/test-pool.ts';

test('an upstream on the wrong chain is refused by name, and the others are used', async () => {
  const right = await node(100);
  const wrong = await node(100, { chainId: 137 });
  const started = await startedPool([wrong, right]);
  const [first, second] = started.status();
  expect(first).toMatchObject({ name: wrong.name, state: 'disabled', faults: { 'wrong-chain': 1 } });
  expect(first?.reason).toContain('137');
  expect(second).toMatchObject({ name: right.name, state: 'healthy' });
  expect((await started.request('eth_blockNumber', [])).upstream).toBe(right.name);
});

test('an alias id is accepted', async () => {
  const alias = await node(100, { chainId: 2021 });
  const started = await startedPool([alias], { chain: { aliasIds: [2021] } });
  expect(started.status()[0]?.state).toBe('healthy');
});

test('start fails, naming each upstream and why, when all are refused', async () => {
  const wrong = await node(100, { chainId: 56 });
  const locked = await node(100);
  locked.script = () => ({ http: { status: 401, body: '{"error":"Must be authenticated!"}' } });
  const error = await errorOf(pool([wrong, locked]).start());
  expect(error).toBeInstanceOf(NoUpstreamError);
  expect(error).toMatchObject({ retryable: false });
  expect(String(error)).toContain(`${wrong.name}: is on the wrong chain: answers chain id 56`);
  expect(String(error)).toContain(`${locked.name}: refused by the provider`);
});

test('start fails after a bounded wait when nobody answers', async () => {
  const deaf = await node(100);
  deaf.script = () => 'hang';
  const started = performance.now();
  const error = await errorOf(pool([deaf], { limits: { attemptTimeoutMs: 100, startTimeoutMs: 400 } }).start());
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(error).toMatchObject({ code: 'NO_UPSTREAM', retryable: true });
  expect(String(error)).toContain('timeout');
});

test('an upstream that is down at start is let in once it answers', async () => {
  const up = await node(100);
  const down = await node(100);
  down.script = () => 'disconnect';
  const started = await startedPool([down, up]);
  expect(started.status()[0]?.state).toBe('disabled');
  down.script = () => undefined;
  await vi.waitFor(() => expect(started.status()[0]?.state).toBe('healthy'));
});

test('an upstream that is on the wrong chain at its second coming stays out', async () => {
  const up = await node(100);
  const down = await node(100, { chainId: 5 });
  down.script = () => 'disconnect';
  const started = await startedPool([down, up]);
  down.script = () => undefined;
  await vi.waitFor(() => expect(faultsOf(started, down.name)['wrong-chain']).toBeGreaterThan(0));
  expect(started.status()[0]?.state).toBe('disabled');
});

test('capabilities are probed: batches and eth_getBlockReceipts', async () => {
  const able = await node(100);
  const plain = await node(100);
  plain.batches = false;
  plain.script = ({ method }) =>
    method === 'eth_getBlockReceipts'
      ? { error: { code: -32601, message: `the method ${method} does not exist` } }
      : undefined;
  const started = await startedPool([able, plain]);
  expect(started.status().map(({ capabilities }) => [capabilities.batch, capabilities.blockReceipts])).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('upstreams are named by host and port, numbered where that repeats, and no key is shown anywhere', async () => {
  const one = await node(100);
  one.script = ({ method }) =>
    method === 'eth_call' ? { error: { code: -32603, message: `bad key secret-key-0123456789` } } : undefined;
  const started = await startedPool([one, one]);
  expect(started.status().map(({ name }) => name)).toEqual([one.name, `${one.name}#2`]);
  const error = await errorOf(started.request('eth_call', [{}, 'latest']));
  const metrics = await started.registry.metrics();
  expect(`${error} ${JSON.stringify(started.status())} ${metrics}`).not.toContain('secret-key');
});

test('no upstream at all is said at start', async () => {
  await expect(pool([]).start()).rejects.toThrow('none is configured');
});
