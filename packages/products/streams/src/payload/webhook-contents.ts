import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount } from '@chainstead/core';
import type { Match, MatchedLog } from '../matching/match.ts';
import type { TokenContractType, WebhookContents, WebhookLog } from '../webhook.ts';
import { cleanText } from './clean-text.ts';
import type { TokenEvent } from './token-events.ts';
import { type TokenNote, UNKNOWN_TOKEN } from './token-note.ts';
import { transactionItem } from './transaction-item.ts';

export function tokenContracts(events: readonly TokenEvent[]): Address[] {
  return [...new Set(events.map(({ log }) => log.address))];
}

export interface ContentsSource {
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
