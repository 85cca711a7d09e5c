import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, type Log } from '@chainstead/core';
import {
  type Approval,
  decodeApproval,
  decodeErc20Transfer,
  decodeNftTransfers,
  type Erc20Transfer,
  NFT_TRANSFER_KINDS,
} from '@chainstead/events/token-events';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import type { Match, MatchedLog, MatchedTransaction } from '../matching/match.ts';
import type { TokenContractType, WebhookContents, WebhookLog, WebhookTransaction } from '../webhook.ts';
import { cleanText } from './render-body.ts';

export function tokenContracts(events: readonly TokenEvent[]): Address[] {
  return [...new Set(events.map(({ log }) => log.address))];
}

interface ContentsSource {
  readonly match: Match;
  readonly events: readonly TokenEvent[];
  readonly chain: Chain;
  readonly tokens: ReadonlyMap<Address, TokenNote>;
}

export function webhookContents({ match, events, chain, tokens }: ContentsSource): WebhookContents {
  const tokenOf = (address: Address): TokenNote => tokens.get(address) ?? UNKNOWN_TOKEN;
  const eventsOf = <Type extends TokenEvent['type']>(type: Type): Extract<TokenEvent, { type: Type }>[] =>
    events.filter((event): event is Extract<TokenEvent, { type: Type }> => event.type === type);
  return {
    logs: match.logs.map(logItem),
    txs: match.transactions.map((transaction) => transactionItem(transaction, chain)),
    txsInternal: match.internalTransactions.map(({ from, to, value, gas, transactionHash, triggeredBy }) => {
      return { from, to, value, gas, transactionHash, triggered_by: causes(triggeredBy) };
    }),
    erc20Transfers: eventsOf('erc20Transfer').map(({ log, from, to, value }) => {
      const facts = erc20Facts(value, tokenOf(log.address));
      return { ...place(log), from, to, ...facts, triggered_by: causes(log.triggeredBy) };
    }),
    erc20Approvals: eventsOf('erc20Approval').map(({ log, owner, spender, value }) => {
      const facts = erc20Facts(value, tokenOf(log.address));
      return { ...place(log), owner, spender, ...facts, triggered_by: causes(log.triggeredBy) };
    }),
    ...approvalItems(events, tokenOf),
    nftTransfers: eventsOf('nftTransfer').map(({ log, operator, from, to, tokenId, amount, standard }) => {
      const token = tokenOf(log.address);
      const parties = { operator, from, to, tokenId, amount };
      const facts = { ...nftFacts(token, standard), possibleSpam: token.possibleSpam };
      return { ...parties, ...place(log), ...facts, triggered_by: causes(log.triggeredBy) };
    }),
  };
}

function approvalItems(
  events: readonly TokenEvent[],
  tokenOf: (address: Address) => TokenNote,
): Pick<WebhookContents, 'nftTokenApprovals' | 'nftApprovals'> {
  const approvals: Writable = { nftTokenApprovals: [], nftApprovals: { ERC721: [], ERC1155: [] } };
  for (const event of events) {
    const token = tokenOf(event.log.address);
    const { possibleSpam } = token;
    const at = place(event.log);
    if (event.type === 'nftApproval') {
      const { owner, approved, tokenId } = event;
      const facts = nftFacts(token, 'ERC721');
      const single = { account: owner, operator: approved, approvedAll: false, tokenId };
      approvals.nftTokenApprovals.push({ ...at, ...single, ...facts, possibleSpam });
      approvals.nftApprovals.ERC721.push({ ...at, owner, approved, tokenId, ...facts });
    } else if (event.type === 'approvalForAll') {
      const { account, operator, approved } = event;
      // Both standards use the same event.
      const facts = nftFacts(token, token.standard === 'erc721' ? 'ERC721' : 'ERC1155');
      const all = { account, operator, approvedAll: approved, tokenId: null };
      approvals.nftTokenApprovals.push({ ...at, ...all, ...facts, possibleSpam });
      approvals.nftApprovals.ERC1155.push({ ...at, account, operator, approved, ...facts });
    }
  }
  return approvals;
}

interface Writable {
  readonly nftTokenApprovals: WebhookContents['nftTokenApprovals'][number][];
  readonly nftApprovals: {
    readonly ERC721: WebhookContents['nftApprovals']['ERC721'][number][];
    readonly ERC1155: WebhookContents['nftApprovals']['ERC1155'][number][];
  };
}

function logItem(log: MatchedLog): WebhookLog {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return {
    logIndex: String(log.logIndex),
    transactionHash: log.transactionHash,
    address: log.address,
    data: log.data,
    topic0,
    topic1,
    topic2,
    topic3,
    triggered_by: causes(log.triggeredBy),
  };
}

function causes(triggeredBy: readonly Address[]): readonly Address[] | null {
  return triggeredBy.length === 0 ? null : triggeredBy;
}

function place(
  log: MatchedLog,
): Pick<WebhookContents['erc20Transfers'][number], 'transactionHash' | 'logIndex' | 'contract'> {
  return { transactionHash: log.transactionHash, logIndex: String(log.logIndex), contract: log.address };
}

