import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, systemClock } from '@chainstead/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { blockHash, type ScriptedChain, type ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';

const never = new AbortController().signal;

/** Announces block `number` but has nothing above the node's head. */
function announcing(number: number): ScriptedNode['script'] {
  return ({ method }) => (method === 'eth_blockNumber' ? { result: `0x${number.toString(16)}` } : undefined);
}

/** Announces `ahead` blocks too many, and invents the newest of them for the tag `latest`. */
function inventing(ahead: number, of: ScriptedNode): ScriptedNode['script'] {
  return ({ method, params }) => {
    const number = `0x${(of.head + ahead).toString(16)}`;
    if (method === 'eth_blockNumber') return { result: number };
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined;
    const hash = `0x${'ab'.repeat(32)}`;
    const invented = { number, hash, parentHash: hash, timestamp: '0x1', transactions: [] };
    return { result: { ...invented, logsBloom: `0x${'00'.repeat(256)}`, receiptsRoot: hash } };
  };
}

describe('getHead', () => {
  test('is the highest of all upstreams', async () => {
    const behind = await node(90);
    const ahead = await node(100);
    const pool = await startedPool([behind, ahead]);
    expect(await pool.getHead()).toEqual({
      value: { number: 100, hash: blockHash({}, 100), parentHash: blockHash({}, 99), timestamp: 1_700_001_200 },
      upstream: ahead.name,
    });
  });

  test('does not believe a head that its upstream does not give, and counts the lie', async () => {
    const liar = await node(100);
    const well = await node(105);
    liar.script = announcing(90_000);
    const pool = await startedPool([liar, well]);
    expect((await pool.getHead()).value.number).toBe(105);
    expect(faultsOf(pool, liar.name)['head-lie']).toBeGreaterThan(0);
  });

  test('of a single upstream that lies is the block that it really has', async () => {
    const liar = await node(100);
    liar.script = announcing(101);
    const pool = await startedPool([liar]);
    expect((await pool.getHead()).value.number).toBe(100);
    expect(faultsOf(pool, liar.name)['head-lie']).toBeGreaterThan(0);
  });

  test.each([1, 3, 40, 64])(
    'of a single upstream that invents %i blocks is its newest real one',
    async (ahead) => {
      const liar = await node(100);
      liar.script = inventing(ahead, liar);
      const pool = await startedPool([liar]);
      expect((await pool.getHead()).value).toMatchObject({ number: 100, hash: blockHash({}, 100) });
      expect(faultsOf(pool, liar.name)['head-lie']).toBeGreaterThan(0);
      liar.head = 102;
      expect((await pool.getHead()).value.number).toBe(102);
    },
  );

  test('is not looked for without end below an invented one', async () => {
    const liar = await node(1_000);
    liar.script = inventing(65, liar);
    const pool = await startedPool([liar], { limits: { deadlineMs: 1_000 } });
    expect(String(await errorOf(pool.getHead()))).toContain('announced block 1065 and answers null for it');
  });

  test('counts an upstream that is far behind the others as lagging, once until it has caught up', async () => {
    const ahead = await node(100);
    const behind = await node(90);
    const near = await node(98);
    const pool = await startedPool([ahead, behind, near]);
    for (let times = 0; times < 4; times++) await pool.getHead();
    expect(faultsOf(pool, behind.name)).toEqual({ lagging: 1 });
    expect(await pool.registry.metrics()).toContain(`upstream="${behind.name}",kind="lagging"} 1`);
    behind.head = 100;
    await pool.getHead();
    behind.head = 92;
    await pool.getHead();
    expect(faultsOf(pool, behind.name)).toEqual({ lagging: 2 });
    expect([faultsOf(pool, ahead.name), faultsOf(pool, near.name)]).toEqual([{}, {}]);
  });

  test('does not wait for a slow upstream once another has answered', async () => {
    const slow = await node(100);
    const well = await node(100);
    const pool = await startedPool([slow, well], { limits: { attemptTimeoutMs: 60_000, deadlineMs: 60_000 } });
    slow.script = () => 'hang';
    const started = performance.now();
    expect((await pool.getHead()).upstream).toBe(well.name);
    expect(performance.now() - started).toBeLessThan(25_000);
  });

  test('fails with the reason of each when none answers', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    one.script = () => ({ http: { status: 503, body: 'down' } });
    expect(String(await errorOf(pool.getHead()))).toContain('HTTP 503: down');
  });
});

