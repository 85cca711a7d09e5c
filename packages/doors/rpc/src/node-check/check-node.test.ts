import {
  type Address,
  type CheckReport,
  type Clock,
  type Finding,
  parseAddress,
  parseChainId,
  systemClock,
} from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { rateLimited } from '../testing/rate-limited.ts';
import type { Received, Script, Scripted, ScriptedNode } from '../testing/scripted-node.ts';
import { testChain } from '../testing/scripted-node.ts';
import { node } from '../testing/test-pool.ts';
import { checkNode, type NodeCheckOptions } from './check-node.ts';

const HEAD = 20_000;
/** Five seconds after the head of scripted nodes. */
const clock: Clock = { ...systemClock, now: () => (1_700_000_000 + HEAD * 12 + 5) * 1_000 };
const WORD = `0x${'8'.padStart(64, '0')}`;
/** `USDC / USD` as a returned string. */
const DESCRIPTION = `0x${[32, 10].map((word) => word.toString(16).padStart(64, '0')).join('')}${Buffer.from('USDC / USD').toString('hex').padEnd(64, '0')}`;
const REFUSED: Scripted = { error: { code: -32_601, message: 'the method does not exist/is not available' } };

/** Methods of full nodes that scripted nodes lack by default. */
const SERVED: Readonly<Record<string, unknown>> = {
  web3_clientVersion: 'Geth/v1.15.0',
  eth_syncing: false,
  eth_getBalance: '0x0',
  debug_traceBlockByNumber: [],
  eth_getProof: {},
};

async function fullNode(script: Script = () => undefined, chain = {}): Promise<ScriptedNode> {
  const served = await node(HEAD, chain);
  served.script = async (call) => (await script(call)) ?? servedBy(call);
  return served;
}

function servedBy({ method }: Received): Scripted | undefined {
  return method in SERVED ? { result: SERVED[method] } : undefined;
}

function examine(served: ScriptedNode, more: Partial<NodeCheckOptions> = {}): Promise<CheckReport> {
  return checkNode({ chain: testChain(), upstream: { url: served.url }, clock, deadlineMs: 30_000, ...more });
}

function findingOf({ findings }: CheckReport, subject: string): Finding | undefined {
  return findings.find((finding) => finding.subject === subject);
}

/** A node without blocks, or state, below a number. */
const without =
  (method: string, below: number, answer: Scripted): Script =>
  (call) => {
    const at = call.params.find(
      (parameter) => typeof parameter === 'string' && /^0x[0-9a-f]{1,8}$/.test(parameter),
    );
    return call.method === method && at !== undefined && Number(at) < below ? answer : undefined;
  };

