import { type Address, type Hash, type Hex, parseHash, type Receipt } from '@chainstead/core';
import type { ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { addressOf, exampleChain, hashOf } from '@chainstead/testkit';
import { keccak256, toBytes } from 'viem';
import { expect, test } from 'vitest';
import { selectRows } from './block-store.ts';

const [SENDER, TOKEN, HOLDER, NFTS, OWNER, NOBODY_REQUESTED] = [1, 2, 3, 4, 5, 6].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const chain = exampleChain({ transactions: { mode: 'wallets', input: 'full', verifiesSenders: true } });

const wordOf = (value: bigint): string => value.toString(16).padStart(64, '0');
const topicOf = (value: Address | bigint): Hash => `0x${wordOf(BigInt(value))}` as Hash;

/** A transaction that the sender sent to the token's contract, with one log. */
function transactionWith(
  index: number,
  address: Address,
  signature: string,
  topics: readonly (Address | bigint)[],
  words: readonly bigint[],
) {
  const hash = parseHash(hashOf(1, index));
  const log = {
    ...{ address, logIndex: index, transactionIndex: index, transactionHash: hash, blockNumber: 9 },
    topics: [keccak256(toBytes(signature)) as Hash, ...topics.map(topicOf)],
    data: `0x${words.map(wordOf).join('')}` as Hex,
  };
  return {
    ...{ hash, index, type: 2, from: SENDER, to: TOKEN, nonce: 7n, value: 0n, gas: 90_000n, input: '0x' as Hex },
    ...{ succeeded: true, gasUsed: 50_000n, contractAddress: null, logs: [log], raw: { hash, gasPrice: '0x9' } },
    receipt: { transactionHash: hash, cumulativeGasUsed: 50_000n, raw: {} } as unknown as Receipt,
  } as unknown as ExecutedTransaction;
}

const block = {
  header: { number: 9, hash: hashOf(9, 0), raw: { baseFeePerGas: '0x2' } },
  transactions: [
    transactionWith(0, TOKEN, 'Transfer(address,address,uint256)', [SENDER, HOLDER], [5n]),
    transactionWith(1, NFTS, 'Transfer(address,address,uint256)', [OWNER, HOLDER, 7n], []),
    transactionWith(2, TOKEN, 'Approval(address,address,uint256)', [HOLDER, OWNER], [5n]),
    transactionWith(3, TOKEN, 'Transfer(address,address,uint256)', [SENDER, NOBODY_REQUESTED], [5n]),
  ],
  internalTransactions: [],
} as unknown as WholeBlock;

async function selectedFor(...wallets: readonly Address[]) {
  const lines = await selectRows(chain, [block], async () => new Set(wallets));
  return Object.fromEntries(lines.map(({ dataset, lines: rows }) => [dataset.name, rows.length]));
}

test('transactions of others in which a wallet that is asked for is a side, or approved something, are kept with it', async () => {
  expect(await selectedFor(HOLDER)).toEqual({ transactions: 3, 'account-transactions': 3 });
  expect(await selectedFor(OWNER)).toEqual({ transactions: 1, 'account-transactions': 1 });
  expect(await selectedFor(SENDER)).toEqual({ transactions: 4, 'account-transactions': 4 });
});

test('nothing is kept for those that nobody asked for', async () => {
  expect(await selectedFor(addressOf(99))).toEqual({});
});
