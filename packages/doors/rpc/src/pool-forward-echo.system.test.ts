/** Nodes echo caller input in their errors: no text may exclude an upstream for other clients. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { RpcCallError } from './errors.ts';
import type { RawCall } from './forwarding-pool.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool, type TestPool } from './testing/test-pool.ts';

const PATIENT = { attemptTimeoutMs: 20_000, heavyTimeoutMs: 20_000 };
const GAS_PRICE: RawCall = { method: 'eth_gasPrice', params: '[]', nullable: false, block: null };

function callOf(written: string, method = 'eth_call'): RawCall {
  return { method, params: JSON.stringify([{ type: written }, 'latest']), nullable: false, block: null };
}

/** Phrases that the error classifier reacts to, at least one of each kind. */
const LOADED = [
  'monthly capacity limit',
  'invalid api key',
  'unauthorized',
  'token is invalid',
  'rate limit',
  'too many requests',
  '50/second request limit reached',
  'limit exceeded',
  'error code: 1015',
  'method x is not supported',
  'is disabled',
  'not implemented',
  'execution timeout',
  'header not found',
  'pruned',
  'batch size',
  'response too large',
  'block range is too large',
  'execution reverted',
  'nonce too low',
];

/** Ways in which a node may echo its input. */
const ECHOES: readonly ((written: string) => string)[] = [
  (written) => written,
  (written) => written.toUpperCase(),
  (written) => `${written.slice(0, 5)}${written.slice(5)}${written}`,
  (written) => Buffer.from(written, 'base64').toString('latin1'),
  (written) => Buffer.from(written, 'hex').toString('latin1'),
  (written) => decodeURIComponent(written.replaceAll(/%(?![0-9a-f]{2})/gi, '').replaceAll(/%[89a-f]./gi, '')),
];

const written = fc.oneof(
  fc.constantFrom(...LOADED),
  fc.constantFrom(...LOADED).map((text) => Buffer.from(text).toString('base64')),
  fc.constantFrom(...LOADED).map((text) => Buffer.from(text).toString('hex')),
  fc.constantFrom(...LOADED).map((text) => encodeURIComponent(text)),
  fc.string(),
);

const echo = fc.record({
  written,
  method: fc.constantFrom('eth_call', 'eth_estimateGas', 'eth_getLogs', 'eth_getBalance', 'eth_getBlockByNumber'),
  repeat: fc.constantFrom(...ECHOES),
  frame: fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `invalid argument 0: json: cannot unmarshal ${text} into Go value`,
    (text) => `unknown variant \`${text}\`, expected 0x0`,
  ),
  code: fc.constantFrom(
    -32600,
    -32601,
    -32602,
    -32603,
    -32700,
    -32000,
    -32004,
    -32005,
    -32015,
    -32016,
    -32052,
    3,
    35,
  ),
  isInData: fc.boolean(),
  status: fc.constantFrom(200, 200, 400, 401, 403, 404, 413, 500, 503),
  isPlain: fc.boolean(),
});

async function echoingNodes(count: number): Promise<ScriptedNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => node(100)));
  for (const one of nodes)
    one.script = ({ method }) => (method === 'eth_gasPrice' ? { result: '0x5' } : undefined);
  return nodes;
}

/** Responds to the calls of other clients as before, and to all else with the error. */
function answerStrangers(nodes: readonly ScriptedNode[], answer: Scripted): void {
  for (const one of nodes)
    one.script = ({ method, params }) => {
      if (method === 'eth_gasPrice') return { result: '0x5' };
      return JSON.stringify(params).includes('"type"') ? answer : undefined;
    };
}

function projectionsOf(pool: TestPool): unknown[] {
  return pool.status().map(({ state, reason }) => [state, reason]);
}