function erc20Facts(value: string, token: TokenNote) {
  const { decimals, logo, possibleSpam, verified } = token;
  return {
    value,
    tokenName: cleanText(token.name ?? ''),
    tokenSymbol: cleanText(token.symbol ?? ''),
    tokenDecimals: decimals === null ? '' : String(decimals),
    ...(decimals === null ? {} : { valueWithDecimals: decimalAmount(value, decimals) }),
    logo: logo === null ? null : cleanText(logo),
    thumbnail: null,
    possibleSpam,
    verifiedCollection: verified,
  };
}

function nftFacts(token: TokenNote, tokenContractType: TokenContractType) {
  return {
    tokenName: cleanText(token.name ?? ''),
    tokenSymbol: cleanText(token.symbol ?? ''),
    tokenContractType,
  };
}

/** Amounts and ids are decimal digits. */
export type TokenEvent = { readonly log: MatchedLog } & (
  | ({ readonly type: 'erc20Transfer' } & Erc20Transfer)
  | Approval
  | NftTransferEvent
);

interface NftTransferEvent {
  readonly type: 'nftTransfer';
  readonly standard: TokenContractType;
  readonly operator: Address | null;
  readonly from: Address;
  readonly to: Address;
  readonly tokenId: string;
  readonly amount: string;
}

/** A TransferBatch yields one per id. Topic count separates ERC-20 from ERC-721. No ERC-2309. */
export function decodeTokenEvents(logs: readonly MatchedLog[], chain: Chain): TokenEvent[] {
  const transfers = nftTransfers(logs, chain);
  return logs.flatMap((log): readonly TokenEvent[] => {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer !== null) return [{ type: 'erc20Transfer', log, ...transfer }];
    const approval = decodeApproval(log);
    return approval === null ? (transfers.get(log) ?? []) : [{ log, ...approval }];
  });
}

const { erc721, unindexed, erc1155Single, erc1155Batch } = NFT_TRANSFER_KINDS;
const STANDARDS: ReadonlyMap<number, TokenContractType> = new Map<number, TokenContractType>([
  [erc721, 'ERC721'],
  [unindexed, 'ERC721'],
  [erc1155Single, 'ERC1155'],
  [erc1155Batch, 'ERC1155'],
]);

function nftTransfers(logs: readonly MatchedLog[], chain: Chain): ReadonlyMap<MatchedLog, readonly TokenEvent[]> {
  const matched = new Map<Log, MatchedLog>(
    logs.map((log) => [{ ...log, blockNumber: 0, blockHash: log.transactionHash, blockTimestamp: null }, log]),
  );
  const { transfers } = decodeNftTransfers([...matched.keys()], chain);
  const events = transfers.flatMap(({ kind, log: whole, operator, from, to, tokenId, amount }) => {
    const [standard, log] = [STANDARDS.get(kind), matched.get(whole)];
    if (standard === undefined || log === undefined) return [];
    return [{ type: 'nftTransfer', log, standard, operator, from, to, tokenId, amount } as const];
  });
  return Map.groupBy(events, ({ log }) => log);
}

export interface TokenNote extends Omit<TokenFacts, 'address' | 'isNft'> {
  readonly standard: 'erc20' | 'erc721' | 'erc1155' | null;
}

export const UNKNOWN_TOKEN: TokenNote = {
  name: null,
  symbol: null,
  decimals: null,
  standard: null,
  logo: null,
  possibleSpam: false,
  verified: false,
};

export function transactionItem(matched: MatchedTransaction, chain: Chain): WebhookTransaction {
  const { transaction, receipt } = matched;
  return {
    hash: matched.hash,
    gas: decimal(transaction.gas),
    gasPrice: decimal(transaction.gasPrice ?? receipt.effectiveGasPrice),
    nonce: decimal(transaction.nonce),
    input: hexadecimal(transaction.input),
    transactionIndex: String(matched.index),
    fromAddress: matched.from,
    toAddress: matched.to,
    value: decimal(transaction.value),
    type: decimal(transaction.type),
    v: decimal(transaction.v ?? transaction.yParity),
    r: decimal(transaction.r),
    s: decimal(transaction.s),
    receiptCumulativeGasUsed: decimal(receipt.cumulativeGasUsed),
    receiptGasUsed: decimal(receipt.gasUsed),
    receiptContractAddress: hexadecimal(receipt.contractAddress),
    // After Byzantium some nodes return an empty root.
    receiptRoot: receipt.root === '0x' ? null : hexadecimal(receipt.root),
    receiptStatus: decimal(receipt.status),
    transactionFee: typeof matched.fee === 'string' ? decimalAmount(matched.fee, chain.native.decimals) : null,
    triggered_by: matched.triggeredBy.length === 0 ? null : matched.triggeredBy,
  };
}

function decimal(value: unknown): string | null {
  return quantity(value)?.toString() ?? null;
}

/** Hexadecimal; some nodes return small ones as numbers. */
function quantity(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  return typeof value === 'string' && /^(?:0x[0-9a-f]+|\d+)$/i.test(value) ? BigInt(value) : null;
}

function hexadecimal(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : null;
}
