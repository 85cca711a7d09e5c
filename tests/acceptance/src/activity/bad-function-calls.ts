/** Bodies, names and blocks that calls of contract functions can't use. */
import type { RefusalBody } from '../assets/refusals.ts';
import type { TableRequest } from '../request-table.ts';
import { WALLET } from './activity-operations.ts';

const NAME = 'the name of a function of the ABI, or its signature such as balanceOf(address)';
const TYPE = 'a type of Solidity such as uint256, address[] or tuple';
const ADDRESS = 'an address (0x and 40 hexadecimal digits)';
const OWNER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const ABI = [
  { type: 'function', name: 'value', inputs: [], outputs: [{ name: '', type: 'uint256' }] },
  ...['bytes', 'uint256'].map((type) => ({
    ...{ type: 'function', name: 'send', outputs: [] },
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'given', type },
    ],
  })),
];

interface Given {
  readonly params?: unknown;
  readonly abi?: unknown;
  /** In place of one that is made of these two. */
  readonly body?: string;
  /** Further parameters of the query. */
  readonly query?: string;
}

function mustBe(parameter: string, given: unknown, allowed: string): RefusalBody {
  const text = typeof given === 'string' && given.length > 120 ? `${given.slice(0, 120)}…` : given;
  return {
    message: `${parameter} must be ${allowed}, ${JSON.stringify(text)} was given`,
    details: { errors: [{ parameter, allowed, given: text }] },
  };
}

function isMissing(parameter: string, allowed: string): RefusalBody {
  return { message: `${parameter} is required: ${allowed}`, details: { errors: [{ parameter, allowed }] } };
}

/** What breaks a rule that is no list of values. */
function broken(parameter: string, given: unknown, rule: string): RefusalBody {
  return { message: `${parameter}: ${rule}`, details: { errors: [{ parameter, given }] } };
}

/** An ABI of one function with an input of this type. */
function taking(type: unknown, more: object = {}): unknown {
  return [{ type: 'function', name: 'f', inputs: [{ name: 'a', type, ...more }], outputs: [] }];
}

const NESTED = '['.repeat(100_000) + ']'.repeat(100_000);
const TOO_DEEP = { message: 'JSON is nested deeper than 64 levels. Send it with fewer levels' };
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
  ['string', 5, 'a text of Unicode characters'],
  ['string', '\ud800', 'a text of Unicode characters'],
  ['string[]', 'x', 'a list of string'],
  ['uint8[]', 'not JSON', 'a list of uint8'],
  ['uint8[]', '5', 'a list of uint8'],
  ['uint8[2]', '[1]', 'a list of 2 uint8'],
];