describe('a node', () => {
  test('that serves everything is good, and is sent a burst and some hundred calls', async () => {
    const [served, other] = [await fullNode(), await fullNode()];
    const report = await examine(served, { others: [{ url: served.url }, { url: other.url }] });
    expect(report.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(report.name).toBe(served.name);
    expect(report.calls).toBe(served.received.length);
    expect(report.calls).toBeLessThan(1_700);
    expect(findingOf(report, 'client')?.found).toBe('Geth/v1.15.0');
    expect(findingOf(report, 'head')?.found).toContain(`block ${HEAD}, 5 s old`);
    expect(findingOf(report, 'same chain')?.found).toBe(`block ${HEAD - 64} is that of ${other.name}`);
    expect(findingOf(report, 'traces')?.found).toBe('debug_traceBlockByNumber');
  });

  test('that limits its rate is asked at its pace, and its only finding names the setting', async () => {
    const served = await fullNode();
    const { script } = served;
    let calls = 0;
    served.script = (call) =>
      ++calls % 25 === 0 ? { error: { code: 429, message: 'Too many requests' } } : script(call);
    const report = await examine(served, { clock: fasterClock(20) });
    expect(report.findings.filter(({ verdict }) => verdict !== 'ok')).toMatchObject([
      { subject: 'rate limit', verdict: 'warning', remedy: expect.stringMatching(/^Set RPC_RATE_ETH=\d+, or/) },
    ]);
  });

  /** Times as fast as the real one. */
  function fasterClock(times: number): Clock {
    const startedAt = performance.now();
    return {
      now: () => clock.now() + (performance.now() - startedAt) * times,
      sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
    };
  }

  test('that allows 20 calls per second is told as such, and its batches are not', async () => {
    const served = await fullNode();
    const fast = fasterClock(4);
    const limited = rateLimited({ perSecond: 20, now: fast.now }, served.script);
    served.script = limited.script;
    const report = await examine(served, { clock: fast });
    const advised = Number(/^Set RPC_RATE_ETH=(\d+)/.exec(findingOf(report, 'rate limit')?.remedy ?? '')?.[1]);
    expect(advised).toBeGreaterThanOrEqual(15);
    expect(advised).toBeLessThanOrEqual(25);
    expect(report.findings.filter(({ verdict }) => verdict !== 'ok').map(({ subject }) => subject)).toEqual([
      'rate limit',
    ]);
    expect(findingOf(report, 'batches')?.found).toMatch(/^of \d+ calls, half a second of its rate limit$/);
  });

  test.each([3, 10, 50, 99])('that takes batches of up to %i calls is told as such', async (max) => {
    const served = await fullNode(({ batch }) =>
      batch > max ? { error: { code: -32_600, message: 'batch too large' } } : undefined,
    );
    const found = findingOf(await examine(served), 'batches')?.found ?? '';
    const size = Number(/^of (\d+) calls; larger ones are rejected/.exec(found)?.[1]);
    expect(size).toBeLessThanOrEqual(max);
    expect(size).toBeGreaterThanOrEqual(max * 0.75);
  });

  test('of a chain with settings is judged by its own block time', async () => {
    const chain = { id: parseChainId(777_777), key: 'my-chain', blockTimeMs: 2_000 };
    const served = await fullNode(undefined, { chainId: 777_777 });
    const later = { ...clock, now: () => clock.now() + 100_000 };
    const report = await examine(served, { chain: testChain(chain), clock: later });
    expect(findingOf(report, 'block time')).toMatchObject({
      ...{ verdict: 'warning', found: '12 s over 100 blocks; the setting is 2 s' },
      remedy: 'Set BLOCK_TIME_MS_MY_CHAIN=12000.',
    });
    // Eight blocks of 12 s, but 50 of 2 s.
    expect(findingOf(report, 'head')?.verdict).toBe('ok');
    const right = testChain({ ...chain, blockTimeMs: 12_500 });
    expect(findingOf(await examine(served, { chain: right }), 'block time')).toMatchObject({ verdict: 'ok' });
  });

  test('of another chain is bad, and asked nothing more', async () => {
    const served = await fullNode(() => undefined, { chainId: 137 });
    const { findings, calls } = await examine(served);
    expect(findings).toMatchObject([
      { subject: 'chain id', verdict: 'bad', found: '137 (polygon), not 1 (eth)' },
    ]);
    expect(calls).toBe(1);
  });

  test('that refuses the key says so without it', async () => {
    const served = await fullNode(({ method }) => ({
      http: { status: 401, body: `no access for secret-key-0123456789 to ${method}\u001b[2J` },
    }));
    const report = await examine(served);
    expect(report.findings).toMatchObject([{ subject: 'connection', verdict: 'bad' }]);
    expect(report.findings[0]?.found).toContain('[redacted]');
    expect(JSON.stringify(report)).not.toMatch(/secret-key|\\u001b/);
  });

  test('that nobody answers for is bad', async () => {
    const served = await fullNode();
    await served.close();
    expect((await examine(served)).findings).toMatchObject([{ subject: 'connection', verdict: 'bad' }]);
  });

  test.each([
    ['eth_getBalance', 'old state', 'of the last'],
    ['eth_getBlockByNumber', 'old blocks', 'from about block'],
  ])('that has pruned what %s reads says how far back it goes', async (method, subject, words) => {
    const kept = 128;
    const answer: Scripted =
      method === 'eth_getBalance' ? { error: { code: -32_000, message: 'missing trie node' } } : { result: null };
    const served = await fullNode(without(method, HEAD - kept, answer));
    const finding = findingOf(await examine(served), subject);
    expect(finding).toMatchObject({ verdict: 'warning', found: expect.stringContaining(words) });
    const [reported = ''] = /\d+/.exec(finding?.found ?? '') ?? [];
    const depth = method === 'eth_getBalance' ? Number(reported) : HEAD - Number(reported);
    expect(depth).toBeGreaterThanOrEqual(kept * 0.9);
    expect(depth).toBeLessThanOrEqual(kept + 1);
  });

  test.each([
    ['says it', 500, 'query exceeds max block range 500', 500],
    ['does not say it', 700, 'range is too large', 635],
    ['allows wide ones', 2_000, 'range is too large', 1_800],
    ['says it in the words of nodes that take 1,000', 2_000, 'block range too large', 1_600],
    ['says a narrower one', 5_000, 'query exceeds max block range 500', 4_000],
  ])('whose eth_getLogs takes so many blocks, and %s, is found out', async (_how, max, message, least) => {
    const served = await fullNode(({ method, params: [filter] }) => {
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
      return Number(toBlock) - Number(fromBlock) + 1 > max ? { error: { code: -32_602, message } } : undefined;
    });
    const finding = findingOf(await examine(served), 'eth_getLogs range');
    const reported = Number(/^\d+/.exec(finding?.found ?? '')?.[0]);
    expect(reported).toBeLessThanOrEqual(max);
    expect(reported).toBeGreaterThanOrEqual(least);
    expect(finding?.verdict).toBe(max < 1_000 ? 'warning' : 'ok');
    expect(served.count('eth_getLogs')).toBeLessThan(15);
  });

  test('without eth_getLogs is bad', async () => {
    const served = await fullNode(({ method }) => (method === 'eth_getLogs' ? REFUSED : undefined));
    expect(findingOf(await examine(served), 'eth_getLogs range')?.verdict).toBe('bad');
  });

  test('is good without what only some need, which is told', async () => {
    const missing = new Set([
      'eth_getBlockReceipts',
      'debug_traceBlockByNumber',
      'eth_getProof',
      'web3_clientVersion',
    ]);
    const served = await fullNode(({ method }) => (missing.has(method) ? REFUSED : undefined));
    served.batches = false;
    const report = await examine(served);
    expect(report.findings.filter(({ verdict }) => verdict === 'bad')).toEqual([]);
    for (const subject of ['receipts by block', 'account proofs', 'batches'])
      expect(findingOf(report, subject)?.verdict, subject).toBe('warning');
    expect(findingOf(report, 'traces')?.verdict).toBe('ok');
    expect(findingOf(await examine(served, { needsTraces: true }), 'traces')?.verdict).toBe('warning');
  });

  test('is asked for the feeds and the configured dollar tokens of the chain', async () => {
    const [feed, dollar, missing] = ['11', '22', '33'].map((byte) => parseAddress(`0x${byte.repeat(20)}`));
    if (feed === undefined || dollar === undefined || missing === undefined)
      throw new RangeError('Three addresses');
    const served = await fullNode(({ method, params: [call] }) => {
      if (method !== 'eth_call') return undefined;
      const text = JSON.stringify(call);
      return { result: text.includes(missing) ? '0x' : text.includes('0x7284e416') ? DESCRIPTION : WORD };
    });
    const found = async (tokenFeed: Address, dollarToken: Address) => {
      const tokenFeeds = [{ proxy: tokenFeed, decimals: 8, aggregators: [], tokens: [dollar] }];
      const report = await examine(served, { chain: testChain({ tokenFeeds, dollarTokens: [dollarToken] }) });
      return [findingOf(report, 'price feeds'), findingOf(report, 'dollar tokens')];
    };
    expect(await found(feed, dollar)).toMatchObject([{ verdict: 'ok', found: 'USDC / USD' }, { verdict: 'ok' }]);
    const warning = { verdict: 'warning', found: expect.stringContaining(missing) };
    expect(await found(missing, missing)).toMatchObject([warning, warning]);
    expect(findingOf(await examine(served), 'price feeds')).toBeUndefined();
  });

  test('is asked for the contracts of trusted hooks', async () => {
    const [hook, missing] = ['11', '22'].map((byte) => parseAddress(`0x${byte.repeat(20)}`));
    if (hook === undefined || missing === undefined) throw new RangeError('Two addresses');
    const served = await fullNode(({ method, params: [address] }) =>
      method === 'eth_getCode' ? { result: address === missing ? '0x' : '0x6001' } : undefined,
    );
    const found = async (...trustedHooks: readonly Address[]) =>
      findingOf(await examine(served, { chain: testChain({ trustedHooks }) }), 'trusted hooks');
    expect(await found()).toBeUndefined();
    expect(await found(hook)).toMatchObject({ verdict: 'ok', found: 'all 1 found' });
    expect(await found(hook, missing)).toMatchObject({ verdict: 'warning', found: `no contract at ${missing}` });
  });

  test('with an index of accounts says by which methods', async () => {
    const indexes = ['ots_searchTransactionsBefore', 'trace_filter'];
    const found = async (served: readonly string[]) => {
      const node = await fullNode(({ method }) =>
        indexes.includes(method) ? (served.includes(method) ? { result: [] } : REFUSED) : undefined,
      );
      return findingOf(await examine(node), 'account index');
    };
    expect(await found(indexes)).toMatchObject({
      verdict: 'ok',
      found: expect.stringContaining('ots_searchTransactionsBefore and trace_filter'),
    });
    expect((await found(['trace_filter']))?.found).toMatch(/^trace_filter:/);
    expect(await found([])).toMatchObject({ verdict: 'ok', found: expect.stringContaining('none') });
  });

  test('that leaves receipts out is bad', async () => {
    const served = await fullNode(({ method }) =>
      method === 'eth_getBlockReceipts' ? { result: [] } : undefined,
    );
    expect(findingOf(await examine(served), 'receipts by block')).toMatchObject({
      verdict: 'bad',
      meaning: expect.any(String),
    });
  });

  test('on another branch than others, or than what is indexed, is bad', async () => {
    const served = await fullNode(() => undefined, { fork: { from: 10, name: 'other' } });
    const other = await fullNode();
    expect(findingOf(await examine(served, { others: [{ url: other.url }] }), 'same chain')?.verdict).toBe('bad');
    const block = { number: 10, hash: `0x${'ab'.repeat(32)}` as const, source: 'what is indexed' };
    const indexed = await examine(other, { known: [block as never] });
    expect(findingOf(indexed, 'same chain')).toMatchObject({
      verdict: 'bad',
      found: expect.stringContaining('by what is indexed'),
    });
  });

  test.each([
    [20, 'warning'],
    [5_000, 'bad'],
  ])('%i blocks behind the others is told', async (blocks, verdict) => {
    const [served, other] = [await fullNode(), await fullNode()];
    served.head -= blocks;
    const report = await examine(served, { others: [{ url: other.url }] });
    expect(findingOf(report, 'head')).toMatchObject({
      verdict,
      found: expect.stringContaining(`${blocks} blocks behind ${other.name}`),
    });
  });

  test('with an old head, and nobody to compare with, is told', async () => {
    const served = await fullNode();
    served.head -= 500;
    expect(findingOf(await examine(served), 'head')).toMatchObject({
      verdict: 'warning',
      found: expect.stringContaining('100 min old'),
    });
  });

  test('that falls silent takes no more time than there is', async () => {
    const served = await fullNode(({ method }) => (method === 'eth_getLogs' ? 'hang' : undefined));
    const report = await examine(served, { deadlineMs: 1_500 });
    expect(report.tookMs).toBeLessThan(15_000);
    expect(report.findings.some(({ verdict }) => verdict !== 'ok')).toBe(true);
  });

  test('keeps to the rate that is configured for it', async () => {
    const served = await fullNode();
    const upstream = { url: served.url, requestsPerSecond: 20 };
    const report = await examine(served, { upstream, deadlineMs: 2_000 });
    expect(served.received.length).toBeLessThanOrEqual(20 * 2 + 20);
    expect(findingOf(report, 'time')?.verdict).toBe('warning');
  });
});
