import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { RawCall, RawResult } from './forwarding-pool.ts';
import { handWrittenNode } from './testing/hand-written-node.ts';
import { errorOf, faultsOf, startedPool } from './testing/test-pool.ts';

const CALL: RawCall = { method: 'eth_gasPrice', params: '[]', nullable: false, block: null };
const MEBIBYTE = 1024 * 1024;
const PATIENT = { attemptTimeoutMs: 20_000 };

function piecesOf(result: RawResult): AsyncIterable<Buffer> {
  if (Buffer.isBuffer(result)) throw new Error('it came whole');
  return result;
}

async function textOf(result: RawResult): Promise<string> {
  return Buffer.isBuffer(result) ? result.toString() : Buffer.concat(await Array.fromAsync(result)).toString();
}

/** Writes at the reader's pace. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

describe('a large answer', () => {
  const result = JSON.stringify(
    { list: Array.from({ length: 60_000 }, (_, index) => `"}]\\${index} é`) },
    null,
    1,
  );

  test.each([
    ['as usual', `{"jsonrpc":"2.0","id":ID,"result":${result}}`],
    ['with the id after it', `{"jsonrpc":"2.0","result": ${result} , "id": ID }\n`],
    ['without an id', `{"result":${result}}`],
    ['in a list', `[ {"id":"ID","result":${result},"error":null} ] `],
  ])('%s comes in pieces that are its result to the byte', async (_what, body) => {
    const url = await handWrittenNode(({ response, id }) => void response.end(body.replace('ID', String(id))));
    const pool = await startedPool([{ url }], { limits: PATIENT });
    const { value } = await pool.forward(CALL);
    expect(Buffer.concat(await Array.fromAsync(piecesOf(value))).toString()).toBe(result);
    expect(pool.status()[0]?.faults).toEqual({});
  });

  test.each([
    ['ends inside the result', `{"id":ID,"result":${result.slice(0, -3)}`],
    ['ends after the result', `{"id":ID,"result":${result}`],
    ['goes on after its end', `{"id":ID,"result":${result}}{"id":ID}`],
    ['has another id after it', `{"result":${result},"id":99999}`],
    ['has an error after it', `{"id":ID,"result":${result},"error":{"code":-32000,"message":"no"}}`],
    ['has another result after it', `{"id":ID,"result":${result},"result":"0x1"}`],
    ['has no end', `{"id":ID,"result":${result}${' '.repeat(10_000)}}`],
  ])('that %s fails while it is read, and is counted', async (_what, body) => {
    const url = await handWrittenNode(({ response, id }) => void response.end(body.replace('ID', String(id))));
    const pool = await startedPool([{ url }], { limits: PATIENT });
    const { value, upstream } = await pool.forward(CALL);
    expect(await errorOf(textOf(value))).toMatchObject({ code: 'BROKEN_RESULT' });
    expect(faultsOf(pool, upstream)).toEqual({ truncated: 1 });
  });

  test.each([
    ['carries another id', `{"id":99999,"result":${result}}`],
    ['is an error beside a result', `{"id":ID,"error":{"code":-32603,"message":"no"},"result":${result}}`],
  ])('that %s is passed over for another upstream', async (_what, body) => {
    const urls = await Promise.all(
      [body, '{"id":ID,"result":"0x5"}'].map((text) =>
        handWrittenNode(({ response, id }) => void response.end(text.replace('ID', String(id)))),
      ),
    );
    const pool = await startedPool(
      urls.map((url) => ({ url })),
      { limits: PATIENT },
    );
    for (let call = 0; call < 4; call++) expect(await textOf((await pool.forward(CALL)).value)).toBe('"0x5"');
  });

  test('whose connection breaks fails while it is read', async () => {
    const url = await handWrittenNode(async ({ response, id }) => {
      await write(response, `{"id":${id},"result":["${'x'.repeat(2 * MEBIBYTE)}`);
      response.destroy();
    });
    const pool = await startedPool([{ url }], { limits: PATIENT });
    const { value, upstream } = await pool.forward(CALL);
    expect(await errorOf(textOf(value))).toMatchObject({ code: 'BROKEN_RESULT' });
    expect(faultsOf(pool, upstream)).toEqual({ connection: 1 });
  });

  test('that stops coming fails in time', async () => {
    const url = await handWrittenNode(({ response, id }) =>
      write(response, `{"id":${id},"result":["${'x'.repeat(2 * MEBIBYTE)}`),
    );
    const pool = await startedPool([{ url }], { limits: { attemptTimeoutMs: 500 } });
    const { value, upstream } = await pool.forward(CALL);
    expect(await errorOf(textOf(value))).toMatchObject({ code: 'BROKEN_RESULT' });
    expect(faultsOf(pool, upstream)).toEqual({ timeout: 1 });
  });
});

describe('the reader of a large answer', () => {
  /** Writes 20 MB and reports the bytes that the connection has taken so far. */
  async function twentyMegabytes(): Promise<{ url: string; sent: { bytes: number; isOver: boolean } }> {
    const sent = { bytes: 0, isOver: false };
    const url = await handWrittenNode(async ({ response, id }) => {
      response.once('close', () => {
        sent.isOver = true;
      });
      await write(response, `{"jsonrpc":"2.0","id":${id},"result":[0`);
      const piece = `,"${'ab'.repeat(16 * 1024)}"`.repeat(8);
      for (let bytes = 0; bytes < 20_000_000 && !response.destroyed; bytes += piece.length) {
        await write(response, piece);
        sent.bytes += piece.length;
      }
      response.end(']}');
    });
    return { url, sent };
  }

  test('holds the upstream back while it takes nothing, and has every byte in the end', async () => {
    const { url, sent } = await twentyMegabytes();
    const pool = await startedPool([{ url }], { limits: { attemptTimeoutMs: 60_000 } });
    const iterator = piecesOf((await pool.forward(CALL)).value)[Symbol.asyncIterator]();
    let received = (await iterator.next()).value?.length ?? 0;
    let before = -1;
    // The socket buffers on both sides fill up; after that nothing more is taken.
    await vi.waitFor(
      () => {
        const now = sent.bytes;
        const isStill = now === before;
        before = now;
        expect(isStill).toBe(true);
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(sent.isOver).toBe(false);
    expect(sent.bytes).toBeLessThan(16_000_000);
    let largest = 0;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      received += next.value.length;
      largest = Math.max(largest, next.value.length);
    }
    expect(received).toBe(sent.bytes + '[0]'.length);
    expect(largest).toBeLessThan(2 * MEBIBYTE);
  });

  test('holds little memory however large the answer is', async () => {
    const { url } = await twentyMegabytes();
    const pool = await startedPool([{ url }], { limits: { attemptTimeoutMs: 60_000 } });
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const reads = Array.from({ length: 10 }, async () => {
      for await (const piece of piecesOf((await pool.forward(CALL)).value)) {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
        if (piece.length === 0) throw new Error('an empty piece');
        // Reads more slowly than the data arrives.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await Promise.all(reads);
    // 200 MB were streamed in total.
    expect(most).toBeLessThan(120 * MEBIBYTE);
  });

  test('ends the upstream’s request by giving up, and that is no fault', async () => {
    const { url, sent } = await twentyMegabytes();
    const pool = await startedPool([{ url }], { limits: PATIENT });
    const { value, upstream } = await pool.forward(CALL);
    for await (const piece of piecesOf(value)) if (piece.length > 0) break;
    await vi.waitFor(() => expect(sent.isOver).toBe(true));
    expect(sent.bytes).toBeLessThan(20_000_000);
    expect(faultsOf(pool, upstream)).toEqual({});
  });

  test.each([
    ['hedged', true],
    ['plain', false],
  ])('ends the upstream’s request of a %s call by its signal', async (_what, hedge) => {
    const { url, sent } = await twentyMegabytes();
    const pool = await startedPool([{ url }, { url: await handWrittenNode(() => undefined) }], {
      limits: PATIENT,
    });
    const controller = new AbortController();
    const only = pool.status()[0]?.name ?? '';
    const { value } = await pool.forward(CALL, { signal: controller.signal, hedge, only });
    const reading = errorOf(textOf(value));
    controller.abort();
    expect(await reading).toMatchObject({ code: 'REQUEST_ABORTED' });
    await vi.waitFor(() => expect(sent.isOver).toBe(true));
  });
});

describe('a compressed answer', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('in %s is decoded', async (encoding, compress) => {
    const large = 'x'.repeat(3_000_000);
    const url = await handWrittenNode(({ response, id, params }) => {
      const result = params[0] === 'large' ? large : 'small';
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(compress(`{"jsonrpc":"2.0","id":${id},"result":"${result}"}`));
    });
    const pool = await startedPool([{ url }], { limits: PATIENT });
    expect(await textOf((await pool.forward(CALL)).value)).toBe('"small"');
    const { value } = await pool.forward({ ...CALL, params: '["large"]' });
    expect(await textOf(piecesOf(value))).toBe(`"${large}"`);
  });

  test('that is damaged is passed over for another upstream', async () => {
    const damaged = await handWrittenNode(({ response }) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('{"result":"0x1"}').subarray(0, 20));
    });
    const well = await handWrittenNode(({ response }) => void response.end('{"result":"0x5"}'));
    const pool = await startedPool([{ url: damaged }, { url: well }], { limits: PATIENT });
    for (let call = 0; call < 4; call++) expect(await textOf((await pool.forward(CALL)).value)).toBe('"0x5"');
    const ill = pool.status()[0]?.name ?? '';
    expect(await errorOf(pool.forward(CALL, { only: ill }))).toMatchObject({ code: 'UPSTREAMS_EXHAUSTED' });
    expect(Object.keys(faultsOf(pool, ill))).toEqual(['truncated']);
  });
});
