/** Wallets, tokens, coins and transactions that requests name, chosen from recorded data alone: the same in each run. */
import type { AptosRestTransaction } from '../../apps/chainstead/src/demo/aptos/aptos-ledger.ts';
import type { ChainSource } from '../../tests/testkit/src/nodes/chain-source.ts';

export type Subjects = ReturnType<typeof chooseSubjects>;

type Log = Readonly<{ address: string; topics: readonly string[]; data: string; transactionHash: string }>;
type AptosChange = Readonly<{ address?: string; data?: { readonly type?: string } | null }>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** ERC-1155. */
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
/** Seaport. */
const ORDER_FULFILLED = '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31';
const NULL_ADDRESS = `0x${'0'.repeat(40)}`;

/** @param aptos transactions in REST form */
export function chooseSubjects(chain: ChainSource, aptos: readonly AptosRestTransaction[]) {
  const blocks = [...chain.blocksIn({ from: chain.firstBlock, to: chain.head })];
  const logs = blocks.flatMap(({ receipts }) => receipts.flatMap((receipt) => receipt.logs as readonly Log[]));
  const ofTopic = (topic: string, count: number): Log[] =>
    logs.filter(({ topics }) => topics[0] === topic && topics.length === count);
  const [erc20, erc721, erc1155] = [ofTopic(TRANSFER, 3), ofTopic(TRANSFER, 4), ofTopic(TRANSFER_SINGLE, 4)];
  const sales = new Set(ofTopic(ORDER_FULFILLED, 3).map((log) => log.transactionHash));
  const sold = [...erc721, ...erc1155].filter(({ transactionHash }) => sales.has(transactionHash));
  const coins = aptos
    .flatMap(({ changes = [] }) => changes as readonly AptosChange[])
    .flatMap(({ address = '', data }) => {
      const coinType = /^0x1::coin::Coin(?:Store|Info)<(.*)>$/.exec(data?.type ?? '')?.[1];
      return coinType === undefined ? [] : [{ owner: `0x${address.slice(2).padStart(64, '0')}`, coinType }];
    });
  const senders = erc20.map(({ topics }) => addressIn(topics[1]));
  return {
    ...{ first: chain.firstBlock, last: chain.head, blockHash: String(chain.blockAt(chain.head)?.hash) },
    /** A time between first and last block, in ms. */
    middle: Number(blocks[blocks.length >> 1]?.header.timestamp) * 1_000,
    wallets: [
      ...mostFrequent(senders, 2),
      ...mostFrequent(erc721.map(recipientOf), 1),
      ...sold.slice(0, 1).map(recipientOf),
    ],
    tokens: mostFrequent(erc20.map(addressOf), 2),
    /** Collections, each with one of its tokens: two that were sold, and the busiest of both standards. */
    nfts: [
      ...sold.slice(0, 2),
      ...[erc721, erc1155].flatMap((some) => {
        const [busiest] = mostFrequent(some.map(addressOf), 1);
        return some.filter(({ address }) => address === busiest).slice(0, 1);
      }),
    ].map(({ address, topics: [topic, , , last = '0x0'], data }) => ({
      ...{ token_address: address, token_id: String(BigInt(topic === TRANSFER ? last : data.slice(0, 66))) },
    })),
    transactions: [...new Set([...sales, ...erc20.map((log) => log.transactionHash)])].slice(0, 3),
    coinTypes: mostFrequent(
      coins.map(({ coinType }) => coinType),
      3,
    ),
    coinOwners: mostFrequent(
      coins.map(({ owner }) => owner),
      3,
    ),
  };
}

/** The most frequent values except the null address; equally frequent ones in the order of their text. */
function mostFrequent(values: readonly string[], count: number): string[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== NULL_ADDRESS) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ordered = [...counts].toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return ordered.slice(0, count).map(([value]) => value);
}

const addressOf = ({ address }: Log): string => address;
const addressIn = (topic = ''): string => `0x${topic.slice(-40)}`;
const recipientOf = ({ topics }: Log): string => addressIn(topics[0] === TRANSFER ? topics[2] : topics[3]);
