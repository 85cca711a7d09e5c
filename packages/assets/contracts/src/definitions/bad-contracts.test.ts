/** Untrusted ABIs, and mistyped names and options: each is refused with its exact message, and nothing is stored. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, describe, expect, test } from 'vitest';
import { addContract } from './add-contract.ts';
import type { WantedContract } from './wanted-contract.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const WITH_TRANSACTIONS = { ...chain, transactions: { ...chain.transactions, mode: 'all' } } as const;

const input = (name: string, type: string, more: object = {}) => ({ name, type, ...more });
const event = (name: unknown, inputs: unknown, more: object = {}) => ({ type: 'event', name, inputs, ...more });
const indexed = (count: number) =>
  Array.from({ length: count }, (_, index) => input(`a${index}`, 'uint8', { indexed: true }));
const PAID = event('Paid', [
  ...[input('payer', 'address', { indexed: true }), input('label', 'string', { indexed: true })],
  ...[input('note', 'string'), input('data', 'bytes'), input('parts', 'uint256[2]'), input('amount', 'uint256')],
]);
const SIGNATURE = 'Paid(address,string,string,bytes,uint256[2],uint256)';

async function refusal(name: string, changes: Partial<WantedContract>): Promise<unknown> {
  const wanted = { name, chain, addresses: [parseAddress(`0x${'11'.repeat(20)}`)], abi: [PAID] };
  const added = addContract(scratch.database, {
    ...{ ...wanted, factory: null, firstBlock: null, events: null, indexed: [] },
    ...changes,
  });
  return added.then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? error.message : error),
  );
}

afterAll(async () => {
  expect(await scratch.database.query(sql`SELECT name FROM contract_definitions`)).toEqual([]);
  expect(await scratch.database.query(sql`SELECT relname FROM pg_class WHERE relname LIKE 'bad%'`)).toEqual([]);
});

describe('a name is refused', () => {
  test.each([
    '1vault',
    '_vault',
    '__proto__',
    'my-vault',
    'väult',
    ' vault',
    'vault\n',
    'vault.deposit',
    "v'--",
    'v"',
  ])('%j', async (name) => {
    expect(await refusal(name, {})).toBe(
      `${JSON.stringify(name)} is not a name for a contract. Use 1 to 24 lower-case letters, digits and underscores, with a letter in front`,
    );
  });
});

/** Tuples in each other, as a file of megabytes may contain. */
function nested(levels: number): object {
  let inner: object = input('x', 'uint8');
  for (let level = 0; level < levels; level++) inner = input('t', 'tuple[]', { components: [inner] });
  return inner;
}

describe('an ABI is refused', () => {
  test.each<readonly [string, unknown]>([
    ['a number', 5],
    ['a text', '[{"type":"event"}]'],
    ['an object without one', { bytecode: '0x' }],
    ['a list of numbers', [1, 2]],
    ['an artifact whose ABI is an object', { abi: { Paid: PAID }, output: { abi: null } }],
    ['an item alone', PAID],
  ])('if it is %s', async (_what, abi) => {
    expect(await refusal('bad', { abi })).toBe(
      'The file for bad contains no ABI. Give a JSON file with a list of ABI items, or an artifact of Foundry, Hardhat or Truffle',
    );
  });

  test.each<readonly [string, unknown, string]>([
    ['nothing', [], 'none'],
    [
      'a constructor and errors',
      [
        { type: 'constructor', inputs: [] },
        { type: 'error', name: 'E' },
      ],
      'none',
    ],
    ['an item of another kind', [{ type: 'modifier', name: 'only' }], 'no item of an ABI: 1'],
    ['an event without a name', [event(undefined, [])], 'a name that is no identifier: 1'],
    ['markup in a name', [event('<img onerror=x>', [])], 'a name that is no identifier: 1'],
    ['SQL in a name', [event("E'); DROP TABLE blocks", [])], 'a name that is no identifier: 1'],
    ['SQL in a parameter', [event('E', [input('a", b', 'bool')])], 'a name that is no identifier: 1'],
    ['a very long name', [event('E'.repeat(257), [])], 'a name that is no identifier: 1'],
    ['parameters that are a text', [event('E', 'uint256')], 'arguments that are no list: 1'],
    [
      'parameters that are an object',
      [event('E', { length: 1, 0: input('a', 'bool') })],
      'arguments that are no list: 1',
    ],
    ['a parameter that is null', [event('E', [null])], 'a type that no values are decoded of: 1'],
    [
      'a type that is an object',
      [event('E', [{ name: 'a', type: {} }])],
      'a type that no values are decoded of: 1',
    ],
    [
      'an inherited member as a type',
      [event('E', [input('a', '__proto__')])],
      'a type that no values are decoded of: 1',
    ],
    [
      'a struct by its name',
      [event('E', [input('a', 'struct Vault.Position')])],
      'a type that no values are decoded of: 1',
    ],
    ['a huge list', [event('E', [input('a', 'uint8[99999999]')])], 'a type that no values are decoded of: 1'],
    ['an empty list', [event('E', [input('a', 'uint8[0]')])], 'a type that no values are decoded of: 1'],
    [
      'lists in lists',
      [event('E', [input('a', `uint8${'[]'.repeat(9)}`)])],
      'a type that no values are decoded of: 1',
    ],
    ['a tuple without a list of members', [event('E', [input('a', 'tuple')])], 'arguments that are no list: 1'],
    ['an empty tuple', [event('E', [input('a', 'tuple', { components: [] })])], 'a tuple without members: 1'],
    ['tuples in 100,000 levels', [event('E', [nested(100_000)])], 'tuples in more than 8 levels: 1'],
    [
      'more parameters than any event',
      [event('E', Array(257).fill(input('', 'bool')))],
      'more than 256 arguments: 1',
    ],
    ['four indexed parameters', [event('E', indexed(4))], 'more than 3 indexed arguments: 1'],
    ['five indexed ones', [event('E', indexed(5), { anonymous: true })], 'more than 4 indexed arguments: 1'],
    [
      'several of these',
      [event('E', [null]), event('F', [null]), null],
      'a type that no values are decoded of: 2; a name that is no identifier: 1',
    ],
  ])('with %s', async (_what, abi, skipped) => {
    expect(await refusal('bad', { abi })).toBe(`The ABI of bad has no events. Skipped items: ${skipped}`);
  });

  test('with 20,001 events', async () => {
    const abi = Array.from({ length: 20_001 }, (_, index) => event(`E${index}`, []));
    expect(await refusal('bad', { abi })).toBe(
      'The ABI of bad has 20000 events. Choose at most 256 of them with --event',
    );
  });
});

