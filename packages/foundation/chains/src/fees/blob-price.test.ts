import { expect, test } from 'vitest';
import { blobGasPrice } from './blob-price.ts';

const MAINNET = 1;
const CANCUN = 1_710_338_135;
const PRAGUE = 1_746_612_311;

test.each([
  ['before Cancun', CANCUN - 1, 0n, null],
  ['without excess', CANCUN, 0n, 1n],
  ['with the excess that doubles it', CANCUN, 2_314_058n, 2n],
  ['below it', CANCUN, 2_314_057n, 1n],
  ['of ten updates', CANCUN, 33_384_770n, 22_026n],
  ['from Prague on, of the same excess', PRAGUE, 33_384_770n, 785n],
  ['of an excess that no chain reaches', CANCUN, 2n ** 64n, null],
  ['long after the newest fork that is known', 1_900_000_000, 116_846_710n, 22_026n],
])('the price of blob gas %s', (_, timestamp, excess, price) => {
  expect(blobGasPrice(MAINNET, timestamp, excess)).toBe(price);
});

test.each([
  ['Gnosis', 100, 1_112_826n, 2_718_281_828n],
  ['BNB Smart Chain', 56, 33_384_770n, 22_026n],
  ['Holesky', 17_000, 33_384_770n, 785n],
])('the price of blob gas on %s follows from its own schedule', (_, chainId, excess, price) => {
  expect(blobGasPrice(chainId, PRAGUE, excess)).toBe(price);
});

test('another chain has no price', () => {
  expect(blobGasPrice(137, CANCUN, 0n)).toBeNull();
});
