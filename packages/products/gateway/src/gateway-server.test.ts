import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { HandleCall, LeaveSignal, Outcome } from './call.ts';
import {
  type GatewayStage,
  result,
  STAGE_KEY,
  type StageOptions,
  startGatewayStage,
} from './testing/gateway-stage.ts';

const stages: GatewayStage[] = [];

afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

/** Returns the method and its parameters. */
const echo: HandleCall = ({ method, params }) => result([method.name, ...params]);

async function start(options: Partial<StageOptions> = {}): Promise<GatewayStage> {
  const stage = await startGatewayStage({ answer: echo, keys: [STAGE_KEY], ...options });
  stages.push(stage);
  return stage;
}

function call(method: string, params: readonly unknown[] = [], id: unknown = 1) {
  return { jsonrpc: '2.0', id, method, params };
}

const BLOCK = call('eth_getBlockByNumber', ['0x1', true]);

describe('a call', () => {
  test('is answered under its id, as JSON with a length and a request id', async () => {
    const stage = await start();
    const response = await stage.post(
      '{"jsonrpc":"2.0","id":1.0,"method":"eth_getBlockByNumber","params":["0x1",true]}',
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const text = await response.text();
    expect(text).toBe('{"jsonrpc":"2.0","id":1.0,"result":["eth_getBlockByNumber","0x1",true]}');
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  test('keeps letters beyond ASCII in id and result', async () => {
    const stage = await start({ answer: () => result('ü→😀') });
    const response = await stage.post(call('eth_chainId', [], 'é😀'));
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 'é😀', result: 'ü→😀' });
    expect(await (await stage.post(call('eth_chainId'))).json()).toMatchObject({ result: 'ü→😀' });
  });

  test('with a large answer is answered whole', async () => {
    const text = 'é'.repeat(300_000);
    const stage = await start({ answer: () => result(text) });
    expect(await (await stage.post(BLOCK)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: text });
  });

  test('passes on what the node says is wrong', async () => {
    const error = { code: 3, message: 'execution reverted', data: '0x08' };
    const stage = await start({ answer: async () => ({ ok: false, error }) });
    const response = await stage.post(BLOCK);
    expect([response.status, await response.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, error }]);
  });

  test('that is a notification is carried out and answered with nothing', async () => {
    const requested: string[] = [];
    const stage = await start({
      answer: ({ method }) => {
        requested.push(method.name);
        return result(1);
      },
    });
    const response = await stage.post({ jsonrpc: '2.0', method: 'eth_blockNumber' });
    expect([response.status, await response.text(), requested]).toEqual([200, '', ['eth_blockNumber']]);
  });

  test('is answered whatever its content type', async () => {
    const stage = await start();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
      expect((await stage.post(BLOCK, { headers: { 'content-type': type } })).status).toBe(200);
  });

  test('to a method that is not offered is a JSON-RPC error, as clients read it', async () => {
    const stage = await start();
    const response = await stage.post(call('debug_traceBlock', [], 7));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_601, message: 'debug_traceBlock is not supported on chain eth' },
    });
    const notification = await stage.post({ jsonrpc: '2.0', method: 'debug_traceBlock' });
    expect([notification.status, await notification.text()]).toEqual([200, '']);
  });

  test('to a method that needs a socket is a JSON-RPC error', async () => {
    const response = await (await start()).post(call('eth_subscribe', ['newHeads']));
    expect([response.status, await response.json()]).toMatchObject([200, { error: { code: -32_601 } }]);
  });

  describe('that traces', () => {
    const HASH = `0x${'ab'.repeat(32)}`;
    const TRACES = [
      call('debug_traceTransaction', [HASH, { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }]),
      call('debug_traceBlockByNumber', ['0x1']),
      call('debug_traceBlockByHash', [HASH, { tracer: 'prestateTracer', timeout: '5s' }]),
      call('debug_traceCall', [{ to: `0x${'11'.repeat(20)}` }, 'latest', { tracer: 'callTracer' }]),
      call('trace_block', ['0x1']),
      call('trace_transaction', [HASH]),
      call('trace_filter', [{ fromBlock: '0x1', toBlock: 'latest', count: 10 }]),
      call('trace_call', [{ to: `0x${'11'.repeat(20)}` }, ['trace', 'stateDiff'], '0x1']),
      call('trace_replayTransaction', [HASH, ['vmTrace']]),
      call('trace_replayBlockTransactions', ['0x1', ['trace']]),
    ];

    test('is refused with the setting that offers it', async () => {
      const stage = await start();
      for (const trace of TRACES)
        expect(await (await stage.post(trace)).json()).toMatchObject({
          error: {
            code: -32_601,
            message: `${trace.method} is not supported on chain eth: GATEWAY_TRACES=on offers it`,
          },
        });
    });

    test('is answered where the operator offers it, but not with a script', async () => {
      const stage = await start({ offersTraces: true, answer: ({ method }) => result(method.name) });
      for (const trace of TRACES)
        expect(await (await stage.post(trace)).json()).toMatchObject({ result: trace.method });
      const script = call('debug_traceTransaction', [HASH, { tracer: '{step: function () {}}' }]);
      expect(await (await stage.post(script)).json()).toMatchObject({ error: { code: -32_602 } });
    });
  });

  test('whose answer fails in spite of all promises is −32603', async () => {
    for (const answer of [() => Promise.reject(new Error('secret')), () => fail()]) {
      const response = await (await start({ answer })).post(BLOCK);
      expect(await response.json()).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32_603, message: 'Internal error' },
      });
    }
  });

  test('that takes too long is given up', async () => {
    let signal: LeaveSignal | undefined;
    const stage = await start({
      limits: { requestTimeoutMs: 50 },
      answer: (_call, scope) => {
        signal = scope.signal;
        return new Promise(() => {});
      },
    });
    const response = await stage.post(BLOCK);
    expect(await response.json()).toMatchObject({ error: { code: -32_002, message: 'request timed out' } });
    expect(signal?.aborted).toBe(true);
  });
});

