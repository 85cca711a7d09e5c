import type { WebhookContents } from './webhook.ts';

type ItemList = 'txs' | 'logs' | 'erc20Transfers' | 'erc20Approvals' | 'nftTransfers' | 'txsInternal';

interface ItemType<List extends ItemList> {
  readonly list: List;
  /** Members that `$name` selects as an address; topics need 12 zero bytes. */
  readonly addresses: readonly (keyof WebhookContents[List][number])[];
  readonly others: readonly (keyof WebhookContents[List][number])[];
  readonly hasTriggers: boolean;
  readonly hasTopic0?: boolean;
}

type AnyItemType = { readonly [List in ItemList]: ItemType<List> }[ItemList];

const TOKEN = ['transactionHash', 'logIndex', 'tokenName', 'tokenSymbol'] as const;
const ERC20 = [...TOKEN, 'tokenDecimals', 'value', 'valueWithDecimals'] as const;

/**
 * Item types by their name in streams. Determines the allowed selectors, triggers and results.
 *
 * @example
 * ```ts
 * import type { itemTypeOf } from './item-types.ts';
 *
 * // An entry of this table: a trigger of type `nftmove` reads the items of the webhook's `nftTransfers`.
 * export const nftmove = {
 *   list: 'nftTransfers',
 *   addresses: ['contract', 'from', 'to'],
 *   others: ['transactionHash', 'tokenId'],
 *   hasTriggers: true,
 * } as const satisfies ReturnType<typeof itemTypeOf>;
 * ```
 */
export const ITEM_TYPES = {
  tx: {
    list: 'txs',
    addresses: ['fromAddress', 'toAddress', 'receiptContractAddress'],
    others: [
      'hash',
      'gas',
      'gasPrice',
      'nonce',
      'input',
      'transactionIndex',
      'value',
      'type',
      'v',
      'r',
      's',
      'receiptCumulativeGasUsed',
      'receiptGasUsed',
      'receiptRoot',
      'receiptStatus',
      'transactionFee',
    ],
    hasTriggers: true,
  },
  log: {
    list: 'logs',
    addresses: ['address', 'topic1', 'topic2', 'topic3'],
    others: ['logIndex', 'transactionHash', 'data', 'topic0'],
    hasTriggers: true,
    hasTopic0: true,
  },
  erc20transfer: {
    list: 'erc20Transfers',
    addresses: ['contract', 'from', 'to'],
    others: ERC20,
    hasTriggers: true,
  },
  erc20approval: {
    list: 'erc20Approvals',
    addresses: ['contract', 'owner', 'spender'],
    others: ERC20,
    hasTriggers: true,
  },
  nfttransfer: {
    list: 'nftTransfers',
    addresses: ['contract', 'operator', 'from', 'to'],
    others: [...TOKEN, 'tokenContractType', 'tokenId', 'amount'],
    hasTriggers: true,
  },
  internalTx: {
    list: 'txsInternal',
    addresses: ['from', 'to'],
    others: ['transactionHash', 'value', 'gas'],
    hasTriggers: false,
  },
} as const satisfies Readonly<Record<string, AnyItemType>>;

export type SelectorType = keyof typeof ITEM_TYPES;

export type TriggerType = {
  [Type in SelectorType]: (typeof ITEM_TYPES)[Type]['hasTriggers'] extends true ? Type : never;
}[SelectorType];

export const SELECTOR_TYPES = Object.keys(ITEM_TYPES) as readonly SelectorType[];
export const TRIGGER_TYPES = SELECTOR_TYPES.filter((type): type is TriggerType => ITEM_TYPES[type].hasTriggers);

export function itemTypeOf(type: SelectorType): AnyItemType {
  return ITEM_TYPES[type];
}