describe.each([1, 2])('over %d upstreams that repeat what they are given', (count) => {
  const HEALTHY = Array.from({ length: count }, () => ['healthy', null]);

  test('no call makes them unavailable to others, whatever is written in it', async () => {
    const nodes = await echoingNodes(count);
    const pool = await startedPool(nodes, { limits: PATIENT });
    await fc.assert(
      fc.asyncProperty(echo, async ({ method, repeat, frame, code, isInData, status, isPlain, ...given }) => {
        const text = frame(repeat(given.written));
        const error = isInData ? { code, message: 'Invalid params', data: text } : { code, message: text };
        const body = isPlain ? text : JSON.stringify({ jsonrpc: '2.0', id: null, error });
        answerStrangers(nodes, status === 200 && !isPlain ? { error } : { http: { status, body } });
        await errorOf(pool.forward(callOf(given.written, method), { hedge: true }));
        expect(projectionsOf(pool)).toEqual(HEALTHY);
        const before = nodes.map((one) => one.count('eth_gasPrice'));
        expect(String((await pool.forward(GAS_PRICE)).value)).toBe('"0x5"');
        // The first upstream responds: none is excluded or marked.
        expect(nodes.reduce((sum, one, index) => sum + one.count('eth_gasPrice') - (before[index] ?? 0), 0)).toBe(
          1,
        );
        for (const { name } of nodes) await pool.forward(GAS_PRICE, { only: name });
      }),
      { numRuns: 120 },
    );
    expect(await errorOf(pool.forward(callOf('x', 'eth_getBalance')))).toBeInstanceOf(Error);
  });

  test('the caller gets the node’s own error', async () => {
    const nodes = await echoingNodes(count);
    const pool = await startedPool(nodes, { limits: PATIENT });
    for (const code of [-32602, -32600, -32000, -32005]) {
      answerStrangers(nodes, { error: { code, message: 'bad type "monthly capacity limit"' } });
      const error = await errorOf(pool.forward(callOf('monthly capacity limit')));
      expect(error).toBeInstanceOf(RpcCallError);
      expect(error).toMatchObject({ rpcCode: code, rpcMessage: 'bad type "monthly capacity limit"' });
    }
    expect(projectionsOf(pool)).toEqual(HEALTHY);
  });

  test('a text that a contract wrote changes nothing for this program’s own calls', async () => {
    const nodes = await echoingNodes(count);
    const pool = await startedPool(nodes, { limits: PATIENT });
    for (const message of [
      'VM execution error (monthly capacity limit)',
      'invalid api key',
      'too many requests',
    ]) {
      answerStrangers(nodes, { error: { code: -32000, message } });
      await errorOf(pool.request('eth_call', [{ type: '0x0' }, 'latest']));
      expect(projectionsOf(pool)).toEqual(HEALTHY);
    }
  });

  test('many calls at once that nodes fail at open no circuit', async () => {
    const nodes = await echoingNodes(count);
    const pool = await startedPool(nodes, { limits: PATIENT });
    for (const answer of ['disconnect', { http: { status: 500, body: 'panic' } }] as const) {
      answerStrangers(nodes, answer);
      await Promise.all(Array.from({ length: 30 }, () => errorOf(pool.forward(callOf('0x7f')))));
      expect(pool.status().map(({ state }) => state)).not.toContain('open-circuit');
      expect(String((await pool.forward(GAS_PRICE)).value)).toBe('"0x5"');
    }
  });
});

describe('an upstream that really refuses', () => {
  const REFUSALS: readonly [string, Scripted, string][] = [
    ['HTTP 401', { http: { status: 401, body: 'Must be authenticated!' } }, 'disabled'],
    ['HTTP 403', { http: { status: 403, body: 'Forbidden' } }, 'disabled'],
    ['HTTP 402', { http: { status: 402, body: 'Payment Required' } }, 'degraded'],
    ['HTTP 429', { http: { status: 429, body: '', headers: { 'retry-after': '30' } } }, 'degraded'],
    [
      'its key in HTTP 200',
      { error: { code: -32052, message: 'API key is not allowed to access method' } },
      'disabled',
    ],
    ['for the month', { error: { code: -32000, message: 'Monthly capacity limit exceeded' } }, 'degraded'],
    ['for its rate', { error: { code: -32005, message: 'project ID request rate exceeded' } }, 'degraded'],
  ];

  test.each(REFUSALS)(
    'with %s is left out after one call, which another answers',
    async (_what, answer, state) => {
      const [ill, well] = await echoingNodes(2);
      if (ill === undefined || well === undefined) throw new Error('two nodes');
      const pool = await startedPool([ill, well], { limits: { ...PATIENT, recheckMs: 60_000 } });
      ill.script = () => answer;
      const enough = new AbortController();
      const refused = errorOf(pool.forward(GAS_PRICE, { only: ill.name, signal: enough.signal }));
      await vi.waitFor(() => expect(pool.status().find(({ name }) => name === ill.name)?.state).toBe(state));
      enough.abort();
      await refused;
      const before = ill.count('eth_gasPrice');
      for (let call = 0; call < 3; call++) expect((await pool.forward(GAS_PRICE)).upstream).toBe(well.name);
      expect(ill.count('eth_gasPrice')).toBe(before);
    },
  );

  test('is left out when it fails every call, found out by calls of our own', async () => {
    const [ill, well] = await echoingNodes(2);
    if (ill === undefined || well === undefined) throw new Error('two nodes');
    const limits = { ...PATIENT, breakerOpenMs: 60_000, breakerOpenMaxMs: 60_000, recheckMs: 600_000 };
    const pool = await startedPool([ill, well], { limits });
    ill.script = () => ({ http: { status: 503, body: 'down' } });
    await errorOf(pool.forward(GAS_PRICE, { only: ill.name }));
    const circuit = (): unknown => pool.status().find(({ name }) => name === ill.name)?.state;
    await vi.waitFor(() => expect(circuit()).toBe('open-circuit'));
    expect(faultsOf(pool, ill.name)['http-status']).toBeGreaterThan(4);
  });
});
