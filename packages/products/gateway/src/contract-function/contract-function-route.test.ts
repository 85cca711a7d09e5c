import { addressOf } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ContractStage, openContractStage } from './testing/contract-stage.ts';

const OWNER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

let opened: ContractStage;
beforeAll(async () => {
  opened = await openContractStage();
});
afterAll(() => opened.close());
beforeEach(() => {
  Object.assign(opened.settings, { maxCalls: 10_000, perKey: 100 });
  opened.stage.node.alter = () => undefined;
});

const SHAPE = { name: 'a "shape"', points: [{ x: '1', y: -2 }, ['0x3', '-4']], tag: '0x80ac58cd' };
const SHOWN_SHAPE = {
  0: 'a "shape"',
  1: [
    { 0: '1', 1: '-2', x: '1', y: '-2' },
    { 0: '3', 1: '-4', x: '3', y: '-4' },
  ],
  2: '0x80ac58cd',
};

describe('what a function returns', () => {
  test.each<[name: string, params: unknown, answer: unknown]>([
    ['name', undefined, 'Wrapped Ether'],
    ['name', { x: '1' }, 'Wrapped Ether'],
    ['value', {}, '7'],
    ['isOpen', {}, true],
    ['owner', {}, OWNER],
    ['put', { next: 5 }, null],
    [
      'several',
      { given: '115792089237316195423570985008687907853269984665640564039457584007913129639935' },
      {
        0: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        1: true,
        2: OWNER,
        3: '0x1234',
        amount: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        isForSale: true,
        data: '0x1234',
      },
    ],
    [
      'shape',
      { given: SHAPE },
      { ...SHOWN_SHAPE, name: SHOWN_SHAPE[0], points: SHOWN_SHAPE[1], tag: SHOWN_SHAPE[2] },
    ],
    [
      'shape',
      { given: JSON.stringify(SHAPE) },
      { ...SHOWN_SHAPE, name: SHOWN_SHAPE[0], points: SHOWN_SHAPE[1], tag: SHOWN_SHAPE[2] },
    ],
    [
      'lists',
      { some: [1, '2', '0x3'], pairs: '[[1,-2],["3",4]]' },
      {
        0: ['1', '2', '3'],
        1: [
          ['1', '-2'],
          ['3', '4'],
        ],
      },
    ],
    ['lists', { some: [], pairs: [] }, { 0: [], 1: [] }],
    ['plus', { 0: 1, more: -128 }, '-128'],
    ['send(address,uint256)', { to: OWNER, amount: '9' }, '9'],
    ['send(address,bytes)', { to: OWNER.toLowerCase(), data: '0x123456' }, '3'],
    ['send(address, bytes)', { to: OWNER, data: '0x' }, '0'],
    ['send', { to: OWNER, amount: 9 }, '9'],
    ['send', { data: '0x12', to: OWNER }, '1'],
  ])('%s of %j', async (name, params, answer) => {
    expect(await opened.run(name, { params })).toMatchObject({ status: 200, body: answer });
    const { address, abi, sdk } = opened;
    const given = { address, chain: '0x1', functionName: name, abi, ...(params === undefined ? {} : { params }) };
    expect((await sdk.EvmApi.utils.runContractFunction(given as never)).raw).toEqual(answer);
  });

  test('is found by an entry that has nothing but what is needed', async () => {
    const abi = [
      { name: 'name', outputs: [{ type: 'string' }] },
      null,
      'rubbish',
      { type: 'event', name: 'name' },
    ];
    expect((await opened.run('name', { abi })).body).toBe('Wrapped Ether');
  });

  test('is given as null by an entry without outputs', async () => {
    expect((await opened.run('name', { abi: [{ name: 'name' }] })).body).toBeNull();
  });

  test('is that after the block that was asked for', async () => {
    const { devnet } = opened.stage;
    const before = await devnet.client.getBlock();
    const { address, abi } = opened;
    await devnet.send({ address, abi, functionName: 'put', args: [8n] });
    try {
      for (const block of [before.number, `0x${before.number.toString(16)}`, before.hash])
        expect((await opened.run('value', { query: `&block=${block}` })).body).toBe('7');
      expect((await opened.run('value', { query: `&to_block=${before.number}` })).body).toBe('7');
      for (const block of ['', '&block=latest', '&block=PENDING', `&to_block=${before.number + 1n}`])
        expect((await opened.run('value', { query: block })).body).toBe('8');
    } finally {
      await devnet.send({ address, abi, functionName: 'put', args: [7n] });
    }
  });
});

