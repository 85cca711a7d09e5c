import { createConfig, factory } from 'ponder';
import { parseAbi, parseAbiItem } from 'viem';

export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.BENCH_DATABASE_URL ?? '' },
  // One URL of the node, or several. Ponder finds the rate of each.
  chains: { bench: { id: 1, rpc: (process.env.BENCH_RPC_URLS ?? '').split(',') } },
  contracts: {
    Token: {
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      chain: 'bench',
      address: factory({
        address: process.env.BENCH_ADDRESS as `0x${string}`,
        event: parseAbiItem('event Created(address indexed child, uint256 number)'),
        parameter: 'child',
      }),
      startBlock: 1,
      endBlock: Number(process.env.BENCH_END_BLOCK),
    },
  },
});
