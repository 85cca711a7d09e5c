/** Transfers and approvals in the logs of a node, decoded by viem, with what the contracts say of themselves. */
import type { Address } from '@chainstead/core';
import { type Devnet, unlessReverted } from '@chainstead/testkit';
import { erc20Abi, formatUnits, type Log, parseAbi, parseEventLogs } from 'viem';

type NodeLog = Log<bigint, number, false>;

/** A log with the watched addresses that occur in it. */
export interface ConcernedLog {
  readonly log: NodeLog;
  readonly causes: readonly Address[] | null;
}

interface NodeToken {
  readonly name: string;
  readonly symbol: string;
  /** Null for NFTs. */
  readonly decimals: number | null;
}

export type NodeTokens = ReadonlyMap<string, NodeToken>;

export async function readNodeTokens({ client }: Devnet, addresses: readonly Address[]): Promise<NodeTokens> {
  const entries = addresses.map(async (address): Promise<[string, NodeToken]> => {
    const read = (functionName: 'name' | 'symbol') =>
      client.readContract({ address, abi: erc20Abi, functionName });
    const [name, symbol, decimals] = await Promise.all([
      read('name'),
      read('symbol'),
      unlessReverted(client.readContract({ address, abi: erc20Abi, functionName: 'decimals' })),
    ]);
    return [address, { name, symbol, decimals }];
  });
  return new Map(await Promise.all(entries));
}

const ERC20 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
]);
const ERC721 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
]);
const ERC1155 = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
]);

/** The lists of a webhook that are decoded from its logs. */
export function nodeTokenLists(logs: readonly ConcernedLog[], tokens: NodeTokens) {
  const lists = logs.map(({ log, causes }) => {
    const token = tokens.get(log.address) ?? { name: '', symbol: '', decimals: null };
    const place = { transactionHash: log.transactionHash, logIndex: String(log.logIndex), contract: log.address };
    const names = { tokenName: token.name, tokenSymbol: token.symbol };
    return token.decimals === null
      ? nftLists({ log, place, names, causes })
      : erc20Lists({ log, place, names, decimals: token.decimals, causes });
  });
  const all = <Name extends keyof Lists>(name: Name): Lists[Name] =>
    lists.flatMap((each) => each[name] ?? []) as Lists[Name];
  return {
    erc20Transfers: all('erc20Transfers'),
    erc20Approvals: all('erc20Approvals'),
    nftTransfers: all('nftTransfers'),
    nftTokenApprovals: all('nftTokenApprovals'),
    nftApprovals: { ERC721: all('approvalsOfOne'), ERC1155: all('approvalsOfAll') },
  };
}

type Item = Readonly<Record<string, unknown>>;
type Lists = Record<
  | 'erc20Transfers'
  | 'erc20Approvals'
  | 'nftTransfers'
  | 'nftTokenApprovals'
  | 'approvalsOfOne'
  | 'approvalsOfAll',
  readonly Item[]
>;

interface Shown {
  readonly log: NodeLog;
  readonly place: Item;
  readonly names: Item;
  readonly causes: readonly Address[] | null;
}

function erc20Lists({
  log,
  place,
  names,
  decimals,
  causes,
}: Shown & { readonly decimals: number }): Partial<Lists> {
  const [event] = parseEventLogs({ abi: ERC20, logs: [log] });
  if (event === undefined) return {};
  const { value } = event.args;
  const item = {
    ...place,
    ...names,
    value: String(value),
    tokenDecimals: String(decimals),
    valueWithDecimals: formatUnits(value, decimals),
    logo: null,
    thumbnail: null,
    possibleSpam: false,
    verifiedCollection: false,
    triggered_by: causes,
  };
  return event.eventName === 'Transfer'
    ? { erc20Transfers: [{ ...item, from: lower(event.args.from), to: lower(event.args.to) }] }
    : { erc20Approvals: [{ ...item, owner: lower(event.args.owner), spender: lower(event.args.spender) }] };
}

function nftLists({ log, place, names, causes }: Shown): Partial<Lists> {
  const [single] = parseEventLogs({ abi: ERC721, logs: [log] });
  const [multiple] = parseEventLogs({ abi: ERC1155, logs: [log] });
  const transfer = { ...place, ...names, possibleSpam: false, triggered_by: causes };
  if (single?.eventName === 'Transfer') {
    const { from, to, tokenId } = single.args;
    const what = { tokenContractType: 'ERC721', operator: null, tokenId: String(tokenId), amount: '1' };
    return { nftTransfers: [{ ...transfer, ...what, from: lower(from), to: lower(to) }] };
  }
  if (single?.eventName === 'Approval') {
    const { owner, approved, tokenId } = single.args;
    const facts = { ...place, ...names, tokenContractType: 'ERC721', tokenId: String(tokenId) };
    const parties = { account: lower(owner), operator: lower(approved) };
    return {
      nftTokenApprovals: [{ ...facts, ...parties, approvedAll: false, possibleSpam: false }],
      approvalsOfOne: [{ ...facts, owner: lower(owner), approved: lower(approved) }],
    };
  }
  if (multiple?.eventName === 'ApprovalForAll') {
    const { account, operator, approved } = multiple.args;
    const facts = {
      ...place,
      ...names,
      tokenContractType: 'ERC1155',
      account: lower(account),
      operator: lower(operator),
    };
    return {
      nftTokenApprovals: [{ ...facts, approvedAll: approved, tokenId: null, possibleSpam: false }],
      approvalsOfAll: [{ ...facts, approved }],
    };
  }
  if (multiple === undefined) return {};
  const { operator, from, to } = multiple.args;
  const parties = { operator: lower(operator), from: lower(from), to: lower(to) };
  return {
    nftTransfers: unitsOf(multiple).map(([id, amount]) => {
      return {
        ...transfer,
        ...parties,
        tokenContractType: 'ERC1155',
        tokenId: String(id),
        amount: String(amount),
      };
    }),
  };
}

type Units = ReturnType<typeof parseEventLogs<typeof ERC1155>>[number];

function unitsOf(event: Units): (readonly [id: bigint, amount: bigint])[] {
  if (event.eventName === 'TransferSingle') return [[event.args.id, event.args.value]];
  if (event.eventName !== 'TransferBatch') return [];
  const { ids, values } = event.args;
  return ids.map((id, index) => [id, values[index] ?? 0n]);
}

function lower(address: string): string {
  return address.toLowerCase();
}
