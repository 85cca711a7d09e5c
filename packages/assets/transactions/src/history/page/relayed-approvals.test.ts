/** Approvals that a wallet gave in other accounts' transactions: by signature, or through a contract that it called. */

import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { parseReceipt } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import type { Dataset, ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  exampleChain,
  loadRecordedChain,
  recordedData,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { accountTransactions, transactions } from '../../stored/datasets.ts';
import { readWalletPlaces } from '../insight/wallet-parts.ts';
import { LAST_BLOCK } from '../testing/history-stage.ts';
import { readPlaces } from './places-page.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const chain = exampleChain({ transactions: { mode: 'all', input: 'full', verifiesSenders: false } });
const PERMIT2 = parseAddress('0x000000000022d473030f116ddee9f6b43ac78ba3');
const [TOKEN, SPENDER] = [parseAddress(addressOf(0x7001)), parseAddress(addressOf(0x7002))];
const [OF_ALL, REVOKED, BY_PERMIT2, OF_ONE, SUPPLIED] = [1, 2, 3, 4, 5].map((place) =>
  parseAddress(addressOf(0x8000 + place)),
) as unknown as readonly [Address, Address, Address, Address, Address];
/**
 * topic0 of `ApprovalForAll(address,address,bool)`, ERC-721's `Approval`, Permit2's `Permit`, and ERC-4626's `Deposit`.
 */
const TOPICS = {
  approvalForAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
  permit: '0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec',
  deposit: '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
} as const;

const word = (value: string): string => value.replace(/^0x/, '').padStart(64, '0');
const topicsOf = (topic0: string, ...indexed: readonly string[]): readonly string[] => [
  topic0,
  ...indexed.map((value) => `0x${word(value)}`),
];
const dataOf = (...values: readonly number[]): string =>
  `0x${values.map((value) => word(String(value))).join('')}`;

/** Logs of other accounts' transactions, one transaction each. */
const EMITTED: readonly (readonly [at: Address, topics: readonly string[], data: string])[] = [
  [TOKEN, topicsOf(TOPICS.approvalForAll, OF_ALL, SPENDER), dataOf(1)],
  [TOKEN, topicsOf(TOPICS.approvalForAll, REVOKED, SPENDER), dataOf(0)],
  [PERMIT2, topicsOf(TOPICS.permit, BY_PERMIT2, TOKEN, SPENDER), dataOf(5, 9, 0)],
  [TOKEN, topicsOf(TOPICS.approval, OF_ONE, SPENDER, '7'), '0x'],
  [TOKEN, topicsOf(TOPICS.deposit, SPENDER, SUPPLIED), dataOf(1, 1)],
];

describe.skipIf(isMissing)(title('the history of a wallet'), () => {
  const scratch = scratchOfFile();
  let block: WholeBlock;
  beforeAll(async () => {
    block = await altered();
    const { database } = scratch;
    const { number, hash } = block.header;
    await store(transactions);
    await store(accountTransactions);
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${number}, ${hexBytes(hash)}, now())`,
    );
  });

  async function store<Row>({ name, table, wholeBlocks }: Dataset<Row>): Promise<void> {
    const { database } = scratch;
    await createPartitions(database, table.name, chain.id);
    const rows = wholeBlocks?.decode(block, { chain, timestampOf: () => 0 }) ?? [];
    await database.transaction((transaction) =>
      transaction.copy(
        table.name,
        table.columns,
        rows.map((row) => table.copyLine(row)),
      ),
    );
    await coverBlocks(database, chain.id, name, 0, block.header.number);
  }

  /** A recorded block whose first transactions emitted only the given logs. */
  async function altered(): Promise<WholeBlock> {
    const source = await loadRecordedChain({
      ...{ folder: folder, chain: 'ethereum' },
      blocks: { from: LAST_BLOCK, to: LAST_BLOCK },
    });
    const [recorded] = source.blocksIn({ from: LAST_BLOCK, to: LAST_BLOCK });
    if (recorded === undefined) throw new Error('The block is not recorded');
    const receipts = new Map(recorded.receipts.map((one) => [String(one.transactionHash).toLowerCase(), one]));
    const executed = recorded.transactions.flatMap((raw, index): ExecutedTransaction[] => {
      const receipt = receipts.get(String(raw.hash).toLowerCase());
      return receipt === undefined ? [] : [executedTransaction(raw, parseReceipt(receipt), index)];
    });
    const [example] = executed.flatMap(({ logs }) => logs);
    if (example === undefined) throw new Error('The block has no logs');
    return {
      header: {
        number: LAST_BLOCK,
        hash: parseHash(recorded.hash),
        raw: recorded.header,
      } as WholeBlock['header'],
      transactions: executed.map((one, place) => {
        const [address, given, data] = EMITTED[place] ?? [];
        const logs =
          address === undefined
            ? []
            : [{ ...example, address, topics: given as readonly Hash[], data: data as Hash }];
        return { ...one, logs };
      }),
      internalTransactions: [],
    };
  }

  const placesOf = async (wallet: Address): Promise<readonly number[]> => {
    const bounds = { fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null };
    const { places } = await readPlaces(scratch.database, chain, {
      ...{ wallet, order: 'DESC', limit: 10, after: null },
      ...bounds,
    });
    return places.map(({ transaction }) => transaction);
  };

  /** The inputs of the wallet's insight. */
  const countedOf = async (wallet: Address): Promise<readonly number[]> => {
    const places = await Array.fromAsync(readWalletPlaces(scratch.database, chain, wallet, LAST_BLOCK));
    return places.map(({ index }) => index);
  };

  test.each([
    ['approved all NFTs of a contract', OF_ALL, 0],
    ['took that back', REVOKED, 1],
    ['let somebody move tokens by Permit2', BY_PERMIT2, 2],
  ] as const)('has transactions of others in which it %s', async (_what, wallet, place) => {
    expect(await placesOf(wallet)).toEqual([place]);
    expect(await countedOf(wallet)).toEqual([place]);
  });

  test.each([
    ['approved a single NFT, which ends with its next move', OF_ONE],
    ['had something else done for it, without a transfer', SUPPLIED],
  ])('has none of others in which it %s', async (_what, wallet) => {
    expect(await placesOf(wallet)).toEqual([]);
    expect(await countedOf(wallet)).toEqual([]);
  });
});
