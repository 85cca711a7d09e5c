import type { ExpectedTrade, MarketStall } from './market-stall.ts';
import { advanced, component, fulfillment, items, order } from './seaport-order.ts';

type Sale = (stall: MarketStall) => Promise<ExpectedTrade[]>;

const ones = (ids: readonly bigint[]): { tokenIds: string[]; amounts: string[] } => ({
  tokenIds: ids.map(String),
  amounts: ids.map(() => '1'),
});

const listing: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const id = await stall.mintCat();
  const sell = stall.listing([items.erc721(market.cats.address, id)]);
  await stall.validate([sell], seller);
  const receipt = await stall.fill('fulfillOrder', [sell, NO_CONDUIT], buyer, price);
  return stall.sold(receipt, { what: 'listing', ...ones([id]), price: String(price) });
};

const offer: Sale = async (stall) => {
  const { buyer, seller, price, fee, market } = stall;
  const id = await stall.mintCat();
  const [cat, paid] = [items.erc721(market.cats.address, id), market.wrappedEther.address];
  const bid = order({
    offerer: buyer,
    offer: [items.erc20(paid, price)],
    consideration: [
      { ...cat, recipient: buyer },
      { ...items.erc20(paid, fee), recipient: market.feeRecipient },
    ],
    salt: stall.next(),
  });
  const counter = order({
    offerer: seller,
    offer: [cat],
    consideration: [{ ...items.erc20(paid, price - fee), recipient: seller }],
    salt: stall.next(),
  });
  await stall.validate([bid], buyer);
  const fulfillments = [fulfillment([1, 0], [0, 0]), fulfillment([0, 0], [0, 1]), fulfillment([0, 0], [1, 0])];
  const receipt = await stall.fill('matchOrders', [[bid, counter], fulfillments], seller);
  return stall.sold(receipt, { what: 'offer', ...ones([id]), paymentToken: paid, price: String(price) });
};

const collectionOffer: Sale = async (stall) => {
  const { buyer, seller, price, fee, market } = stall;
  const id = await stall.mintCat();
  const paid = market.wrappedEther.address;
  const bid = order({
    offerer: buyer,
    offer: [items.erc20(paid, price)],
    consideration: [
      { ...items.anyErc721(market.cats.address), recipient: buyer },
      { ...items.erc20(paid, fee), recipient: market.feeRecipient },
    ],
    salt: stall.next(),
  });
  await stall.validate([bid], buyer);
  const chosen = { orderIndex: 0n, side: CONSIDERATION_SIDE, index: 0n, identifier: id, criteriaProof: [] };
  const args = [advanced(bid), [chosen], NO_CONDUIT, seller];
  const receipt = await stall.fill('fulfillAdvancedOrder', args, seller);
  return stall.sold(receipt, {
    what: 'collection offer',
    ...ones([id]),
    paymentToken: paid,
    price: String(price),
  });
};

const bundle: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const ids = [await stall.mintCat(), await stall.mintCat(), await stall.mintCat()];
  const sell = stall.listing(ids.map((id) => items.erc721(market.cats.address, id)));
  await stall.validate([sell], seller);
  const receipt = await stall.fill('fulfillOrder', [sell, NO_CONDUIT], buyer, price);
  return stall.sold(receipt, { what: 'bundle', ...ones(ids), price: String(price) });
};

const mixedBundle: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const ids = [await stall.mintCat(), await stall.mintCat()];
  const prints = await stall.mintPrints(5n);
  const offered = ids.map((id) => items.erc721(market.cats.address, id));
  const sell = stall.listing([...offered, items.erc1155(market.prints.address, prints, 5n)]);
  await stall.validate([sell], seller);
  const receipt = await stall.fill('fulfillOrder', [sell, NO_CONDUIT], buyer, price);
  const terms = { what: 'bundle of two collections', price: String(price) };
  const ofPrints = { token: market.prints.address, tokenIds: [String(prints)], amounts: ['5'], bundle: true };
  return stall.sold(receipt, { ...terms, ...ones(ids) }, { ...terms, ...ofPrints });
};

const partialFill: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const id = await stall.mintPrints(10n);
  const { parameters } = stall.listing([items.erc1155(market.prints.address, id, 10n)], price * 10n);
  const { offer: offered, consideration, salt } = parameters;
  const sell = order({ offerer: seller, offer: offered, consideration, salt, partial: true });
  await stall.validate([sell], seller);
  const paid = price * 3n;
  const args = [advanced(sell, 3n, 10n), [], NO_CONDUIT, buyer];
  const receipt = await stall.fill('fulfillAdvancedOrder', args, buyer, paid);
  const terms = { token: market.prints.address, tokenIds: [String(id)], amounts: ['3'], price: String(paid) };
  return stall.sold(receipt, { what: 'partial fill', ...terms });
};

const privateSale: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const id = await stall.mintCat();
  const cat = items.erc721(market.cats.address, id);
  const sell = stall.listing([cat], price, [{ ...cat, recipient: buyer }]);
  await stall.validate([sell], seller);
  const mirror = order({ offerer: buyer, offer: [items.ether(price)], consideration: [], salt: stall.next() });
  const fulfillments = [fulfillment([0, 0], [0, 2]), fulfillment([1, 0], [0, 0]), fulfillment([1, 0], [0, 1])];
  const receipt = await stall.fill('matchOrders', [[sell, mirror], fulfillments], buyer, price);
  return stall.sold(receipt, { what: 'private sale', ...ones([id]), price: String(price) });
};

const sweep: Sale = async (stall) => {
  const { buyer, seller, price, market } = stall;
  const prices = [price, price * 2n, price * 3n];
  const ids = [await stall.mintCat(), await stall.mintCat(), await stall.mintCat()];
  const sells = ids.map((id, index) => stall.listing([items.erc721(market.cats.address, id)], prices[index]));
  await stall.validate(sells, seller);
  await stall.cancel(sells.slice(2));
  const args = [
    sells,
    ids.map((_, index) => [component(index, 0)]),
    [ids.map((_, index) => component(index, 0)), ids.map((_, index) => component(index, 1))],
    NO_CONDUIT,
    BigInt(ids.length),
  ];
  const receipt = await stall.fill('fulfillAvailableOrders', args, buyer, price * 6n);
  const terms = ids
    .slice(0, 2)
    .map((id, index) => ({ what: 'sweep', ...ones([id]), price: String(prices[index]) }));
  return stall.sold(receipt, ...terms);
};

/** Bought by a contract that passes the token on: the last holder is the buyer. The longest id. */
const routedSale: Sale = async (stall) => {
  const { seller, price, market } = stall;
  const id = await stall.mintCat(stall.longId());
  const sell = stall.listing([items.erc721(market.cats.address, id)]);
  await stall.validate([sell], seller);
  const receipt = await stall.fillThroughRouter('fulfillOrder', [sell, NO_CONDUIT], id);
  return stall.sold(receipt, { what: 'sale through a router', ...ones([id]), price: String(price) });
};

const NO_CONDUIT = `0x${'0'.repeat(64)}`;
const CONSIDERATION_SIDE = 1;

export const MARKET_SALES = {
  listing,
  offer,
  collectionOffer,
  bundle,
  mixedBundle,
  partialFill,
  privateSale,
  sweep,
  routedSale,
} satisfies Record<string, Sale>;

export type MarketSale = keyof typeof MARKET_SALES;
