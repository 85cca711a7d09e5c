import { parseChainId } from '@chainstead/core';
import { expect, test } from 'vitest';
import { eraNetwork, parseEraFileName } from './file-name.ts';

test.each([
  ['mainnet-01896-56a9bb03.ere', { network: 'mainnet', epoch: 1_896, format: 'ere' }],
  ['mainnet-00000-5ec1ffb8-noproofs-noreceipts.ere', { network: 'mainnet', epoch: 0, format: 'ere' }],
  ['my-own-2-00007-0123abcd.era1', { network: 'my-own-2', epoch: 7, format: 'era1' }],
  ['my-00001-own-00007-0123abcd.e2hs', { network: 'my-00001-own', epoch: 7, format: 'e2hs' }],
  ['../mainnet-01896-56a9bb03.ere', null],
  ['mainnet-1896-56a9bb03.ere', null],
  ['mainnet-01896-56a9bb03.era', null],
])('the name %s', (name, expected) => {
  expect(parseEraFileName(name)).toEqual(expected);
});

test('files of a chain without public ones have its key', () => {
  const key = 'my-own-2';
  const network = eraNetwork({ id: parseChainId(123_456), key });
  expect(parseEraFileName(`${network}-00000-0123abcd.ere`)?.network).toBe(key);
});
