import type { BenchNode, ScratchDatabase } from '@chainstead/testkit';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { measureFollowing } from '../follow-chain.ts';

const TRANSACTIONS_PER_BLOCK = 200;
const LOGS_PER_TRANSACTION = 2;
/** Of the logs, as on Ethereum. */
const NFT_SHARE = 0.2;

/** As `follow`, with everything kept that a block holds: transactions with their senders, accounts, logs, transfers, NFTs. */
export const followAll: Benchmark = {
  name: 'follow-all',
  title: 'Following 20 blocks a second of 200 transactions with all datasets, announcement to API answer',
  async run(context) {
    const report = await measureFollowing(context, {
      chain: {
        transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
        logsPerTransaction: LOGS_PER_TRANSACTION,
        nftShare: NFT_SHARE,
        // Each sends one in every block, so that any of them can be watched.
        signers: TRANSACTIONS_PER_BLOCK,
      },
      env: { TRANSACTIONS_ETH: 'all', LOGS_ETH: 'all' },
      probe: async (node) => `${await anySender(node)}?chain=eth&limit=1`,
      inspect: requireAll,
    });
    const kept =
      'Kept are all datasets but internal transfers, with TRANSACTIONS_ETH=all, LOGS_ETH=all and the defaults otherwise: calldata whole, senders recovered.';
    return { ...report, notes: [...report.notes, kept] };
  },
};

async function anySender(node: BenchNode): Promise<string> {
  const response = await fetch(node.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x1', true] }),
  });
  const { result } = (await response.json()) as { result: { transactions: { from: string }[] } };
  const [first] = result.transactions;
  if (first === undefined) throw new BenchmarkError("The node's first block holds no transaction");
  return first.from;
}

/** @throws BenchmarkError where rows are missing: nothing would have been measured */
async function requireAll({ database }: ScratchDatabase, first: number, blocks: number): Promise<void> {
  const [found] = await database.query<{ transactions: number; senders: number; logs: number }>(
    `SELECT (SELECT count(*) FROM transactions WHERE block_number >= $1 AND sender_recovered) AS transactions,
       (SELECT count(*) FROM account_transactions WHERE block_number >= $1 AND roles > 0 AND roles & 1 = 1) AS senders,
       (SELECT count(*) FROM logs WHERE block_number >= $1) AS logs`,
    [first],
  );
  const transactions = blocks * TRANSACTIONS_PER_BLOCK;
  const wanted = { transactions, senders: transactions, logs: transactions * LOGS_PER_TRANSACTION };
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new BenchmarkError(`${JSON.stringify(found)} rows were written instead of ${JSON.stringify(wanted)}`);
}
