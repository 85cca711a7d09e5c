import { readExchanges, recordedData } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findMethod, type GatewayMethod, METHOD_NAMES, readParams } from './method-table.ts';

const ADDRESS = `0x${'Ab'.repeat(20)}`;
const HASH = `0x${'0c'.repeat(32)}`;
/** The subscription handler refuses unknown kinds with its own code; no node sees them. */
const NAMES_SUBSCRIPTIONS = 'eth_subscribe';

function known(name: string): GatewayMethod {
  const method = findMethod(name);
  if (method === undefined) throw new Error(`${name} is not in the table`);
  return method;
}

/** Returns the text of the refusal; null: accepted. */
function problem(name: string, params: readonly unknown[]): string | null {
  const read = readParams(known(name), params);
  if (!('error' in read)) return null;
  expect(read.error.code).toBe(-32_602);
  return read.error.message;
}

/** Valid parameters with a text inserted, as a member's name or as a value. */
function paramsWith(text: string): fc.Arbitrary<readonly unknown[]> {
  const right = fc.constantFrom<readonly unknown[]>(
    [{ to: ADDRESS, data: '0x', accessList: [{ address: ADDRESS, storageKeys: [HASH] }] }, 'latest', {}, {}],
    [
      { authorizationList: [{ address: ADDRESS, r: '0x1' }] },
      { blockNumber: '0x1' },
      { [ADDRESS]: { nonce: '0x1' } },
    ],
    [{}, 'latest', { [ADDRESS]: { state: { [HASH]: HASH } } }, { time: '0x1', blockHash: { 1: HASH } }],
    [{ fromBlock: '0x1', toBlock: 'latest', address: [ADDRESS], topics: [null, [HASH]] }],
    [ADDRESS, ['0x1'], { blockHash: HASH, requireCanonical: true }],
    [HASH, true],
    ['0x1', 'latest', [25, 75]],
  );
  return fc.tuple(right, fc.nat(20)).map(([params, place]) => {
    const spots = spotsOf(params);
    const spot = spots[place % spots.length];
    return spot === undefined ? [text] : spot(text);
  });
}

/** Ways to insert a text into a value: in place of each part, and as an extra member. */
function spotsOf(value: unknown): ((text: string) => unknown[])[] {
  const inside: ((text: string) => unknown)[] = [];
  if (Array.isArray(value))
    value.forEach((item: unknown, index) => {
      for (const spot of [(text: string): unknown => text, ...spotsOf(item)])
        inside.push((text) => value.with(index, spot(text)));
    });
  else if (typeof value === 'object' && value !== null) {
    inside.push((text) => ({ ...value, [text]: '0x1' }));
    for (const [name, member] of Object.entries(value))
      for (const spot of [(text: string): unknown => text, ...spotsOf(member)])
        inside.push((text) => ({ ...value, [name]: spot(text) }));
  }
  return inside as ((text: string) => unknown[])[];
}

const { folder, isMissing, title } = recordedData('data/rpc-conformance');

describe.skipIf(isMissing)(title('recorded exchanges'), async () => {
  const exchanges = isMissing ? [] : await readExchanges(folder);
  const offered = exchanges.filter(({ method }) => METHOD_NAMES.includes(method));

  test.each(offered)(
    '$file is accepted as it is, or refused as the node refuses it',
    ({ method, params, response }) => {
      const read = readParams(known(method), params);
      if ('error' in read) expect(read.error).toEqual(response.error);
      else expect(read.params).toEqual(params);
    },
  );
});

