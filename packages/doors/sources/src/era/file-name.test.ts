import { parseChainId } from '@chainstead/core';
import { expect, test } from 'vitest';
import { eraNetwork, parseEraFileName } from './era-index.ts';

test.each([
  ['mainnet-00000-5ec1ffb8.era1', { network: 'mainnet', epoch: 0, format: 'era1' }],
  ['sepolia-00000-deadbeef-noreceipts.ere', { network: 'sepolia', epoch: 0, format: 'ere' }],
  ['mainnet-02371-f8e2f40d-noproofs-noreceipts.ere', { network: 'mainnet', epoch: 2371, format: 'ere' }],
  ['mainnet-02371-f8e2f40d.e2hs', { network: 'mainnet', epoch: 2371, format: 'e2hs' }],
  ['my-own-2-00007-0123abcd.era1', { network: 'my-own-2', epoch: 7, format: 'era1' }],
  ['my-00001-own-00007-0123abcd.e2hs', { network: 'my-00001-own', epoch: 7, format: 'e2hs' }],
  ['../mainnet-00000-5ec1ffb8.era1', null],
  ['mainnet-0000-5ec1ffb8.era1', null],
  ['mainnet-00000-5ec1ffb8.era', null],
  ['mainnet-00000-5ec1ffb8.era1.part', null],
  ['checksums.txt', null],
])('the name %s', (name, expected) => {
  expect(parseEraFileName(name)).toEqual(expected);
});

test('files of a chain without public ones have its key', () => {
  const key = 'my-own-2';
  const network = eraNetwork({ id: parseChainId(123_456), key });
  expect(parseEraFileName(`${network}-00000-0123abcd.ere`)?.network).toBe(key);
});
