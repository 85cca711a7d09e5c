import { createConfig } from 'ponder';

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.BENCH_DATABASE_URL ?? '' },
  // One URL of the node, or several. Ponder finds the rate of each.
  chains: { bench: { id: 1, rpc: (process.env.BENCH_RPC_URLS ?? '').split(',') } },
  blocks: {
    Every: { chain: 'bench', interval: 1, startBlock: 1, endBlock: Number(process.env.BENCH_END_BLOCK) },
  },
});
