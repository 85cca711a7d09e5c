import { createConfig } from 'ponder';
import { parseAbi } from 'viem';

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.BENCH_DATABASE_URL ?? '' },
  // Ponder finds the rate limit itself: that of this node does not bind.
  chains: { bench: { id: 1, rpc: process.env.BENCH_RPC_URLS } },
  contracts: {
    Token: {
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      chain: 'bench',
      address: process.env.BENCH_ADDRESS as `0x${string}`,
      startBlock: 1,
      endBlock: Number(process.env.BENCH_END_BLOCK),
    },
  },
});
