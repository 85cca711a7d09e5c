import { type AbiEvent, parseAbiItem, toEventSignature } from 'viem';
import { expect, it } from 'vitest';
import { abiSignature } from './abi-words.ts';

it.each([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Nothing()',
  'event Filled((address token, (uint256 id, bytes32[2] proof)[] items)[3] orders, string indexed note)',
])('is what viem makes of %s', (text) => {
  const event = parseAbiItem(text) as AbiEvent;
  expect(abiSignature(event.name, event.inputs)).toBe(toEventSignature(event));
});
