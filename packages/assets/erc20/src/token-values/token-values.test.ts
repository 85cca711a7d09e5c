/** Dollar values of owners and approvals, from a price of 1.5 dollars per whole token of six decimals. */
import { parseAddress } from '@chainstead/core';
import { addressOf, hashOf } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { WalletApproval } from '../approvals/wallet-approvals-page.ts';
import { approvalView } from '../approvals/wallet-approvals-response.ts';
import { ownerView } from '../holders/token-owners-route.ts';

const TOKEN = parseAddress(`0x${'11'.repeat(20)}`);
const PRICE = { numerator: 3n, denominator: 2n };
const NO_LABEL = { label: null, entity: null, entityLogo: null };

describe('the value of an owner', () => {
  const owner = (balance: string, decimals: number | null, price: typeof PRICE | undefined) =>
    ownerView.show(
      { account: addressOf(7), balance, label: NO_LABEL },
      { decimals, price, percentOf: () => null, codes: new Map() },
    ).usd_value;

  test('is the balance times the price, rounded to cents', () => {
    expect(owner('2000000', 6, PRICE)).toBe('3.00');
    expect(owner('3333', 6, PRICE)).toBe('0.00');
    expect(owner('3334', 6, PRICE)).toBe('0.01');
    expect(owner((10n ** 40n).toString(), 6, PRICE)).toBe(`${15n * 10n ** 33n}.00`);
  });

  test('is null without a price, or without decimals', () => {
    expect(owner('2000000', 6, undefined)).toBeNull();
    expect(owner('2000000', null, PRICE)).toBeNull();
  });
});

describe('the value of an approval', () => {
  const approval: WalletApproval = {
    ...{ block_number: 1, transaction_index: 0, log_index: 0, transaction_hash: hashOf(1, 1) },
    ...{ value: '4000000', token: TOKEN, spender: addressOf(8) },
  };
  const facts = {
    ...{ name: null, symbol: null, decimals: 6, logo: null },
    ...{ possibleSpam: false, verified: false, isNft: false },
  };
  const shown = (allowance: string | null, balance: string | null, price: typeof PRICE | undefined) => {
    const { token } = approvalView.show(
      { approval, allowance, balance },
      {
        prices: new Map(price && [[TOKEN, { usd: price, depth: null }]]),
        tokenOf: (address) => ({ address, ...facts }),
        labelOf: () => NO_LABEL,
        blockOf: () => ({
          block_number: 1,
          block_hash: hashOf(0, 1),
          block_timestamp: '2020-01-01T00:00:00.000Z',
        }),
      },
    );
    return [token.usd_price, token.usd_at_risk];
  };

  test('is the smaller of allowance and balance', () => {
    expect(shown('2000000', '1000000', PRICE)).toEqual([1.5, 1.5]);
    expect(shown('2000000', '9000000', PRICE)).toEqual([1.5, 3]);
    expect(shown((2n ** 256n - 1n).toString(), '10', PRICE)).toEqual([1.5, 0.000015]);
  });

  test('is that of the event until the allowance is read, and null without balance or price', () => {
    expect(shown(null, '9000000', PRICE)).toEqual([1.5, 6]);
    expect(shown('2000000', null, PRICE)).toEqual([1.5, null]);
    expect(shown('2000000', '1000000', undefined)).toEqual([null, null]);
  });
});
