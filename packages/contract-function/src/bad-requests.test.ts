/** Contract functions asked for wrongly, over a real socket: status and whole body of every answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContractStage, openContractStage, type RunOptions } from './testing/contract-stage.ts';

let opened: ContractStage;
beforeAll(async () => {
  opened = await openContractStage();
});
afterAll(() => opened.close());

const NAME = 'the name of a function of the ABI, or its signature such as balanceOf(address)';
const TYPE = 'a type of Solidity such as uint256, address[] or tuple';
const ADDRESS = 'an address (0x and 40 hexadecimal digits)';
const OWNER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const BLOCK =
  'a block number (a whole number from 0 to 9007199254740991, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized, earliest or pending';

interface Refusal {
  readonly message: string;
  readonly details?: object;
}

function mustBe(parameter: string, given: unknown, allowed: string): Refusal {
  const text = typeof given === 'string' && given.length > 120 ? `${given.slice(0, 120)}…` : given;
  return {
    message: `${parameter} must be ${allowed}, ${JSON.stringify(text)} was given`,
    details: { errors: [{ parameter, allowed, given: text }] },
  };
}

function isMissing(parameter: string, allowed: string): Refusal {
  return { message: `${parameter} is required: ${allowed}`, details: { errors: [{ parameter, allowed }] } };
}

/** An ABI of one function with an input of this type. */
function taking(type: unknown, more: object = {}): unknown {
  return [{ type: 'function', name: 'f', inputs: [{ name: 'a', type, ...more }], outputs: [] }];
}

const NESTED = '['.repeat(100_000) + ']'.repeat(100_000);
const tupleOf = (components: unknown): unknown => ({ name: 'a', type: 'tuple', components });
let deep: unknown = { name: 'a', type: 'uint8' };
for (let level = 0; level < 9; level++) deep = tupleOf([deep]);

const VALUES: readonly (readonly [type: string, given: unknown, allowed: string])[] = [
  ['uint8', 256, 'a whole number of the type uint8'],
  ['uint8', -1, 'a whole number of the type uint8'],
  ['uint8', 1.5, 'a whole number of the type uint8'],
  ['uint8', '', 'a whole number of the type uint8'],
  ['uint8', '1e2', 'a whole number of the type uint8'],
  ['uint8', '0x', 'a whole number of the type uint8'],
  ['uint8', null, 'a whole number of the type uint8'],
  ['uint8', true, 'a whole number of the type uint8'],
  ['uint256', 9_007_199_254_740_992, 'a whole number of the type uint256'],
  ['uint256', `0x1${'0'.repeat(64)}`, 'a whole number of the type uint256'],
  ['uint256', '9'.repeat(200), 'a whole number of the type uint256'],
  ['int8', 128, 'a whole number of the type int8'],
  ['int8', '-129', 'a whole number of the type int8'],
  ['bool', 1, 'true or false'],
  ['bool', 'yes', 'true or false'],
  ['address', OWNER.slice(0, -1), ADDRESS],
  ['address', 'vitalik.eth', ADDRESS],
  ['address', 5, ADDRESS],
  ['bytes4', '0x123456', 'bytes4 (0x and 8 hexadecimal digits)'],
  ['bytes4', '0x1234567890', 'bytes4 (0x and 8 hexadecimal digits)'],
  ['bytes', '0x123', 'bytes (0x and an even number of hexadecimal digits)'],
  ['bytes', '1234', 'bytes (0x and an even number of hexadecimal digits)'],
  ['string', 5, 'a text'],
  ['uint8[]', 'not JSON', 'a list of uint8'],
  ['uint8[]', '5', 'a list of uint8'],
  ['uint8[2]', '[1]', 'a list of 2 uint8'],
];