function fail(): never {
  throw new Error('secret');
}

describe('a batch', () => {
  test('is answered in order, each item by itself', async () => {
    const stage = await start({
      answer: async ({ method, params }): Promise<Outcome> => {
        if (method.name === 'eth_gasPrice') return { ok: false, error: { code: -32_000, message: 'no' } };
        return result([method.name, ...params]);
      },
    });
    const response = await stage.post([
      call('eth_blockNumber', [], 'a'),
      call('debug_x', [], 2),
      { jsonrpc: '2.0', method: 'eth_chainId' },
      call('eth_gasPrice', [], 3),
      7,
      call('eth_getBalance', ['0x'], 4),
      call('net_version', [], null),
    ]);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 'a', result: ['eth_blockNumber'] },
      { jsonrpc: '2.0', id: 2, error: { code: -32_601, message: 'debug_x is not supported on chain eth' } },
      { jsonrpc: '2.0', id: 3, error: { code: -32_000, message: 'no' } },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32_600 }) },
      { jsonrpc: '2.0', id: 4, error: expect.objectContaining({ code: -32_602 }) },
      { jsonrpc: '2.0', id: null, result: ['net_version'] },
    ]);
  });

  test('of notifications is answered with nothing', async () => {
    const stage = await start();
    const response = await stage.post([{ jsonrpc: '2.0', method: 'eth_chainId' }]);
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('of more than twenty is refused', async () => {
    const stage = await start();
    const response = await stage.post(Array(21).fill(BLOCK));
    expect([response.status, await response.json()]).toEqual([400, { message: 'A batch may hold 20 requests' }]);
  });

  test('may hold answers that come in pieces', async () => {
    const stage = await start({
      answer: async ({ method }) =>
        method.name === 'eth_getLogs' ? { ok: true, result: pieces('["', 'x', '"]'), cached: false } : result(1),
    });
    const logs = call('eth_getLogs', [{}]);
    const response = await stage.post([
      { jsonrpc: '2.0', method: 'eth_getLogs', params: [{}] },
      logs,
      BLOCK,
      logs,
    ]);
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 1, result: ['x'] },
      { jsonrpc: '2.0', id: 1, result: 1 },
      { jsonrpc: '2.0', id: 1, result: ['x'] },
    ]);
    expect(await (await stage.post([BLOCK, logs])).json()).toHaveLength(2);
  });
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

