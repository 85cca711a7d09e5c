import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { ForwardingPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type ChainNode, recordedData, serveRecordedChain } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createStrictForward } from './strict-forward.ts';

type Json = Record<string, unknown>;
type Tamper = (method: string, result: Json) => unknown;

const { folder: FOLDER, isMissing, title } = recordedData('data/evm');
const NUMBER = 12_244_145;
const QUANTITY = `0x${NUMBER.toString(16)}`;
const CHAIN: Chain = createChainRegistry().get('eth');

describe.skipIf(isMissing)(title('strict forwarding'), () => {
  let honest: ChainNode;

  beforeAll(async () => {
    honest = await serveRecordedChain({
      folder: FOLDER,
      chain: 'ethereum',
      blocks: { from: NUMBER, to: NUMBER },
    });
  });

  afterAll(() => honest.close());

  /** An upstream that forwards everything and changes results. */
  async function tampering(tamper: Tamper): Promise<string> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const answer = await fetch(honest.url, { method: 'POST', body: Buffer.concat(chunks) });
      const call: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const json: unknown = await answer.json();
      if (!Array.isArray(call) && typeof json === 'object' && json !== null && 'result' in json)
        json.result = tamper((call as { method: string }).method, json.result as Json);
      response.end(JSON.stringify(json));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function startPool(urls: readonly string[]): Promise<ForwardingPool> {
    const pool = createUpstreamPool({
      chain: CHAIN,
      upstreams: urls.map((url) => ({ url })),
      logger: silentLogger(),
      metrics: createMetricsRegistry(),
    });
    onTestFinished(() => pool.close());
    await pool.start();
    return pool;
  }

  async function ask(pool: ForwardingPool, method: string, ...params: unknown[]) {
    const strict = createStrictForward({ chain: CHAIN, pool });
    const call = { method, params: JSON.stringify(params), nullable: true, block: NUMBER };
    const { value, upstream } = await strict(call);
    if (!Buffer.isBuffer(value)) throw new Error('not whole');
    return { result: JSON.parse(value.toString()) as Json, upstream };
  }

  async function truth(method: string, ...params: unknown[]): Promise<Json> {
    return (await ask(await startPool([honest.url]), method, ...params)).result;
  }

  test.each<[string, (block: Json) => unknown[], Tamper]>([
    ['eth_getBlockByNumber', () => [QUANTITY, false], (_method, block) => ({ ...block, gasUsed: '0x1' })],
    [
      'eth_getBlockByHash',
      ({ hash }) => [hash, true],
      (_method, block) => ({ ...block, transactions: (block.transactions as unknown[]).slice(1) }),
    ],
    [
      'eth_getBlockReceipts',
      () => [QUANTITY],
      (_method, receipts) => Object.values(receipts as Record<string, Json>).map((one) => ({ ...one, logs: [] })),
    ],
    [
      'eth_getTransactionByHash',
      ({ transactions }) => [(transactions as string[])[3]],
      (_method, transaction) => ({ ...transaction, value: '0xde0b6b3a7640000' }),
    ],
    [
      'eth_getTransactionReceipt',
      ({ transactions }) => [(transactions as string[])[3]],
      (_method, receipt) => ({ ...receipt, cumulativeGasUsed: '0x5208' }),
    ],
  ])('gives a true %s although one upstream lies, and reports that one', async (method, paramsOf, tamper) => {
    const block = await truth('eth_getBlockByNumber', QUANTITY, false);
    const params = paramsOf(block);
    const expected = await truth(method, ...params);
    const liar = await tampering((requested, result) =>
      requested === method && result !== null ? tamper(requested, result) : result,
    );
    const pool = await startPool([liar, honest.url]);
    for (let call = 0; call < 4; call++) expect((await ask(pool, method, ...params)).result).toEqual(expected);
    // Used alone, so that it can't be skipped for its speed.
    const alone = await startPool([liar]);
    await expect(ask(alone, method, ...params)).rejects.toMatchObject({ code: 'UNPROVABLE_ANSWER' });
    const faults = Object.keys(alone.status()[0]?.faults ?? {});
    expect(faults.some((kind) => kind.endsWith('-mismatch'))).toBe(true);
  });

  // Invariant: HTTP-BODY-BOUNDED
  test('does not parse a transaction of millions of empty lists', async () => {
    const { transactions } = await truth('eth_getBlockByNumber', QUANTITY, false);
    const [hash] = transactions as string[];
    const lists = Array.from({ length: 1_000_000 }, () => []);
    const liar = await tampering((method, result) =>
      method === 'eth_getTransactionByHash' ? { ...result, accessList: lists } : result,
    );
    await expect(ask(await startPool([liar]), 'eth_getTransactionByHash', hash)).rejects.toMatchObject({
      code: 'UNPROVABLE_ANSWER',
      message: expect.stringContaining('JSON holds more values than fit'),
    });
  });

  test('passes null and what cannot be checked on as they are', async () => {
    const pool = await startPool([honest.url]);
    expect((await ask(pool, 'eth_getTransactionReceipt', `0x${'11'.repeat(32)}`)).result).toBeNull();
    expect((await ask(pool, 'eth_chainId')).result).toBe('0x1');
  });

  test('proves a block’s receipts once for all of them', async () => {
    const pool = await startPool([honest.url]);
    const strict = createStrictForward({ chain: CHAIN, pool });
    const block = await truth('eth_getBlockByNumber', QUANTITY, false);
    const before = pool.status()[0]?.requests ?? 0;
    const hashes = (block.transactions as string[]).slice(0, 20);
    for (const hash of hashes) {
      const params = JSON.stringify([hash]);
      await strict({ method: 'eth_getTransactionReceipt', params, nullable: true, block: NUMBER });
    }
    expect((pool.status()[0]?.requests ?? 0) - before).toBeLessThanOrEqual(hashes.length + 3);
  });
});