describe('parameters', () => {
  test.each([
    ['eth_getBlockByNumber', ['latest', false]],
    ['eth_getBlockByNumber', ['0x0', true]],
    ['eth_getBalance', [ADDRESS, { blockHash: HASH, requireCanonical: true }]],
    ['eth_getBalance', [ADDRESS, { blockNumber: 'latest' }]],
    ['eth_getBalance', [ADDRESS, HASH]],
    ['eth_getBalance', [ADDRESS, null]],
    ['eth_call', [{ to: null, data: '0x', type: '0x2', eip712Meta: { gasPerPubdata: '0x1' } }, 'pending']],
    ['eth_call', [{}, 'latest', { [ADDRESS]: { balance: '0x1', stateDiff: { [HASH]: HASH } } }, { time: '0x1' }]],
    ['eth_estimateGas', [{ accessList: [{ address: ADDRESS, storageKeys: [HASH] }] }]],
    [
      'eth_call',
      [{}, { blockNumber: '0x1' }, { [ADDRESS]: { movePrecompileToAddress: ADDRESS, nonce: '0x05' } }],
    ],
    ['eth_call', [{}, 'latest', {}, { coinbase: ADDRESS, number: '0x1', blockHash: { 7: HASH } }]],
    [
      'eth_call',
      [{ eip712Meta: { factoryDeps: [[0, 255], '0x01'], paymasterParams: { paymasterInput: '0x' } } }],
    ],
    ['eth_estimateGas', [{ authorizationList: [{ chainId: '0x1', address: ADDRESS, yParity: '0x0', r: HASH }] }]],
    ['eth_feeHistory', [4, 'latest', [0, 50.5, 100]]],
    ['eth_feeHistory', ['10', '0x5', []]],
    ['eth_getLogs', [{ address: [ADDRESS, ADDRESS], topics: [null, [HASH, null], HASH, []] }]],
    ['eth_getLogs', [{ blockHash: HASH, fromBlock: null }]],
    ['eth_getStorageAt', [ADDRESS, '0x0', 'safe']],
    ['eth_getStorageAt', [ADDRESS, 'abc', 'finalized']],
    ['eth_getProof', [ADDRESS, ['0x1', HASH], 'earliest']],
    ['eth_sendRawTransaction', ['0x02f8']],
    ['eth_chainId', []],
  ] as const)('%s accepts %j unchanged', (name, params) => {
    expect(readParams(known(name), params)).toEqual({ params });
  });

  test.each([
    ['eth_getBlockByNumber', ['0x01', false], 'blockNumber'],
    ['eth_getBlockByNumber', ['0x', false], 'blockNumber'],
    ['eth_getBlockByNumber', ['newest', false], 'blockNumber'],
    ['eth_getBlockByNumber', [5, false], 'blockNumber'],
    ['eth_getBlockByNumber', [`0x8${'0'.repeat(15)}`, false], 'blockNumber'],
    ['eth_getBlockByNumber', [HASH, false], 'blockNumber'],
    ['eth_getBlockByNumber', ['0x1', 'yes'], 'fullTransactions'],
    ['eth_getBlockByNumber', [], 'blockNumber'],
    ['eth_getBlockByNumber', ['0x1', true, 1], 'too many arguments, want at most 2'],
    ['eth_getBlockByHash', [`${HASH}0`, false], 'blockHash'],
    ['eth_getTransactionReceipt', ['0x12'], 'transactionHash'],
    ['eth_getTransactionByBlockNumberAndIndex', ['latest', '0x00'], 'index'],
    ['eth_getBalance', ['vitalik.eth', 'latest'], 'address'],
    ['eth_getBalance', [ADDRESS, { blockHash: HASH, blockNumber: '0x1' }], 'cannot specify both'],
    ['eth_getBalance', [ADDRESS, {}], 'blockNumber or blockHash'],
    ['eth_call', ['0x', 'latest'], 'transaction'],
    ['eth_call', [{ value: '0x' }, 'latest'], 'value'],
    ['eth_call', [{ data: '0x1' }, 'latest'], 'data'],
    ['eth_call', [{}, 'latest', { x: {} }], 'stateOverrides'],
    [
      'eth_call',
      [{ custom: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) }, 'latest'],
      'no member "custom"',
    ],
    ['eth_call', [{ type: 'monthly capacity limit' }, 'latest'], 'type must be'],
    ['eth_call', [{ type: 2 }, 'latest'], 'type must be'],
    ['eth_call', [{ To: ADDRESS }, 'latest'], 'transaction has no member "To"; it is written to'],
    ['eth_call', [JSON.parse('{"__proto__":{"to":"x"}}'), 'latest'], 'no member "__proto__"'],
    ['eth_call', [{ eip712Meta: { paymasterParams: { paymasterInput: [256] } } }], 'paymasterInput'],
    [
      'eth_call',
      [{}, { blockNumber: '0x1', BlockHash: HASH }],
      'block has no member "BlockHash"; it is written blockHash',
    ],
    ['eth_call', [{}, 'latest', { [ADDRESS]: { fakeBalance: 'x' } }], 'no member "fakeBalance"'],
    ['eth_call', [{}, 'latest', { [ADDRESS]: { state: { unauthorized: HASH } } }], 'a storage key'],
    ['eth_call', [{}, 'latest', { [ADDRESS]: { stateDiff: { [HASH]: 'rate limit' } } }], 'a storage value'],
    ['eth_call', [{}, 'latest', {}, { time: 'rate limit' }], 'time must be'],
    ['eth_call', [{}, 'latest', {}, { blockHash: { 'rate limit': HASH } }], 'a block of blockHash'],
    ['eth_call', [{ authorizationList: [{ r: 'x' }] }], 'authorizationList: r'],
    ['eth_call', [{ accessList: [{ address: ADDRESS, more: 1 }] }], 'no member "more"'],
    [
      'eth_getLogs',
      [{ FromBlock: '0x0', fromBlock: '0x1', toBlock: '0x1' }],
      'no member "FromBlock"; it is written fromBlock',
    ],
    ['eth_getLogs', [{ TOBLOCK: null }], 'it is written toBlock'],
    ['eth_getLogs', [{ Address: ADDRESS }], 'it is written address'],
    ['eth_getLogs', [{ limit: 5 }], 'filter has no member "limit"'],
    ['eth_getLogs', [{ topics: Array(5).fill(null) }], 'topics'],
    ['eth_getLogs', [{ topics: ['0x1'] }], 'topics'],
    ['eth_getLogs', [{ blockHash: HASH, toBlock: 'latest' }], 'cannot specify both'],
    ['eth_getLogs', [], 'filter'],
    ['eth_feeHistory', ['x', 'latest', []], 'blockCount'],
    ['eth_feeHistory', ['0x1', 'latest', [101]], 'rewardPercentiles'],
    ['eth_sendRawTransaction', ['0x'], 'rawTransaction'],
    ['eth_sendRawTransaction', ['02f8'], 'rawTransaction'],
    ['eth_chainId', ['x'], 'too many arguments'],
  ] as const)('%s refuses %j and names %s', (name, params, named) => {
    expect(problem(name, params)).toContain(named);
  });

  test('that nodes insist on are filled in', () => {
    expect(readParams(known('eth_getBlockByNumber'), ['0x1'])).toEqual({ params: ['0x1', false] });
    expect(readParams(known('eth_feeHistory'), ['0x1', 'latest'])).toEqual({ params: ['0x1', 'latest', []] });
  });

  test('let no text through that a caller may choose', () => {
    const names = METHOD_NAMES.filter((name) => name !== NAMES_SUBSCRIPTIONS);
    fc.assert(
      fc.property(fc.constantFrom(...names), paramsWith('invalid api key'), (name, params) => {
        expect(problem(name, params)).not.toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  test('of any shape are read without an error', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...METHOD_NAMES),
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        (name, params) => {
          expect(() => readParams(known(name), params)).not.toThrow();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
