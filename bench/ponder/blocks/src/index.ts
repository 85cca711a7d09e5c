import { ponder } from 'ponder:registry';
import { header, transaction } from 'ponder:schema';

ponder.on('Every:block', async ({ event, context }) => {
  const { number, hash, parentHash, timestamp, miner, gasUsed } = event.block;
  if (process.env.BENCH_ROWS === 'header') {
    await context.db.insert(header).values({ number, hash, parentHash, timestamp, miner, gasUsed });
    return;
  }
  // A block event has no transactions: they are read here, through Ponder's cache.
  const { transactions } = await context.client.getBlock({ blockNumber: number, includeTransactions: true });
  if (transactions.length === 0) return;
  await context.db.insert(transaction).values(
    transactions.map((one) => ({
      hash: one.hash,
      blockNumber: number,
      transactionIndex: one.transactionIndex,
      from: one.from,
      to: one.to,
      value: one.value,
      nonce: one.nonce,
      gas: one.gas,
    })),
  );
});
