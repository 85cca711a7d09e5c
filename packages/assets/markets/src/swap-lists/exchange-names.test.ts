import { createChainRegistry } from '@chainstead/chains';
import { addressOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { factoriesOf, unknownExchange } from './pair-parameter.ts';

const [PAIRS, POOLS, NAMED] = [addressOf(0xfac2), addressOf(0xfac3), addressOf(0xfac4)];
const exchanges = [
  { family: 'v2', factory: PAIRS },
  { family: 'v3', factory: POOLS },
  { family: 'v2', factory: NAMED, name: 'Demo swap' },
];
const devnet = createChainRegistry({ additional: [{ key: 'devnet', id: 31_337, exchanges }] }).get('devnet');

test.each([
  ['uniswapv2', [PAIRS]],
  ['Sushiswap V2', [PAIRS]],
  ['uniswap-v3', [POOLS]],
  ['v3', [POOLS]],
  ['demoswap', [NAMED]],
  [NAMED, [NAMED]],
  ['balancer', []],
  ['nowhere', []],
])('%s finds the exchanges of its family on a chain without known exchanges', (name, factories) => {
  expect(factoriesOf(name, devnet)).toEqual(factories);
});

test('a name finds the exchange itself on a chain that has it', () => {
  const eth = createChainRegistry({ additional: [{ key: 'eth', id: 1, exchanges }] }).get('eth');
  expect(factoriesOf('uniswapv2', eth)).toEqual(['0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f']);
});

test('the refusal of an unknown exchange lists those of the chain', () => {
  const { message, details } = unknownExchange(devnet, 'nowhere');
  expect(message).toBe('exchange is not supported on this chain');
  expect(JSON.stringify(details)).toContain('v2, v3, Demo swap, or the address of a factory');
});
