import { type Address, parseAddress } from '@chainstead/core';

interface NativeTokenContract {
  readonly address: string;
  readonly chainIds: readonly number[];
}

/**
 * zkSync Era and its local nodes, Abstract, Sophon, Treasure, BattleChain and PlayFi, with testnets: viem's definitions with
 * `zksync/chainConfig`. Cronos zkEVM (388): the same in earlier versions of viem. ZERO (543210): relay-protocol's network list.
 */
export const ZK_STACK: ReadonlySet<number> = new Set([
  ...[324, 300, 260, 270, 272, 2741, 11_124, 50_104, 531_050_104, 61_166, 978_658, 626, 627, 1_612_127],
  ...[388, 543_210],
]);
/** `balanceOf` is the native balance; every move of it emits a `Transfer` (era-contracts `L2BaseToken.sol`). */
export const ZK_BASE_TOKEN = parseAddress('0x000000000000000000000000000000000000800a');

/**
 * Contracts whose `balanceOf` is the native balance. Their logs repeat native transfers, so they are no ERC-20 tokens.
 * Each line names its source. Wrapped native tokens have separate balances, so they do not belong here.
 */
const NATIVE_TOKEN_CONTRACTS: readonly NativeTokenContract[] = [
  // maticnetwork/genesis-contracts `MRC20.sol`: Polygon, Amoy, Mumbai, and the forks of its node, Shibarium and Puppynet.
  { address: '0x0000000000000000000000000000000000001010', chainIds: [137, 80_002, 80_001, 109, 157] },
  // docs.moonbeam.network, Native Token ERC-20 Precompile: Moonbeam, Moonriver, Moonbase Alpha.
  { address: '0x0000000000000000000000000000000000000802', chainIds: [1284, 1285, 1287] },
  // docs.celo.org, Token duality and Core contracts (GoldToken, CeloToken): Celo and Celo Sepolia, Alfajores, Baklava.
  { address: '0x471ece3750da237f93b8e339c536989b8978a438', chainIds: [42_220, 11_142_220] },
  { address: '0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9', chainIds: [44_787] },
  { address: '0xddc9be57f553fe75752d61606b94cbd7e0264ef8', chainIds: [62_320] },
  { address: ZK_BASE_TOKEN, chainIds: [...ZK_STACK] },
  // optimism `Predeploys.sol`, `LEGACY_ERC20_ETH` (before Bedrock `OVM_ETH`); Mantle's `LEGACY_ERC20_MNT`; Metis' `MVM_Coinbase`.
  // OP Mainnet and Sepolia, Base, Lisk, opBNB, Blast, Mantle; Metis Andromeda, Sepolia, Goerli.
  {
    address: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
    chainIds: [
      ...[10, 11_155_420, 8453, 84_532, 1135, 4202, 204, 81_457, 168_587_773, 5000, 5003],
      ...[1088, 59_902, 599],
    ],
  },
  // docs.arc.network, Contract addresses: 6 decimals for a native balance of 18.
  { address: '0x3600000000000000000000000000000000000000', chainIds: [5042, 5_042_002] },
  // docs.chainstack.com, Stable tooling (USDT0): 6 decimals for a native balance of 18.
  { address: '0x779ded0c9e1022225f8e0630b35a9b54be713736', chainIds: [988] },
];

export function nativeTokenContracts(chainId: number): readonly Address[] {
  return NATIVE_TOKEN_CONTRACTS.filter(({ chainIds }) => chainIds.includes(chainId)).map(({ address }) =>
    parseAddress(address),
  );
}
