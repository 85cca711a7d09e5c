import { describe, expect, test, vi } from 'vitest';
import { UpstreamsExhaustedError } from './errors.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';

const SEND = 'eth_sendRawTransaction';
/** The signed example transaction of EIP-155, and its hash. */
const RAW =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83';
const HASH = '0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788';
const KNOWN: Scripted = { error: { code: -32000, message: 'already known' } };

function sends(answer: Scripted): ScriptedNode['script'] {
  return ({ method }) => (method === SEND ? answer : undefined);
}

async function nodes(...answers: Scripted[]): Promise<ScriptedNode[]> {
  return Promise.all(
    answers.map(async (answer) => {
      const one = await node(100);
      one.script = sends(answer);
      return one;
    }),
  );
}

describe('a signed transaction', () => {
  test('goes to every upstream once, and the first that takes it answers', async () => {
    const [quick, slow, other] = await nodes({ result: HASH }, 'hang', { result: HASH });
    if (quick === undefined || slow === undefined || other === undefined) throw new Error('three nodes');
    const pool = await startedPool([quick, slow, other]);
    expect((await pool.broadcast(RAW)).value).toBe(HASH);
    await vi.waitFor(() => expect([quick, slow, other].map((one) => one.count(SEND))).toEqual([1, 1, 1]));
    expect(slow.received.find(({ method }) => method === SEND)?.params).toEqual([RAW]);
  });

  test.each<[string, Scripted]>([
    ['geth', KNOWN],
    ['nethermind', { error: { code: -32010, message: 'AlreadyKnown' } }],
    ['besu', { error: { code: -32000, message: 'Known transaction' } }],
    [
      'openethereum',
      { error: { code: -32010, message: 'Transaction with the same hash was already imported.' } },
    ],
  ])('that %s knows already counts as sent', async (_client, answer) => {
    const pool = await startedPool(await nodes(answer));
    expect((await pool.broadcast(RAW)).value).toBe(HASH);
  });

  test('that one took is sent, whatever the others say of its nonce', async () => {
    const pool = await startedPool(
      await nodes({ error: { code: -32000, message: 'nonce too low' } }, { result: HASH }),
    );
    expect((await pool.broadcast(RAW)).value).toBe(HASH);
  });

  test('that all refuse is answered with the first upstream’s verdict', async () => {
    const pool = await startedPool(
      await nodes(
        { error: { code: -32000, message: 'insufficient funds for gas * price + value', data: 'x' } },
        { error: { code: -32000, message: 'nonce too low' } },
      ),
    );
    expect(await errorOf(pool.broadcast(RAW))).toMatchObject({
      code: 'RPC_CALL',
      rpcCode: -32000,
      rpcMessage: 'insufficient funds for gas * price + value',
      rpcData: 'x',
    });
  });

  // Invariant: GATEWAY-WRITE-ONCE
  test('is never sent twice to the same upstream, whatever becomes of the first time', async () => {
    const given = await nodes(
      'disconnect',
      { http: { status: 502, body: '' } },
      { error: { code: -32603, message: 'oops' } },
    );
    const pool = await startedPool(given);
    const error = await errorOf(pool.broadcast(RAW));
    expect(error).toMatchObject({ code: 'RPC_CALL', rpcMessage: 'oops' });
    expect(given.map((one) => one.count(SEND))).toEqual([1, 1, 1]);
  });

  test('that nobody could be told of may be sent again', async () => {
    const pool = await startedPool(await nodes('disconnect', { http: { status: 502, body: '' } }));
    const error = await errorOf(pool.broadcast(RAW));
    expect(error).toBeInstanceOf(UpstreamsExhaustedError);
    expect(error).toMatchObject({ retryable: true });
  });

  // Invariant: GATEWAY-WRITE-ONCE
  test('is broadcast when it is forwarded as any other call', async () => {
    const given = await nodes({ result: HASH }, KNOWN);
    const pool = await startedPool(given);
    const { value } = await pool.forward({ method: SEND, params: `["${RAW}"]`, nullable: false, block: null });
    expect(String(value)).toBe(`"${HASH}"`);
    await vi.waitFor(() => expect(given.map((one) => one.count(SEND))).toEqual([1, 1]));
  });

  test('that no node can make sense of does not count against upstreams', async () => {
    const given = await nodes({ error: { code: -32000, message: 'rlp: odd thing' } });
    const pool = await startedPool(given);
    for (let send = 0; send < 10; send++) await errorOf(pool.broadcast('0xc0'));
    expect(faultsOf(pool, given[0]?.name ?? '')).toEqual({});
    expect(pool.status()[0]?.state).toBe('healthy');
  });
});

describe('a private upstream', () => {
  test('sees no transaction and no read while there are others', async () => {
    const [relay, open] = await nodes({ result: HASH }, { result: HASH });
    if (relay === undefined || open === undefined) throw new Error('two nodes');
    const pool = await startedPool([{ url: relay.url, isPrivate: true }, { url: open.url }]);
    const before = relay.received.length;
    expect((await pool.broadcast(RAW)).upstream).toBe(open.name);
    for (let block = 1; block <= 10; block++) {
      const params = `["0x${block.toString(16)}",false]`;
      await pool.forward({ method: 'eth_getBlockByNumber', params, nullable: true, block });
      await pool.getBlock(block);
    }
    await pool.getHead();
    expect(relay.received.slice(before)).toEqual([]);
  });

  test('is used where there is no other', async () => {
    const relays = await nodes({ result: HASH }, KNOWN);
    const pool = await startedPool(relays.map(({ url }) => ({ url, isPrivate: true })));
    expect((await pool.broadcast(RAW)).value).toBe(HASH);
    await vi.waitFor(() => expect(relays.map((one) => one.count(SEND))).toEqual([1, 1]));
    expect((await pool.getBlock(5))?.value.header.number).toBe(5);
  });
});
