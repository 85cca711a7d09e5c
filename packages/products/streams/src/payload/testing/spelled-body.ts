import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { decodeAbiParameters, formatUnits } from 'viem';
import type { Match, MatchedLog } from '../../matching/match.ts';
import { exampleStream } from '../../matching/testing/example-stream.ts';
import type { BodyBlock } from '../render-body.ts';
import type { Enrichment } from './enriched-match.ts';

/**
 * Returns the body text as docs/api/streams-matching.md specifies it, item by item; each log is decoded again for every
 * list. Shares nothing with the product except the order of members.
 */
export function spelledBody(match: Match, chain: Chain, enrichment: Enrichment, block: BodyBlock): string {
  const { tokens, triggers, nativeBalances } = enrichment;
  const all = <Item>(read: (log: MatchedLog) => readonly Item[]): Item[] => match.logs.flatMap(read);
  const withTriggers = (type: keyof Enrichment['triggers'], items: readonly object[]) =>
    items.map((item, place) => {
      const results = triggers[type]?.get(place);
      return results === undefined ? item : { ...item, triggers: results };
    });
  const named = ({ address }: MatchedLog) => ({
    tokenName: tokens.get(address)?.name ?? '',
    tokenSymbol: tokens.get(address)?.symbol ?? '',
  });
  const amount = (log: MatchedLog) => {
    const token = tokens.get(log.address);
    const value = BigInt(log.data);
    const decimals = token?.decimals ?? null;
    return {
      value: `${value}`,
      ...named(log),
      tokenDecimals: decimals === null ? '' : `${decimals}`,
      ...(decimals === null ? {} : { valueWithDecimals: formatUnits(value, decimals) }),
      logo: token?.logo ?? null,
      thumbnail: null,
      possibleSpam: token?.possibleSpam ?? false,
      verifiedCollection: token?.verified ?? false,
      triggered_by: causes(log),
    };
  };
  const spam = ({ address }: MatchedLog) => ({ possibleSpam: tokens.get(address)?.possibleSpam ?? false });
  const ofAll = (log: MatchedLog) => ({
    ...named(log),
    tokenContractType: tokens.get(log.address)?.standard === 'erc721' ? 'ERC721' : 'ERC1155',
  });
  return JSON.stringify({
    confirmed: false,
    retries: 0,
    chainId: `0x${chain.id.toString(16)}`,
    abi: [],
    streamId: exampleStream().id,
    tag: exampleStream().tag,
    block: { number: `${block.number}`, hash: block.hash, timestamp: `${block.timestamp}` },
    logs: withTriggers(
      'log',
      match.logs.map((log) => ({
        logIndex: `${log.logIndex}`,
        transactionHash: log.transactionHash,
        address: log.address,
        data: log.data,
        ...Object.fromEntries([0, 1, 2, 3].map((index) => [`topic${index}`, log.topics[index] ?? null])),
        triggered_by: causes(log),
      })),
    ),
    txs: withTriggers(
      'tx',
      match.transactions.map((one) => spelledTransaction(one, chain)),
    ),
    txsInternal: match.internalTransactions.map((one) => ({
      from: one.from,
      to: one.to,
      value: one.value,
      gas: one.gas,
      transactionHash: one.transactionHash,
      triggered_by: causes(one),
    })),
    erc20Transfers: withTriggers(
      'erc20transfer',
      all((log) => spelledPair(log, TRANSFER).map(([from, to]) => ({ ...place(log), from, to, ...amount(log) }))),
    ),
    erc20Approvals: withTriggers(
      'erc20approval',
      all((log) =>
        spelledPair(log, APPROVAL).map(([owner, spender]) => ({ ...place(log), owner, spender, ...amount(log) })),
      ),
    ),
    nftTokenApprovals: all<object>((log) => [
      ...spelledToken(log, APPROVAL).map(([account, operator, tokenId]) => ({
        ...{ ...place(log), account, operator, approvedAll: false, tokenId },
        ...{ ...named(log), tokenContractType: 'ERC721', ...spam(log) },
      })),
      ...spelledPair(log, APPROVAL_FOR_ALL).map(([account, operator]) => ({
        ...{ ...place(log), account, operator, approvedAll: BigInt(log.data) !== 0n, tokenId: null },
        ...{ ...ofAll(log), ...spam(log) },
      })),
    ]),
    nftApprovals: {
      ERC721: all((log) =>
        spelledToken(log, APPROVAL).map(([owner, approved, tokenId]) => ({
          ...{ ...place(log), owner, approved, tokenId },
          ...{ ...named(log), tokenContractType: 'ERC721' },
        })),
      ),
      ERC1155: all((log) =>
        spelledPair(log, APPROVAL_FOR_ALL).map(([account, operator]) => ({
          ...{ ...place(log), account, operator, approved: BigInt(log.data) !== 0n, ...ofAll(log) },
        })),
      ),
    },
    nftTransfers: withTriggers(
      'nfttransfer',
      all((log) =>
        spelledMoves(log).map(([operator, from, to, tokenId, count, tokenContractType]) => ({
          ...{ operator, from, to, tokenId, amount: count, ...place(log) },
          ...{ ...named(log), tokenContractType, ...spam(log), triggered_by: causes(log) },
        })),
      ),
    ),
    nativeBalances: nativeBalances.map(({ address, wei }) => ({
      address,
      balance: `${wei}`,
      balanceWithDecimals: formatUnits(wei, chain.native.decimals),
    })),
  });
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';
const SINGLE: string = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH: string = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';

const causes = ({ triggeredBy }: { readonly triggeredBy: readonly Address[] }) =>
  triggeredBy.length === 0 ? null : triggeredBy;
const place = ({ transactionHash, logIndex, address }: MatchedLog) => ({
  transactionHash,
  logIndex: `${logIndex}`,
  contract: address,
});

/** Returns the addresses in the topics after topic0; null unless all of them are addresses. */
function parties({ topics }: MatchedLog, count: number): readonly Address[] | null {
  const texts = topics.slice(1, 1 + count);
  const areAddresses = texts.length === count && texts.every((topic) => /^0x0{24}/.test(topic));
  return areAddresses ? texts.map((topic) => parseAddress(`0x${topic.slice(26)}`)) : null;
}

/** Decodes an event with two indexed addresses and a word. */
function spelledPair(log: MatchedLog, topic: string): readonly (readonly Address[])[] {
  const pair =
    log.topics[0] === topic && log.topics.length === 3 && log.data.length === 66 ? parties(log, 2) : null;
  return pair === null ? [] : [pair];
}

/** Decodes an event with two indexed addresses and an indexed token. */
function spelledToken(log: MatchedLog, topic: string): readonly (readonly string[])[] {
  const pair = log.topics[0] === topic && log.topics.length === 4 && log.data === '0x' ? parties(log, 2) : null;
  return pair === null ? [] : [[...pair, `${BigInt(log.topics[3] ?? 0)}`]];
}

/** Operator, sender, receiver, token, count and standard. */
type Move = readonly (string | null | undefined)[];

function spelledMoves(log: MatchedLog): readonly Move[] {
  const single = spelledToken(log, TRANSFER).map(([from, to, id]): Move => [null, from, to, id, '1', 'ERC721']);
  const three = log.topics.length === 4 ? parties(log, 3) : null;
  if (three === null) return single;
  const [operator = '', from, to] = three;
  const move = (id: bigint, count: bigint): Move => [operator, from, to, `${id}`, `${count}`, 'ERC1155'];
  if (log.topics[0] === SINGLE) {
    const [id, count] = decodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], log.data);
    return [move(id, count)];
  }
  if (log.topics[0] !== BATCH) return single;
  const [ids, counts] = decodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], log.data);
  return ids.map((id, index) => move(id, counts[index] ?? 0n));
}