describe('a call that gives nothing is 400 with the reason', () => {
  test.each<[name: string, params: object, message: string]>([
    ['fail', { why: 'not now' }, 'execution reverted: not now'],
    ['fail', { why: 'x'.repeat(600) }, `execution reverted: ${'x'.repeat(500)}…`],
    ['refuse', { wanted: 3 }, `execution reverted: Refused(${OWNER}, 3, "no \\"more\\"")`],
    ['add', { given: 1 }, 'execution reverted: panic 0x11 (arithmetic overflow or underflow)'],
    ['silent', {}, 'execution reverted'],
  ])('%s of %j', async (name, params, message) => {
    expect(await opened.run(name, { params })).toMatchObject({ status: 400, body: { message } });
  });

  test('an error that is not in the ABI is named by its selector', async () => {
    const abi = opened.abi.filter(({ type }) => type !== 'error');
    const { body } = await opened.run('refuse', { abi, params: { wanted: 3 } });
    expect(Object(body).message).toMatch(
      /^execution reverted: 0x[0-9a-f]{8} \(an error that the ABI does not have\)$/,
    );
  });

  test('what else stops it is told in the node’s words', async () => {
    const { status, body } = await opened.run('burn');
    expect([status, Object(body).message]).toEqual([400, expect.stringMatching(/^execution (failed|reverted)/)]);
  });

  test('an address without a contract returns no data', async () => {
    const address = addressOf(0xabc);
    expect(await opened.run('value', { address })).toMatchObject({
      status: 400,
      body: { message: 'returned no data' },
    });
    // What returns nothing anyway, such as a transfer of some tokens, would seem to have worked.
    expect(await opened.run('put', { address, params: { next: 5 } })).toMatchObject({
      status: 400,
      body: { message: 'returned no data' },
    });
    expect(await opened.run('put', { params: { next: 5 } })).toMatchObject({ status: 200, body: null });
  });

  test('what is not encoded as the ABI says is told', async () => {
    const abi = [{ name: 'isOpen', outputs: [{ type: 'string' }] }];
    const message = 'returned data that is not what isOpen() returns';
    expect(await opened.run('isOpen', { abi })).toMatchObject({ status: 400, body: { message } });
  });

  test('more than can be answered is told', async () => {
    const message = 'returned more data than a response can hold';
    const { status, body } = await opened.run('text', { params: { length: 1_500_000 } });
    expect([status, body]).toEqual([400, { message }]);
  });
});

describe('work that a body causes has bounds', () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `${'n'.repeat(250)}${n}`, type: 'uint8' }));

  test('arguments are read up to the tenth that does not fit', async () => {
    const inputs = [
      { name: 'a', type: 'tuple[]', components: [{ name: 'x', type: 'tuple', components: names(500) }] },
    ];
    const items = Array.from({ length: 20_000 }, () => ({}));
    const { status, body } = await opened.run('f', { abi: [{ name: 'f', inputs }], params: { a: items } });
    expect([status, Object(body).details.errors.length]).toEqual([400, 10]);
    expect(JSON.stringify(body).length).toBeLessThan(100_000);
  });

  test('lists that are written as text count as lists', async () => {
    const inputs = [{ name: 'a', type: 'uint8[]' }];
    const run = (a: string) => opened.run('f', { abi: [{ name: 'f', inputs }], params: { a } });
    expect((await run(`[${'{},'.repeat(50_000)}{}]`)).status).toBe(413);
    expect((await run('['.repeat(5_000))).status).toBe(400);
  });
});

describe('nodes', () => {
  test('that are away make it 503, to be tried again', async () => {
    opened.stage.node.alter = () => {
      throw new Error('away');
    };
    const { status, body, headers } = await opened.run('value');
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body).toEqual({ message: 'No node of Ethereum Mainnet responds at the moment: try again' });
  });

  test('of a chain that the gateway does not offer are not asked', async () => {
    expect(await opened.run('value', { query: '&chain=polygon' })).toMatchObject({
      status: 400,
      body: {
        message:
          "Contracts of Polygon Mainnet can't be called here: add the chain to CHAINS or GATEWAY_CHAINS and restart",
        details: { reason: 'not-offered', configuration_key: 'GATEWAY_CHAINS' },
      },
    });
  });

  test('are not asked at all where requests may cause no calls', async () => {
    opened.settings.maxCalls = 0;
    // The pool asks for the head on its own: only calls of contracts count.
    const calls = () => opened.stage.node.received.filter(({ method }) => method === 'eth_call').length;
    const before = calls();
    expect(await opened.run('value')).toMatchObject({
      status: 400,
      body: {
        message: "Contracts can't be called here: ON_DEMAND_MAX_CALLS=0 prevents requests from calling nodes",
        details: { reason: 'not-offered', configuration_key: 'ON_DEMAND_MAX_CALLS' },
      },
    });
    expect(calls()).toBe(before);
  });

  test('are waited for by as many requests of a key as it may have waiting', async () => {
    opened.settings.perKey = 2;
    const held = Promise.withResolvers<void>();
    const { node } = opened.stage;
    let requested = 0;
    node.alter = async ({ method }) => {
      if (method !== 'eth_call') return undefined;
      requested += 1;
      await held.promise;
      return undefined;
    };
    const waiting = [opened.run('value'), opened.run('owner')];
    await expect.poll(() => requested).toBe(2);
    const refused = await opened.run('name');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    held.resolve();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await opened.run('name')).status).toBe(200);
  });
});

test('calls are taken from the gateway’s rate of the key', async () => {
  const slow = await openContractStage(4);
  try {
    const statuses = [];
    for (let made = 0; made < 5; made++) statuses.push((await slow.run('value')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  } finally {
    await slow.close();
  }
});
