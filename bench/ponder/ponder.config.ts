import { createConfig, loadBalance } from 'ponder';
import { http, parseAbi } from 'viem';

// The URLs come from the benchmark: one, or several of the same node.
const urls = (process.env.BENCH_RPC_URLS ?? '').split(',');
/** Ponder's default, for each URL. */
const REQUESTS_PER_SECOND = 50;

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.BENCH_DATABASE_URL ?? '' },
  networks: {
    bench: {
      chainId: 1,
      transport: urls.length === 1 ? http(urls[0]) : loadBalance(urls.map((url) => http(url))),
      maxRequestsPerSecond: REQUESTS_PER_SECOND * urls.length,
    },
  },
  contracts: {
    Token: {
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      network: 'bench',
      startBlock: 1,
      endBlock: Number(process.env.BENCH_END_BLOCK),
    },
  },
});
