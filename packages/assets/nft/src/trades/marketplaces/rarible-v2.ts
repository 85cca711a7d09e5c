import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeAbi } from '@chainstead/events/abi';
import { defineEvent } from '@chainstead/events/decoding';
import type { NftTransfer } from '@chainstead/events/token-events';
import { parseAbiParameters } from 'abitype';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';
import { inWindow, paidInParts, type TransactionWindow } from '../transaction-window.ts';

/** Increases of the fills: `newLeftFill` counts the left maker's receipts, and vice versa. */
const MATCH = defineEvent(
  'event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill, (bytes4 assetClass, bytes data) leftAsset, (bytes4 assetClass, bytes data) rightAsset)',
);
const BARE_MATCH = defineEvent(
  'event Match(bytes32 leftHash, bytes32 rightHash, uint256 newLeftFill, uint256 newRightFill)',
);

/** First four bytes of keccak256 of the class's name. */
const CLASSES = {
  native: '0xaaaebeba',
  erc20: '0x8ae85d84',
  erc721: '0x73ad2146',
  erc1155: '0x973bb640',
} as const;
const TOKEN = parseAbiParameters('address token');
const TOKEN_AND_ID = parseAbiParameters('address token, uint256 tokenId');

const PROTOCOL = 'rarible-v2';

/** The right order is the taker's. Fees on top are found only if payment is in tokens. */
export const raribleV2: Marketplace = {
  name: 'rarible',
  protocol: PROTOCOL,
  topics: [MATCH, BARE_MATCH].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, {
    1: '0x9757f2d2b135150bbeb65308d4a91804107cd8d6',
    137: '0x12b3897a36fdb436dde2788c06eff0ffd997066e',
  }),
  fills: (own, transaction) =>
    own.flatMap((log, index) => {
      const window = { after: own[index - 1] ?? null, before: log };
      return matchFill(log, window, transaction) ?? bareFill(log, window, transaction) ?? [];
    }),
};

type AssetType = Readonly<Record<'assetClass' | 'data', Hex>>;

function matchFill(log: Log, window: TransactionWindow, transaction: TradeTransaction): Fill | null {
  const match = MATCH.read(log);
  if (match === null) return null;
  const leftMoney = moneyOf(match.leftAsset);
  const rightMoney = moneyOf(match.rightAsset);
  // A swap of money or a barter has no price.
  if ((leftMoney === null) === (rightMoney === null)) return null;
  const money = leftMoney ?? rightMoney;
  if (money === null) return null;
  const leftSells = leftMoney === null;
  const [makerOfNft, makerOfMoney] = leftSells
    ? [match.leftMaker, match.rightMaker]
    : [match.rightMaker, match.leftMaker];
  const [amount, price] = leftSells
    ? [match.newRightFill, match.newLeftFill]
    : [match.newLeftFill, match.newRightFill];
  const moved = lastHandedOver(transaction, window);
  const item = itemOf(leftSells ? match.leftAsset : match.rightAsset, amount) ?? moved;
  // An order without a maker belongs to the caller.
  const seller = partyOr(makerOfNft, moved?.from);
  const buyer = partyOr(makerOfMoney, moved?.to);
  if (item === null || seller === null || buyer === null) return null;
  const { token } = money;
  const paid = token === null ? null : paidInParts(price, transaction.payments, { token, buyer, window });
  const { token: contract, tokenId, amount: units } = item;
  const items = [{ token: contract, tokenId, amount: units }];
  return { log, side: leftSells ? 0 : 1, seller, buyer, items, paymentToken: token, price: paid ?? price };
}

/** Parties and token come from the transfer. One number is its amount, the other the price. */
function bareFill(log: Log, window: TransactionWindow, transaction: TradeTransaction): Fill | null {
  const match = BARE_MATCH.read(log);
  const moved = lastHandedOver(transaction, window);
  if (match === null || moved === null) return null;
  const leftSells = match.newRightFill.toString() === moved.amount;
  if (!leftSells && match.newLeftFill.toString() !== moved.amount) return null;
  const price = leftSells ? match.newLeftFill : match.newRightFill;
  const { token, tokenId, amount, from: seller, to: buyer } = moved;
  const tokens = new Set(inWindow(transaction.payments, window).map((payment) => payment.token));
  const sale = { log, side: leftSells ? 0 : 1, seller, buyer, items: [{ token, tokenId, amount }] } as const;
  for (const paidIn of tokens) {
    const paid = paidInParts(price, transaction.payments, { token: paidIn, buyer, window });
    if (paid !== null && paid > 0n) return { ...sale, paymentToken: paidIn, price: paid };
  }
  return { ...sale, paymentToken: null, price };
}

/** The inner null is the native token; the outer null: not money. */
function moneyOf({ assetClass, data }: AssetType): { readonly token: Address | null } | null {
  if (assetClass === CLASSES.native) return { token: null };
  if (assetClass !== CLASSES.erc20) return null;
  try {
    return { token: lowerCase(decodeAbi(TOKEN, data)[0]) };
  } catch {
    return null;
  }
}

/** Null for lazy mints and whole collections: the transfer shows the token. */
function itemOf({ assetClass, data }: AssetType, amount: bigint): TradedItem | null {
  if (assetClass !== CLASSES.erc721 && assetClass !== CLASSES.erc1155) return null;
  try {
    const [token, tokenId] = decodeAbi(TOKEN_AND_ID, data);
    return tradedItem(token, tokenId, amount);
  } catch {
    return null;
  }
}

function lastHandedOver({ transfers }: TradeTransaction, window: TransactionWindow): NftTransfer | null {
  const moved = inWindow(transfers, window);
  return moved.findLast(({ from }) => from !== ZERO_ADDRESS) ?? moved.at(-1) ?? null;
}

function partyOr(maker: Hex, mover: Address | undefined): Address | null {
  const party = lowerCase(maker);
  return party === ZERO_ADDRESS ? (mover ?? null) : party;
}
