import { describe, expect, test } from 'vitest';
import { decodeExample, tradesOf } from '../testing/example-trades.ts';
import { erc20Transfer, erc721Transfer } from '../testing/example-transaction.ts';
import { elementBuy, elementSell, elementV1, elementV2 } from './testing/example-events-of-small-markets.ts';
import { buyer, cats, feeWallet, other, seller, weth } from './testing/example-sale.ts';

const given = erc721Transfer(cats, seller, buyer, 7n);
const paid = (value: bigint, to = seller) => erc20Transfer(weth, buyer, to, value);
const trades = (...logs: Parameters<typeof decodeExample>[0][number][]) => tradesOf(decodeExample(logs));

describe('Element', () => {
  test('v1: matched orders are one trade, at all that the buyer paid', () => {
    const sell = elementV1.erc721Sell({ ...elementSell, erc20Token: weth });
    const buy = elementV1.erc721Buy({ ...elementBuy, amount: 1_200n });
    expect(trades(given, paid(1_000n), paid(50n, feeWallet), paid(150n, other), sell, buy)).toMatchObject([
      { logIndex: 4, side: 2, seller, buyer, paymentToken: weth, price: '1200' },
    ]);
  });

  test('v2: the amount includes the fees, so transfers are not asked', () => {
    const sell = elementV2.erc721Sell({ ...elementSell, erc20Token: weth, amount: 1_050n });
    expect(trades(given, paid(1_050n), paid(40n, other), sell)).toMatchObject([
      { price: '1050', paymentToken: weth },
    ]);
  });

  test('v2: matched orders are one trade, at what the buy order offers', () => {
    const sell = elementV2.erc721Sell(elementSell);
    const buy = elementV2.erc721Buy({ ...elementBuy, amount: 1_200n });
    expect(trades(given, sell, buy)).toMatchObject([{ side: 2, paymentToken: weth, price: '1200' }]);
  });

  test('sell and buy of other tokens, or with something between them, are no match', () => {
    const sell = elementV1.erc721Sell(elementSell);
    const buy = elementV1.erc721Buy(elementBuy);
    const other8 = elementV1.erc721Buy({ ...elementBuy, tokenId: 8n });
    expect(trades(given, sell, other8)).toHaveLength(2);
    expect(trades(given, sell, erc721Transfer(cats, buyer, seller, 7n), given, buy)).toHaveLength(2);
  });

  test('events of both versions in one transaction are all told', () => {
    const logs = [
      given,
      elementV1.erc721Sell(elementSell),
      elementV2.erc721Sell({ ...elementSell, tokenId: 8n }),
    ];
    expect(trades(...logs).map(({ ids }) => ids)).toEqual([['7'], ['8']]);
  });
});