describe('an answer in pieces', () => {
  const stream = (result: AsyncIterable<Buffer>): HandleCall => {
    return async () => ({ ok: true, result, cached: false });
  };

  test('is passed on', async () => {
    const stage = await start({ answer: stream(pieces('[1', ',2', ']')) });
    expect(await (await stage.post(BLOCK)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: [1, 2] });
  });

  test('that breaks off ends the connection, so that it does not look whole', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('[1');
      throw new Error('upstream went away');
    }
    const stage = await start({ answer: stream(broken()) });
    await expect(stage.post(BLOCK).then((response) => response.text())).rejects.toThrow();
  });

  test('to a notification is ended at once, so that it does not hold its upstream', async () => {
    let ended = 0;
    const unread: AsyncIterable<Buffer> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('nobody is to read it')),
        return: async () => {
          ended += 1;
          return { value: undefined, done: true };
        },
      }),
    };
    const stage = await start({ answer: stream(unread) });
    const notification = { jsonrpc: '2.0', method: 'eth_getLogs', params: [{}] };
    for (const body of [notification, [notification]]) expect(await (await stage.post(body)).text()).toBe('');
    expect(ended).toBe(2);
  });

  test('is not read faster than the client takes it, and not further once the client is gone', async () => {
    const megabyte = Buffer.alloc(1_048_576, 0x20);
    let read = 0;
    const ended = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) {
          read += 1;
          yield megabyte;
        }
      } finally {
        ended.resolve();
      }
    }
    let signal: LeaveSignal | undefined;
    const stage = await start({
      answer: async (_call, scope) => {
        signal = scope.signal;
        return { ok: true, result: endless(), cached: false };
      },
    });
    const body = JSON.stringify(BLOCK);
    const socket = connect(Number(new URL(stage.url).port), '127.0.0.1');
    socket.write(
      `POST /eth/${STAGE_KEY} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    socket.destroy();
    await ended.promise;
    // No more than the socket buffers on both sides hold.
    expect(read).toBeLessThan(64);
    expect(signal?.aborted).toBe(true);
  });
});

describe('a client that goes away', () => {
  test('has its calls given up', async () => {
    const requested = Promise.withResolvers<LeaveSignal | undefined>();
    const stage = await start({
      answer: (_call, scope) => {
        requested.resolve(scope.signal);
        return new Promise(() => {});
      },
    });
    const leave = new AbortController();
    const request = expect(stage.post(BLOCK, { signal: leave.signal })).rejects.toThrow();
    const signal = await requested.promise;
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', resolve));
    leave.abort();
    await Promise.all([request, aborted]);
  });
});

describe('a chain', () => {
  test('starts with its first call, once for all callers', async () => {
    let starts = 0;
    const started = Promise.withResolvers<void>();
    const stage = await start({
      startPool: () => {
        starts += 1;
        return started.promise;
      },
    });
    // A constant result needs no upstream.
    expect((await stage.post(call('eth_chainId'))).status).toBe(200);
    expect(starts).toBe(0);
    const answers = Promise.all([stage.post(BLOCK), stage.post(BLOCK), stage.post([BLOCK, BLOCK])]);
    started.resolve();
    for (const response of await answers) expect(JSON.stringify(await response.json())).toContain('"result"');
    expect(starts).toBe(1);
  });

  test('whose upstreams are all down says so, and comes back with them', async () => {
    let isDown = true;
    const stage = await start({
      startPool: async () => {
        if (isDown) throw new Error('http://user:secret@upstream is down');
      },
    });
    const answer = await (await stage.post(BLOCK)).text();
    expect(JSON.parse(answer)).toMatchObject({
      id: 1,
      error: { code: -32_603, message: expect.stringContaining('eth') },
    });
    expect(answer).not.toContain('secret');
    isDown = false;
    await expect
      .poll(async () => (await stage.post(BLOCK)).json(), { timeout: 20_000 })
      .toMatchObject({ result: expect.anything() });
  });

  test('bounds the blocks of eth_getLogs, whichever side is a tag', async () => {
    const stage = await start({
      logRangeMax: 100,
      answer: ({ method, params }) => {
        if (method.name === 'eth_blockNumber') return result('0x3e8');
        if (method.name !== 'eth_getBlockByNumber') return result([]);
        return result(params[0] === 'finalized' ? { number: '0x320' } : null);
      },
    });
    const ask = async (filter: object) => (await stage.post(call('eth_getLogs', [filter]))).json();
    for (const filter of [
      { fromBlock: '0x1', toBlock: '0x65' },
      { fromBlock: 'earliest', toBlock: '0x64' },
      { fromBlock: '0x384', toBlock: 'latest' },
      { fromBlock: '0x384' },
      { fromBlock: 'earliest' },
      { fromBlock: '0x2bc', toBlock: 'finalized' },
      { fromBlock: 'finalized', toBlock: 'latest' },
      { fromBlock: 'finalized' },
    ])
      expect(await ask(filter)).toMatchObject({
        error: { code: -32_602, message: expect.stringContaining('100 blocks') },
      });
    for (const filter of [
      { fromBlock: '0x1', toBlock: '0x64' },
      { fromBlock: '0x385', toBlock: 'latest' },
      { fromBlock: 'latest', toBlock: '0x3e8' },
      { fromBlock: '0x2bd', toBlock: 'finalized' },
      { fromBlock: 'finalized', toBlock: '0x383' },
      { fromBlock: 'safe', toBlock: 'safe' },
      {},
    ])
      expect(await ask(filter)).toMatchObject({ result: [] });
    // A tag without a block on any node must not bypass the range limit.
    for (const filter of [{ fromBlock: '0x1', toBlock: 'safe' }, { fromBlock: 'safe' }])
      expect(await ask(filter)).toMatchObject({
        error: { code: -32_602, message: 'there is no safe block on eth: give the block by its number' },
      });
    expect(await ask({ fromBlock: '0x2', toBlock: '0x1' })).toMatchObject({
      error: { code: -32_602, message: 'invalid block range params' },
    });
  });
});
