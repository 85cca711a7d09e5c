/** Approvals that a wallet gave in transactions of somebody else: by signature, or through a contract that it told to. */
import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import { hexBytes } from '@chainstead/db';
import { parseReceipt } from '@chainstead/rpc';
import { type Dataset, type ExecutedTransaction, executedTransaction, type WholeBlock } from '@chainstead/sync';
import {
  addressOf,
  createPartitions,
  createScratchDatabase,
  exampleChain,
  loadRecordedChain,
  recordedEvmFolder,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { accountTransactions, transactions } from '@chainstead/transactions';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LAST_BLOCK } from '../testing/history-stage.ts';
import { readPlaces } from './read-places.ts';

const folder = recordedEvmFolder();
if (folder === null)
  process.stderr.write('history/relayed-approvals.test.ts: NOT RUN, the recorded blocks are not here\n');

const chain = exampleChain({ transactions: { mode: 'all', input: 'full', provesSenders: false } });
const PERMIT2 = parseAddress('0x000000000022d473030f116ddee9f6b43ac78ba3');
const [TOKEN, SPENDER] = [parseAddress(addressOf(0x7001)), parseAddress(addressOf(0x7002))];
const [OF_ALL, REVOKED, BY_PERMIT2, OF_ONE, SUPPLIED] = [1, 2, 3, 4, 5].map((place) =>
  parseAddress(addressOf(0x8000 + place)),
) as unknown as readonly [Address, Address, Address, Address, Address];
const events = parseAbi([
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event Permit(address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration, uint48 nonce)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
]);

type Emitted = readonly [at: Address, topics: readonly (string | null | readonly unknown[])[], data: string];
const words = (...values: readonly bigint[]) =>
  encodeAbiParameters(
    values.map(() => ({ type: 'uint256' })),
    values,
  );
const topics = (eventName: 'ApprovalForAll' | 'Approval' | 'Permit' | 'Deposit', args: object) =>
  encodeEventTopics({ abi: events, eventName, args } as never);

/** What a transaction of somebody else emitted, each in one of its own. */
const EMITTED: readonly Emitted[] = [
  [TOKEN, topics('ApprovalForAll', { account: OF_ALL, operator: SPENDER }), words(1n)],
  [TOKEN, topics('ApprovalForAll', { account: REVOKED, operator: SPENDER }), words(0n)],
  [PERMIT2, topics('Permit', { owner: BY_PERMIT2, token: TOKEN, spender: SPENDER }), words(5n, 9n, 0n)],
  [TOKEN, topics('Approval', { owner: OF_ONE, approved: SPENDER, tokenId: 7n }), '0x'],
  [TOKEN, topics('Deposit', { sender: SPENDER, owner: SUPPLIED }), words(1n, 1n)],
];

describe.runIf(folder !== null)('the history of a wallet', () => {
  let scratch: ScratchDatabase;
  let block: WholeBlock;
  beforeAll(async () => {
    scratch = await createScratchDatabase();
    block = await altered();
    const { database } = scratch;
    const { number, hash } = block.header;
    await store(transactions);
    await store(accountTransactions);
    await database.query(
      'INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES ($1, $2, $3, now())',
      [chain.id, number, hexBytes(hash)],
    );
  });
  afterAll(() => scratch.drop());

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
    await database.query(
      `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, 0, $3, 'receipts')`,
      [chain.id, name, block.header.number],
    );
  }

  /** A recorded block whose first transactions emitted what is given, and nothing else. */
  async function altered(): Promise<WholeBlock> {
    const source = await loadRecordedChain({
      ...{ folder: folder ?? '', chain: 'ethereum' },
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
      header: { number: LAST_BLOCK, hash: parseHash(recorded.hash), raw: recorded.header } as WholeBlock['header'],
      transactions: executed.map((one, place) => {
        const [address, given, data] = EMITTED[place] ?? [];
        const logs =
          address === undefined ? [] : [{ ...example, address, topics: given as readonly Hash[], data: data as Hash }];
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
    return places.map(({ transactionIndex }) => transactionIndex);
  };

  test.each([
    ['approved all NFTs of a contract', OF_ALL, 0],
    ['took that back', REVOKED, 1],
    ['let somebody move tokens by Permit2', BY_PERMIT2, 2],
  ] as const)('has transactions of others in which it %s', async (_what, wallet, place) => {
    expect(await placesOf(wallet)).toEqual([place]);
  });

  test.each([
    ['approved a single NFT, which ends with its next move', OF_ONE],
    ['had something else done for it, without a transfer', SUPPLIED],
  ])('has none of others in which it %s', async (_what, wallet) => {
    expect(await placesOf(wallet)).toEqual([]);
  });
});