function spelledTransaction(one: Match['transactions'][number], chain: Chain): object {
  const { transaction: tx, receipt } = one;
  // An empty value, and the `0x` of some nodes, is not a number.
  const number = (value: unknown) =>
    [undefined, null, '0x'].includes(value as null) ? null : `${BigInt(String(value))}`;
  const text = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : null);
  return {
    hash: one.hash,
    gas: number(tx.gas),
    gasPrice: number(tx.gasPrice ?? receipt.effectiveGasPrice),
    nonce: number(tx.nonce),
    input: text(tx.input),
    transactionIndex: `${one.index}`,
    fromAddress: one.from,
    toAddress: one.to,
    value: number(tx.value),
    type: number(tx.type),
    v: number(tx.v ?? tx.yParity),
    r: number(tx.r),
    s: number(tx.s),
    receiptCumulativeGasUsed: number(receipt.cumulativeGasUsed),
    receiptGasUsed: number(receipt.gasUsed),
    receiptContractAddress: text(receipt.contractAddress),
    receiptRoot: receipt.root === '0x' ? null : text(receipt.root),
    receiptStatus: number(receipt.status),
    transactionFee: one.fee == null ? null : formatUnits(BigInt(one.fee), chain.native.decimals),
    triggered_by: causes(one),
  };
}