describe('waitForHead', () => {
  test('gives the newest head at once when nothing is known, then the next one by polling', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    const first = await pool.waitForHead(null, never);
    expect(first.value.number).toBe(100);
    const next = pool.waitForHead(first.value, never);
    one.head = 103;
    expect((await next).value.number).toBe(103);
  });

  test.each([
    { rate: 20, blockTimeMs: 6_000, waits: 'half a block time', from: 2_000, to: 3_000 },
    { rate: 20, blockTimeMs: 100, waits: 'ten calls', from: 500, to: 500 },
    { rate: 1_000, blockTimeMs: 6_000, waits: 'the interval', from: 200, to: 200 },
  ])('polls a node of $rate calls a second after $waits', async ({ rate, blockTimeMs, from, to }) => {
    const one = await node(100);
    const sleeps: number[] = [];
    let isStarted = false;
    const clock: Clock = {
      now: systemClock.now,
      sleep(ms, signal) {
        sleeps.push(ms);
        // The start waits for the node as long as it says.
        return systemClock.sleep(isStarted ? Math.min(ms, 5) : ms, signal);
      },
    };
    const upstream = { url: one.url, requestsPerSecond: rate };
    const pool = await startedPool([upstream], { clock, chain: { blockTimeMs }, pollIntervalMs: 200 });
    isStarted = true;
    const { value: first } = await pool.waitForHead(null, never);
    sleeps.length = 0;
    const next = pool.waitForHead(first, never);
    await vi.waitFor(() => expect(sleeps.some((ms) => ms >= from && ms <= to)).toBe(true));
    one.head = 101;
    expect((await next).value.number).toBe(101);
    expect(sleeps.filter((ms) => ms >= 200 && (ms < from || ms > to))).toEqual([]);
  });

  test('notices another block of the same height', async () => {
    const chain: { fork?: ScriptedChain['fork'] } = {};
    const one = await node(100, chain as ScriptedChain);
    const pool = await startedPool([one]);
    const first = await pool.waitForHead(null, never);
    chain.fork = { from: 99, name: 'other' };
    const next = await pool.waitForHead(first.value, never);
    expect(next.value).toMatchObject({ number: 100, parentHash: blockHash(chain as ScriptedChain, 99) });
    expect(next.value.hash).not.toBe(first.value.hash);
  });

  test('does not go back for an upstream that lags', async () => {
    const ahead = await node(100);
    const behind = await node(95);
    const pool = await startedPool([ahead, behind]);
    const first = await pool.getHead();
    ahead.script = () => 'disconnect';
    const next = pool.waitForHead(first.value, never);
    await vi.waitFor(() => expect(behind.count('eth_blockNumber')).toBeGreaterThan(8));
    behind.head = 101;
    expect((await next).value.number).toBe(101);
  });

  test('believes an upstream that goes back itself', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    const first = await pool.getHead();
    one.head = 98;
    expect((await pool.waitForHead(first.value, never)).value.number).toBe(98);
  });

  test('goes on through failures, and ends when its signal aborts', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    const first = await pool.getHead();
    one.script = () => ({ http: { status: 500, body: '' } });
    const controller = new AbortController();
    const waiting = errorOf(pool.waitForHead(first.value, controller.signal));
    await vi.waitFor(() => expect(faultsOf(pool, one.name)['http-status']).toBeGreaterThan(2));
    controller.abort();
    expect(await waiting).toMatchObject({ code: 'REQUEST_ABORTED' });
  });
});

describe('getFinalized', () => {
  test('is the number behind the tag, and never goes back', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    expect(await pool.getFinalized()).toBe(90);
    one.head = 95;
    expect(await pool.getFinalized()).toBe(90);
  });

  test('is null where the chain has no such tag or the node does not know it', async () => {
    const one = await node(100);
    expect(await (await startedPool([one], { chain: { finalizedTag: false } })).getFinalized()).toBeNull();
    const pool = await startedPool([one]);
    for (const message of [
      'finalized block not found',
      'finalized is not a supported commitment',
      'malformed blocknumber',
    ]) {
      one.script = ({ params }) => (params[0] === 'finalized' ? { error: { code: -32000, message } } : undefined);
      expect(await pool.getFinalized()).toBeNull();
    }
  });

  test('above every known head is a lie', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    one.script = ({ params }) => (params[0] === 'finalized' ? { result: { number: '0xffff' } } : undefined);
    expect(await pool.getFinalized()).toBeNull();
  });
});