describe('a choice is refused', () => {
  test.each(['__proto__', 'constructor', '', 'paid', 'Paid()', 'Paid(address,string)', ' Paid'])(
    'of the event %j',
    async (given) => {
      expect(await refusal('bad', { events: ['Paid', given] })).toBe(
        `The ABI of bad has no event ${given}. It has ${SIGNATURE}`,
      );
    },
  );

  test.each(['__proto__', 'Payer', 'block_number', 'undecoded', 'payer, amount', 'payer; DROP TABLE blocks'])(
    'of the column %j',
    async (given) => {
      expect(await refusal('bad', { indexed: ['payer', given] })).toBe(
        `No event has a parameter ${given}. Parameters are payer, label, note, data, parts, amount`,
      );
    },
  );

  test.each(['note', 'data', 'parts'])('of the column %j, whose values have any size', async (given) => {
    expect(await refusal('bad', { indexed: ['label', given] })).toBe(
      `${given} can't have an index, because its values may have any size. Index parameters of the types address, bool, bytes1 to bytes32, int and uint, or hashes of indexed parameters`,
    );
  });
});

describe('a factory is refused', () => {
  const factory = (declared: string, child = 'pair') => ({ factory: { of: null, event: declared, child } });
  const long = `Made(address pair, ${'uint8, '.repeat(1_000)}uint8)`;

  test.each([
    '',
    'Made(address pair',
    'Made address pair',
    'Made(address indexed indexed pair)',
    '(address pair)',
    'Made(address pair) anonymous',
    'Made(address pair,)',
    '1Made(address pair)',
    long,
  ])('with the event %j', async (declared) => {
    expect(await refusal('bad', factory(declared))).toBe(
      `${JSON.stringify(declared)} does not declare an event. Use a declaration with the names of parameters, such as --event 'PoolCreated(address indexed token0, address pool)'`,
    );
  });

  test.each([
    ['Made(bytes32 pair)', 'bytes32'],
    ['Made((address a) pair)', 'tuple'],
    ['Made(address[2] pair)', 'address[2]'],
    ['Made(string indexed pair)', 'string'],
  ])('whose child is no address: %s', async (declared, type) => {
    expect(await refusal('bad', factory(declared))).toBe(
      `The parameter pair of Made has the type ${type}. Choose a parameter of the type address with --child`,
    );
  });

  test.each([
    ['Made((address a) pair)', 'a', 'pair'],
    ['Made(address, address)', 'pair', 'one without a name, one without a name'],
    ['Made(address pair)', 'Pair', 'pair'],
  ])('whose child is no parameter: %s', async (declared, child, names) => {
    expect(await refusal('bad', factory(declared, child))).toBe(
      `Made has no parameter ${JSON.stringify(child)}. Choose one with --child: ${names}`,
    );
  });

  test('with anonymous events of its children', async () => {
    const abi = [event('Quiet', [], { anonymous: true })];
    const given = { ...factory('Made(address pair)'), abi };
    expect(await refusal('bad', given)).toBe(
      'The ABI of bad has no events. Skipped items: an anonymous event: 1',
    );
    expect(await refusal('bad', { ...given, events: ['Quiet'] })).toBe(
      'Quiet() of bad is anonymous, and logs of children are found by the signature of their event. Leave the event out, or add the children by their addresses',
    );
  });
});

describe('calls are refused', () => {
  const send = (index: number | '', stateMutability = 'nonpayable') => ({
    ...{ type: 'function', name: `send${index}`, inputs: [], stateMutability },
  });

  test('on a chain without transactions', async () => {
    const message =
      "Calls of bad can't be decoded, because transactions of eth are not indexed. Set TRANSACTIONS_ETH=all, or leave --calls out";
    const wallets = { ...chain, transactions: { ...chain.transactions, mode: 'wallets' } } as const;
    for (const one of [chain, wallets])
      expect(await refusal('bad', { chain: one, abi: [send('')], calls: true })).toBe(message);
  });

  test('of functions that change nothing', async () => {
    const abi = [send('', 'view'), send(1, 'pure'), PAID];
    expect(await refusal('bad', { chain: WITH_TRANSACTIONS, abi, calls: true })).toBe(
      'The ABI of bad has no functions that change state. Give the complete ABI, or leave --calls out',
    );
  });

  test('of too many functions', async () => {
    const abi = [PAID, ...Array.from({ length: 256 }, (_, index) => send(index))];
    expect(await refusal('bad', { chain: WITH_TRANSACTIONS, abi, calls: true })).toBe(
      'The ABI of bad has 257 events and functions. Choose at most 256 of them with --event, or leave --calls out',
    );
  });
});
