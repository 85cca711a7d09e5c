import { type Address, parseAddress } from '@chainstead/core';

interface NativeTokenContract {
  readonly address: string;
  readonly chainIds: readonly number[];
}

/** zkSync Era, Abstract, Lens, Sophon, ZERO, Treasure, Cronos zkEVM, GRVT and BattleChain, with testnets (viem `zksync/chainConfig`). */
export const ZK_STACK: ReadonlySet<number> = new Set([
  ...[324, 300, 260, 270, 272, 2741, 11_124, 232, 37_111, 50_104, 531_050_104, 543_210, 61_166, 978_658],
  ...[388, 240, 325, 626, 627, 1_612_127],
]);

/**
 * Contracts whose `balanceOf` is the native balance. Their logs repeat native transfers, so they are no ERC-20 tokens.
 * Each line names its source. Wrapped native tokens have separate balances, so they do not belong here.
 */
const NATIVE_TOKEN_CONTRACTS: readonly NativeTokenContract[] = [
  // maticnetwork/genesis-contracts `MRC20.sol`; forks of Bor: Shibarium and Puppynet. Polygon, Amoy, Mumbai.
  { address: '0x0000000000000000000000000000000000001010', chainIds: [137, 80_002, 80_001, 109, 157] },
  // docs.moonbeam.network, Native Token ERC-20 Precompile: Moonbeam, Moonriver, Moonbase Alpha.
  { address: '0x0000000000000000000000000000000000000802', chainIds: [1284, 1285, 1287] },
  // docs.celo.org, Token duality and Core contracts (GoldToken, CeloToken): Celo and Celo Sepolia, Alfajores, Baklava.
  { address: '0x471ece3750da237f93b8e339c536989b8978a438', chainIds: [42_220, 11_142_220] },
  { address: '0xf194afdf50b03e69bd7d057c1aa9e10c9954e4c9', chainIds: [44_787] },
  { address: '0xddc9be57f553fe75752d61606b94cbd7e0264ef8', chainIds: [62_320] },
  // era-contracts `L2BaseToken.sol`: a `Transfer` for every move of the base token.
  { address: '0x000000000000000000000000000000000000800a', chainIds: [...ZK_STACK] },
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
  // docs.stable.xyz, USDT0: 6 decimals for a native balance of 18.
  { address: '0x779ded0c9e1022225f8e0630b35a9b54be713736', chainIds: [988] },
];

export function nativeTokenContracts(chainId: number): readonly Address[] {
  return NATIVE_TOKEN_CONTRACTS.filter(({ chainIds }) => chainIds.includes(chainId)).map(({ address }) =>
    parseAddress(address),
  );
}