const REFUSALS: readonly (readonly [what: string, name: string, given: Given, refusal: RefusalBody])[] = [
  ['no body', 'f', { body: '' }, { message: 'abi is required', details: { errors: [{ parameter: 'abi' }] } }],
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
    {
      abi: taking('tuple', { components: [{ name: 'x', type: 'bool' }, { type: 'bool' }] }),
      params: { a: [true] },
    },
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
    isMissing('params.constructor', 'a text of Unicode characters'),
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
  [
    'a signature that is not there',
    'f(bytes)',
    { abi: taking('uint8') },
    mustBe('function_name', 'f(bytes)', NAME),
  ],
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
  ...[
    'uint7',
    'uint',
    'fixed128x18',
    'function',
    'uint8[0]',
    'uint8[',
    'tuple2',
    '',
    5,
    null,
    `uint8${'[]'.repeat(9)}`,
  ]
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
  [
    'a parameter without a type',
    'f',
    { abi: [{ name: 'f', inputs: [{}] }] },
    isMissing('abi.0.inputs.0.type', TYPE),
  ],
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
    {
      message: 'abi.0.inputs.512: too many parameters',
      details: { errors: [{ parameter: 'abi.0.inputs.512' }] },
    },
  ],
  [
    'values nested without end',
    'f',
    { body: `{"abi":[{"name":"f","inputs":[{"name":"a","type":"uint8"}]}],"params":{"a":${NESTED}}}` },
    TOO_DEEP,
  ],
  [
    'types nested without end',
    'f',
    { body: `{"abi":[{"name":"f","inputs":[{"name":"a","type":${NESTED}}]}],"params":{}}` },
    TOO_DEEP,
  ],
  [
    'two blocks',
    'value',
    { query: '&block=latest&to_block=1' },
    {
      message: 'block and to_block are the same: give one of them',
      details: { errors: [{ parameter: 'to_block' }] },
    },
  ],
  [
    'no ABI',
    'f',
    { body: '{"params":{}}' },
    { message: 'abi is required', details: { errors: [{ parameter: 'abi' }] } },
  ],
  ['an empty ABI', 'f', { abi: [] }, broken('abi', [], 'at least 1 item')],
  ['an ABI that is no list', 'f', { abi: { name: 'f' } }, broken('abi', { name: 'f' }, 'must be a list')],
  [
    'too many entries',
    'f',
    { abi: Array.from({ length: 2_001 }, () => ({})) },
    broken(
      'abi',
      `${JSON.stringify(Array.from({ length: 2_001 }, () => ({}))).slice(0, 120)}…`,
      'at most 2000 items',
    ),
  ],
  [
    'params that are none',
    'f',
    { abi: [{ name: 'f' }], params: 'a' },
    broken('params', 'a', 'must be an object'),
  ],
  [
    'params that are null',
    'f',
    { abi: [{ name: 'f' }], params: null },
    broken('params', null, 'must be an object'),
  ],
  ['a list', 'f', { body: '[]' }, broken('body', [], 'must be an object')],
  ['nothing', 'f', { body: 'null' }, broken('body', null, 'must be an object')],
  ['a text', 'f', { body: '"x"' }, broken('body', 'x', 'must be an object')],
  ['entries that are none', 'f', { abi: [null, 'f', []] }, mustBe('function_name', 'f', NAME)],
  ['a name with a NUL', 'f', { abi: [{ name: 'f\0', inputs: [] }] }, mustBe('function_name', 'f', NAME)],
  ['a name that objects have', '__proto__', { abi: [{ name: 'f' }] }, mustBe('function_name', '__proto__', NAME)],
  ['a name of no characters', '', { abi: [{ name: 'f' }] }, broken('function_name', '', 'at least 1 character')],
  [
    'a name of very many',
    'x'.repeat(1_025),
    { abi: [{ name: 'f' }] },
    broken('function_name', `${'x'.repeat(120)}…`, 'at most 1024 characters'),
  ],
  [
    'two names',
    'f',
    { abi: [{ name: 'f' }], query: '&function_name=g' },
    {
      message: 'function_name may be given once, it was given 2 times',
      details: { errors: [{ parameter: 'function_name', given: ['f', 'g'] }] },
    },
  ],
  [
    'two values that do not fit',
    'f',
    {
      abi: [{ name: 'f', inputs: ['bool', 'uint8'].map((type, place) => ({ name: 'ab'[place], type })) }],
      params: { a: 1 },
    },
    {
      message:
        'params.a must be true or false, 1 was given, params.b is required: a whole number of the type uint8',
      details: {
        errors: [
          { parameter: 'params.a', allowed: 'true or false', given: 1 },
          { parameter: 'params.b', allowed: 'a whole number of the type uint8' },
        ],
      },
    },
  ],
];

export const BAD_FUNCTION_CALLS: readonly TableRequest[] = REFUSALS.map(
  ([about, name, { abi = ABI, params, body, query = '' }, refusal]) => ({
    ...{ operation: 'runContractFunction', method: 'POST', contentType: 'application/json', about },
    path: `/${WALLET}/function?function_name=${encodeURIComponent(name)}${query}`,
    sent: body ?? JSON.stringify({ abi, params }),
    status: 400,
    body: refusal,
  }),
);
