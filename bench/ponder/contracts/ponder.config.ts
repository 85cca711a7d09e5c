import { createConfig } from 'ponder';
import { http, parseAbi } from 'viem';

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.BENCH_DATABASE_URL ?? '' },
  // The rate limit does not bind.
  networks: { bench: { chainId: 1, transport: http(process.env.BENCH_RPC_URLS), maxRequestsPerSecond: 1_000 } },
  contracts: {
    Token: {
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      network: 'bench',
      address: process.env.BENCH_ADDRESS as `0x${string}`,
      startBlock: 1,
      endBlock: Number(process.env.BENCH_END_BLOCK),
    },
  },
});
