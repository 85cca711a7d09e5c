import { expect, test } from 'vitest';
import { AbiUnreadableError, parseAbi } from './parse-abi.ts';

const ABI = [
  {
    type: 'function',
    name: 'act',
    inputs: [{ name: 'order', type: 'tuple[]', components: [{ name: 'id', type: 'uint256' }] }],
  },
  { name: 'older', inputs: [] },
  { type: 'event', name: 'Done', inputs: [{ name: 'id', type: 'uint256', indexed: true }], anonymous: false },
  { type: 'event', name: 'Hidden', inputs: [], anonymous: true },
  { type: 'constructor', inputs: [] },
  { type: 'error', name: 'Bad', inputs: [] },
];

test.each([
  ['an array', ABI],
  ['an artefact', { contractName: 'A', abi: ABI }],
  ['metadata of the compiler', { compiler: {}, output: { abi: ABI } }],
])('%s is read', (_name, content) => {
  const { functions, events, skipped } = parseAbi(content);
  expect(functions.map(({ signature }) => signature)).toEqual(['act((uint256)[])', 'older()']);
  expect(events.map(({ signature, inputs }) => [signature, inputs[0]?.isIndexed])).toEqual([['Done(uint256)', true]]);
  expect(skipped).toBe(0);
});

test.each([
  [{ type: 'function', name: 'a b', inputs: [] }],
  [{ type: 'function', name: 'x'.repeat(300), inputs: [] }],
  [{ type: 'function', name: 'f', inputs: [{ type: 'mapping(address => uint256)' }] }],
  [{ type: 'function', name: 'f', inputs: [{ type: 'tuple' }] }],
  [{ type: 'function', name: 'f', inputs: [{}] }],
  [{ type: 'function', name: 'f', inputs: 'address' }],
  [{ type: 'event', name: 7 }],
  [{ type: 'function', inputs: [null] }],
])('%j is passed over and counted', (item) => {
  expect(parseAbi([item, ...ABI])).toMatchObject({ skipped: 1, functions: [{ name: 'act' }, { name: 'older' }] });
});

test('hostile names of arguments are none', () => {
  const { functions } = parseAbi([{ type: 'function', name: 'f', inputs: [{ type: 'uint8', name: '<script>' }] }]);
  expect(functions[0]?.inputs).toEqual([{ name: '', type: 'uint8' }]);
});

test.each([null, 7, 'text', {}, { abi: {} }, { output: [] }])('%j holds no ABI', (content) => {
  expect(() => parseAbi(content)).toThrow(AbiUnreadableError);
});