const REFUSALS: readonly (readonly [what: string, name: string, options: RunOptions, refusal: Refusal])[] = [
  ['no body', 'f', { body: '' }, { message: 'abi is required', details: { errors: [{ parameter: 'abi' }] } }],
  ['a body that is no JSON', 'f', { body: '{' }, { message: 'Malformed JSON in request body' }],
  ...VALUES.map(
    ([type, given, allowed]) =>
      [
        `${JSON.stringify(given)?.slice(0, 30)} for ${type}`,
        'f',
        { abi: taking(type), params: { a: given } },
        mustBe('params.a', given, allowed),
      ] as const,
  ),
  [
    'a list for a number',
    'f',
    { abi: taking('uint8'), params: { a: [1] } },
    mustBe('params.a', 'a list', 'a whole number of the type uint8'),
  ],
  [
    'a tuple with too few',
    'f',
    { abi: taking('tuple', { components: [{ name: 'x', type: 'bool' }, { type: 'bool' }] }), params: { a: [true] } },
    mustBe('params.a', 'a list', 'an object with x, 1'),
  ],
  [
    'a tuple without a member',
    'f',
    { abi: taking('tuple', { components: [{ name: 'x', type: 'bool' }] }), params: { a: {} } },
    isMissing('params.a.x', 'true or false'),
  ],
  [
    'a wrong one within a list',
    'f',
    { abi: taking('uint8[][]'), params: { a: [[1], [2, 300]] } },
    mustBe('params.a.1.1', 300, 'a whole number of the type uint8'),
  ],
  ['a missing value', 'f', { abi: taking('uint8') }, isMissing('params.a', 'a whole number of the type uint8')],
  [
    'a value by another name',
    'f',
    { abi: taking('uint8'), params: { b: 1 } },
    isMissing('params.a', 'a whole number of the type uint8'),
  ],
  [
    'an unnamed value that is missing',
    'f',
    { abi: [{ name: 'f', inputs: [{ type: 'bool' }] }], params: { a: true } },
    isMissing('params.0', 'true or false'),
  ],
  [
    'a name that objects have',
    'f',
    { abi: [{ name: 'f', inputs: [{ type: 'string', name: 'constructor' }] }], params: {} },
    isMissing('params.constructor', 'a text'),
  ],
  [
    'params that are more than a call carries',
    'f',
    { abi: taking('bytes'), params: { a: `0x${'00'.repeat(131_072)}` } },
    {
      message: 'params come to more than the 131072 bytes that a call may carry',
      details: { errors: [{ parameter: 'params' }] },
    },
  ],
  ['a function that is not there', 'g', { abi: taking('uint8') }, mustBe('function_name', 'g', NAME)],
  ['a signature that is not there', 'f(bytes)', { abi: taking('uint8') }, mustBe('function_name', 'f(bytes)', NAME)],
  ['a signature that is none', 'f(uint8', { abi: taking('uint8') }, mustBe('function_name', 'f(uint8', NAME)],
  ['a name that is none', 'f; g', { abi: taking('uint8') }, mustBe('function_name', 'f; g', NAME)],
  ['an event', 'f', { abi: [{ type: 'event', name: 'f', inputs: [] }] }, mustBe('function_name', 'f', NAME)],
  [
    'one of two overloads',
    'send',
    { params: { to: OWNER } },
    mustBe(
      'function_name',
      'send',
      'the signature of one of its overloads: send(address,bytes), send(address,uint256)',
    ),
  ],
  ...['uint7', 'uint', 'fixed128x18', 'function', 'uint8[0]', 'uint8[', 'tuple2', '', 5, null, `uint8${'[]'.repeat(9)}`]
    .filter((type) => type !== 'uint')
    .map(
      (type) =>
        [
          `the type ${type}`,
          'f',
          { abi: taking(type), params: { a: 1 } },
          mustBe('abi.0.inputs.0.type', type, TYPE),
        ] as const,
    ),
  ['a parameter without a type', 'f', { abi: [{ name: 'f', inputs: [{}] }] }, isMissing('abi.0.inputs.0.type', TYPE)],
  [
    'a name that is no text',
    'f',
    { abi: taking('uint8', { name: 5 }) },
    mustBe('abi.0.inputs.0.name', 5, 'a text of up to 256 characters'),
  ],
  [
    'an empty tuple',
    'f',
    { abi: taking('tuple', { components: [] }), params: { a: [] } },
    mustBe('abi.0.inputs.0.components', 'a list', 'the members of the tuple'),
  ],
  [
    'a tuple without members',
    'f',
    { abi: taking('tuple'), params: { a: [] } },
    isMissing('abi.0.inputs.0.components', 'the members of the tuple'),
  ],
  [
    'inputs that are no list',
    'f',
    { abi: [{ name: 'f', inputs: 'uint8' }] },
    mustBe('abi.0.inputs', 'uint8', 'a list of parameters'),
  ],
  [
    'outputs that are no list',
    'f',
    { abi: [{ name: 'f', outputs: {} }] },
    mustBe('abi.0.outputs', 'an object', 'a list of parameters'),
  ],
  [
    'tuples that nest too deep',
    'f',
    { abi: [{ name: 'f', inputs: [deep] }] },
    {
      message: `abi.0.inputs.0${'.components.0'.repeat(8)}: tuples nest too deep`,
      details: { errors: [{ parameter: `abi.0.inputs.0${'.components.0'.repeat(8)}` }] },
    },
  ],
  [
    'too many inputs',
    'f',
    { abi: [{ name: 'f', inputs: Array.from({ length: 600 }, () => ({ type: 'bool' })) }] },
    { message: 'abi.0.inputs.512: too many parameters', details: { errors: [{ parameter: 'abi.0.inputs.512' }] } },
  ],
  [
    'values nested without end',
    'f',
    { body: `{"abi":[{"name":"f","inputs":[{"name":"a","type":"uint8"}]}],"params":{"a":${NESTED}}}` },
    mustBe('params.a', 'a list', 'a whole number of the type uint8'),
  ],
  [
    'types nested without end',
    'f',
    { body: `{"abi":[{"name":"f","inputs":[{"name":"a","type":${NESTED}}]}],"params":{}}` },
    mustBe('abi.0.inputs.0.type', 'a list', TYPE),
  ],
  [
    'two blocks',
    'value',
    { query: '&block=latest&to_block=1' },
    { message: 'block and to_block are the same: give one of them', details: { errors: [{ parameter: 'to_block' }] } },
  ],
  ...['newest', '-1', '1.5', '0x', '99999999999999999', `0x${'0'.repeat(63)}`].map(
    (block) => [`the block ${block}`, 'value', { query: `&block=${block}` }, mustBe('block', block, BLOCK)] as const,
  ),
];

