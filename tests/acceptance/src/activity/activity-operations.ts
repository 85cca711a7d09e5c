/** The operations that say what happened, with what each of them can be asked wrongly. */

/** What a query parameter is read as. */
export type ParameterKind =
  | 'block'
  | 'chains'
  | 'closest'
  | 'currency'
  | 'cursor'
  | 'date'
  | 'dateToFind'
  | 'flag'
  | 'include'
  | 'includeLogs'
  | 'limit'
  | 'offset'
  | 'order'
  | 'place'
  | 'topic';

/** What a segment of the path is read as. */
export type SegmentKind = 'address' | 'account' | 'contract' | 'chain' | 'domain' | 'hash' | 'place';

export interface ActivityOperation {
  /** The provider's name of it. */
  readonly name: string;
  /** Below `/api/v2.2`; `{it}` is filled in. */
  readonly path: string;
  /** What `{it}` is, and what refusals call it. */
  readonly segment?: { readonly kind: SegmentKind; readonly name: string };
  readonly parameters: Readonly<Record<string, ParameterKind>>;
  /** Whether it has a parameter `chain`. */
  readonly isOfChain?: boolean;
  /** Query parameters without which it is refused. */
  readonly needs?: string;
  /** A body that it takes; it is posted. */
  readonly body?: unknown;
}

export const WALLET = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
export const HASH = `0x${'ab'.repeat(32)}`;
/** An event that a contract may have. */
export const EVENT = {
  type: 'event',
  name: 'Transfer',
  anonymous: false,
  inputs: [
    { indexed: true, name: 'from', type: 'address' },
    { indexed: true, name: 'to', type: 'address' },
    { indexed: false, name: 'value', type: 'uint256' },
  ],
};

const BOUNDS = { from_block: 'block', to_block: 'block', from_date: 'date', to_date: 'date' } as const;
const PAGE = { limit: 'limit', order: 'order', cursor: 'cursor' } as const;
const ACCOUNT = { kind: 'account', name: 'address' } as const;
const ADDRESS = { kind: 'address', name: 'address' } as const;
const CONTRACT = { kind: 'contract', name: 'address' } as const;
const TRANSACTION = { kind: 'hash', name: 'transaction_hash' } as const;
const PLACE = { kind: 'place', name: 'block_number_or_hash' } as const;
const DOMAIN = { kind: 'domain', name: 'domain' } as const;
const INCLUDE = { include: 'include' } as const;
const LIST = { ...BOUNDS, ...INCLUDE, ...PAGE } as const;

/** In the order of the provider's documents. */
export const ACTIVITY_OPERATIONS: readonly ActivityOperation[] = [
  { name: 'getWalletTransactions', path: '/{it}', segment: ACCOUNT, parameters: LIST, isOfChain: true },
  {
    name: 'getWalletTransactionsVerbose',
    path: '/{it}/verbose',
    segment: ACCOUNT,
    parameters: LIST,
    isOfChain: true,
  },
  {
    name: 'getTransaction',
    path: '/transaction/{it}',
    segment: TRANSACTION,
    parameters: INCLUDE,
    isOfChain: true,
  },
  {
    name: 'getTransactionVerbose',
    path: '/transaction/{it}/verbose',
    segment: TRANSACTION,
    parameters: INCLUDE,
    isOfChain: true,
  },
  {
    name: 'getInternalTransactions',
    path: '/transaction/{it}/internal-transactions',
    segment: TRANSACTION,
    parameters: {},
    isOfChain: true,
  },
  { name: 'getBlock', path: '/block/{it}', segment: PLACE, parameters: INCLUDE, isOfChain: true },
  { name: 'getBlockStats', path: '/block/{it}/stats', segment: PLACE, parameters: {}, isOfChain: true },
  {
    name: 'getLatestBlockNumber',
    path: '/latestBlockNumber/{it}',
    segment: { kind: 'chain', name: 'chain' },
    parameters: {},
  },
  {
    name: 'getDateToBlock',
    path: '/dateToBlock',
    parameters: { date: 'dateToFind', closest: 'closest' },
    isOfChain: true,
  },
  {
    name: 'getContractLogs',
    path: '/{it}/logs',
    segment: CONTRACT,
    parameters: {
      ...{ block_number: 'block', topic0: 'topic', topic1: 'topic', topic2: 'topic', topic3: 'topic' },
      ...{ ...BOUNDS, ...PAGE },
    },
    isOfChain: true,
  },
  {
    name: 'getContractEvents',
    path: '/{it}/events',
    segment: CONTRACT,
    parameters: { topic: 'topic', offset: 'offset', ...BOUNDS, ...PAGE },
    isOfChain: true,
    body: EVENT,
  },
  {
    name: 'runContractFunction',
    path: '/{it}/function',
    segment: ADDRESS,
    parameters: { block: 'place', to_block: 'block' },
    isOfChain: true,
    needs: 'function_name=f',
    body: { abi: [{ type: 'function', name: 'f', inputs: [], outputs: [] }] },
  },
  {
    name: 'getWalletHistory',
    path: '/wallets/{it}/history',
    segment: ADDRESS,
    parameters: {
      ...{ include_internal_transactions: 'flag', nft_metadata: 'flag', include_input_data: 'flag' },
      ...{ include: 'includeLogs', ...BOUNDS, ...PAGE },
    },
    isOfChain: true,
  },
  {
    name: 'getWalletActiveChains',
    path: '/wallets/{it}/chains',
    segment: ADDRESS,
    parameters: { chains: 'chains' },
  },
  { name: 'getWalletStats', path: '/wallets/{it}/stats', segment: ADDRESS, parameters: {}, isOfChain: true },
  {
    name: 'getWalletInsight',
    path: '/wallets/{it}/insight',
    segment: ADDRESS,
    parameters: { chains: 'chains', includeChainBreakdown: 'flag' },
  },
  { name: 'resolveENSDomain', path: '/resolve/ens/{it}', segment: DOMAIN, parameters: {} },
  { name: 'resolveAddress', path: '/resolve/{it}/reverse', segment: ADDRESS, parameters: {} },
  { name: 'resolveDomain', path: '/resolve/{it}', segment: DOMAIN, parameters: { currency: 'currency' } },
  {
    name: 'resolveAddressToDomain',
    path: '/resolve/{it}/domain',
    segment: ADDRESS,
    parameters: { currency: 'currency' },
  },
  { name: 'reviewContracts', path: '/contracts-review', parameters: {}, body: {} },
];

/** The operation of this name. */
export function activityOperation(name: string): ActivityOperation {
  const found = ACTIVITY_OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}`);
  return found;
}