describe('a WebSocket upstream', () => {
  test('announces heads without polling, and polling goes on when it drops', async () => {
    const one = await node(100);
    const ws = await startAnnouncer('0x1');
    const pool = await startedPool([one, { url: ws.url }], { pollIntervalMs: 60_000 });
    await vi.waitFor(() => expect(pool.status()[1]?.state).toBe('healthy'));
    const first = await pool.getHead();
    const next = pool.waitForHead(first.value, never);
    one.head = 101;
    ws.announce(101);
    expect((await next).value.number).toBe(101);
    expect(pool.status()[1]).toMatchObject({ name: ws.name, head: 101 });
  });

  test('that drops is replaced by polling', async () => {
    const one = await node(100);
    const ws = await startAnnouncer('0x1');
    const pool = await startedPool([one, { url: ws.url }]);
    await vi.waitFor(() => expect(pool.status()[1]?.state).toBe('healthy'));
    const first = await pool.getHead();
    const next = pool.waitForHead(first.value, never);
    await ws.close();
    one.head = 102;
    expect((await next).value.number).toBe(102);
    await vi.waitFor(() => expect(faultsOf(pool, ws.name).connection).toBeGreaterThan(0));
  });

  // Invariant: HTTP-BODY-BOUNDED
  test('that begins a large message is replaced by polling', async () => {
    const one = await node(100);
    const ws = await startAnnouncer('0x1');
    const pool = await startedPool([one, { url: ws.url }]);
    await vi.waitFor(() => expect(pool.status()[1]?.state).toBe('healthy'));
    ws.begin(2 ** 21);
    await vi.waitFor(() => expect(faultsOf(pool, ws.name).connection).toBeGreaterThan(0));
    expect((await pool.getHead()).value.number).toBe(100);
  });

  test('on the wrong chain is refused by name', async () => {
    const one = await node(100);
    const ws = await startAnnouncer('0x89');
    const pool = await startedPool([one, { url: ws.url }]);
    await vi.waitFor(() => expect(pool.status()[1]?.reason).toContain('137'));
    expect(faultsOf(pool, ws.name)).toEqual({ 'wrong-chain': 1 });
  });
});

interface Announcer {
  readonly url: string;
  readonly name: string;
  announce(number: number): void;
  /** Sends the beginning of a message. */
  begin(bytes: number): void;
  close(): Promise<void>;
}

/** A WebSocket server (RFC 6455, short unmasked frames out) that accepts eth_subscribe and announces on request. */
async function startAnnouncer(chainId: string): Promise<Announcer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer();
  server.on('upgrade', (request, socket: Socket) => {
    const key = createHash('sha1').update(
      `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key.digest('base64')}\r\n\r\n`,
    );
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data: Buffer) => {
      for (const text of unmask(data)) {
        if (!text.startsWith('{')) continue;
        const { id, method } = JSON.parse(text) as { id: number; method: string };
        send(socket, { jsonrpc: '2.0', id, result: method === 'eth_chainId' ? chainId : '0xsub' });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  onTestFinished(() => close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    name: `127.0.0.1:${port}`,
    announce(number) {
      const result = { number: `0x${number.toString(16)}`, hash: blockHash({}, number) };
      for (const socket of sockets)
        send(socket, { jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: '0xsub', result } });
    },
    begin(bytes) {
      const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
      head.writeBigUInt64BE(BigInt(bytes), 2);
      for (const socket of sockets) socket.write(head);
    },
    close,
  };
}

function send(socket: Socket, message: unknown): void {
  const payload = Buffer.from(JSON.stringify(message));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(payload.length);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, payload.length])
      : Buffer.concat([Buffer.from([0x81, 126]), length]);
  socket.write(Buffer.concat([head, payload]));
}

/** Decodes the texts of short masked frames. */
function unmask(data: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at + 6 <= data.length; ) {
    const length = (data[at + 1] ?? 0) & 0x7f;
    const mask = data.subarray(at + 2, at + 6);
    const body = data.subarray(at + 6, at + 6 + length);
    texts.push(Buffer.from(body.map((byte, index) => byte ^ (mask[index % 4] ?? 0))).toString());
    at += 6 + length;
  }
  return texts;
}