describe('what a request can’t mean', () => {
  test.each(REFUSALS)('%s is refused', async (_what, name, options, refusal) => {
    const { status, body } = await opened.run(name, options);
    expect({ status, body }).toEqual({ status: 400, body: refusal });
  });

  test('is refused in at least sixty ways', () => {
    expect(REFUSALS.length).toBeGreaterThanOrEqual(60);
  });

  test('as an address is told as everywhere', async () => {
    const { status, body } = await opened.run('value', { address: '0x12' });
    expect([status, Object(body).message]).toEqual([400, '[C0005] Invalid address provided']);
  });

  test.each([
    ['no ABI', { params: {} }],
    ['an empty ABI', { abi: [] }],
    ['an ABI that is no list', { abi: { name: 'f' } }],
    ['too many entries', { abi: Array.from({ length: 2_001 }, () => ({})) }],
    ['params that are none', { abi: [{ name: 'f' }], params: 'a' }],
  ])('as %s names the part of the body', async (_what, body) => {
    const answer = await opened.run('f', { body: JSON.stringify(body) });
    const { errors } = Object(answer.body).details;
    expect([answer.status, errors.map((one: { parameter: string }) => one.parameter)]).toEqual([
      400,
      ['abi' in body && 'params' in body ? 'params' : 'abi'],
    ]);
  });

  test('asks no node', () => {
    expect(opened.stage.node.received.filter(({ method }) => method === 'eth_call')).toEqual([]);
  });

  test('two values that do not fit are told together', async () => {
    const abi = [
      {
        name: 'f',
        inputs: [
          { name: 'a', type: 'bool' },
          { name: 'b', type: 'uint8' },
        ],
      },
    ];
    const { body } = await opened.run('f', { abi, params: { a: 1 } });
    expect(Object(body).message).toBe(
      'params.a must be true or false, 1 was given, params.b is required: a whole number of the type uint8',
    );
  });
});
