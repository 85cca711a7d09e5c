import type { SelectorType } from '../stream.ts';

/** What `$name` may stand for in an object of a type: members of the webhook's objects (docs/provider-contract.md#webhook-body). */
interface SelectorFields {
  /** Those that hold an address; a topic does when its upper 12 bytes are zero. */
  readonly addresses: readonly string[];
  readonly others: readonly string[];
}

const TOKEN = ['transactionHash', 'logIndex', 'tokenName', 'tokenSymbol'];
const ERC20 = [...TOKEN, 'tokenDecimals', 'value', 'valueWithDecimals'];

const FIELDS: Readonly<Record<SelectorType, SelectorFields>> = {
  tx: {
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
  },
  log: {
    addresses: ['address', 'topic1', 'topic2', 'topic3'],
    others: ['logIndex', 'transactionHash', 'data', 'topic0'],
  },
  erc20transfer: { addresses: ['contract', 'from', 'to'], others: ERC20 },
  erc20approval: { addresses: ['contract', 'owner', 'spender'], others: ERC20 },
  nfttransfer: {
    addresses: ['contract', 'operator', 'from', 'to'],
    others: [...TOKEN, 'tokenContractType', 'tokenId', 'amount'],
  },
  internalTx: { addresses: ['from', 'to'], others: ['transactionHash', 'value', 'gas'] },
};

/** Whether a text is meant as a selector. */
export function isSelector(text: string): boolean {
  return text.startsWith('$');
}

/** What is wrong with a selector of objects of this type, or null. `address`: where an address has to come out. */
export function selectorProblem(type: SelectorType, selector: string, kind: 'address' | 'any'): string | null {
  const { addresses, others } = FIELDS[type];
  const name = selector.slice(1);
  const allowed = kind === 'address' ? addresses : [...addresses, ...others];
  if (isSelector(selector) && allowed.includes(name)) return null;
  const list = allowed.map((field) => `$${field}`).join(', ');
  return `must be a selector of ${kind === 'address' ? 'an address' : 'a member'} of type ${type}: ${list}`;
}
