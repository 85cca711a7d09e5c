export interface ViemChain {
  readonly id: number;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: readonly string[];
  readonly multicall3: { readonly address: string; readonly blockCreated: number } | null;
}

// Copied: `viem/chains` loads 700 chains, a fifth of a process's start, and 40 MB.
const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';

function viemChain(
  id: number,
  name: string,
  symbol: string,
  multicall3Block: number | null,
  rpcUrls: readonly string[],
): ViemChain {
  const multicall3 = multicall3Block === null ? null : { address: MULTICALL3, blockCreated: multicall3Block };
  return { id, nativeCurrency: { name, symbol, decimals: 18 }, rpcUrls, multicall3 };
}

function withMulticall3(chain: ViemChain, address: string): ViemChain {
  return { ...chain, multicall3: chain.multicall3 && { ...chain.multicall3, address } };
}

export const arbitrum = viemChain(42161, 'Ether', 'ETH', 7654707, ['https://arb1.arbitrum.io/rpc']);
export const arbitrumSepolia = viemChain(421614, 'Arbitrum Sepolia Ether', 'ETH', 81930, [
  'https://sepolia-rollup.arbitrum.io/rpc',
]);
export const avalanche = viemChain(43114, 'Avalanche', 'AVAX', 11907934, [
  'https://api.avax.network/ext/bc/C/rpc',
]);
export const base = viemChain(8453, 'Ether', 'ETH', 5022, ['https://mainnet.base.org']);
export const baseSepolia = viemChain(84532, 'Sepolia Ether', 'ETH', 1059647, ['https://sepolia.base.org']);
export const blast = viemChain(81457, 'Ether', 'ETH', 212929, ['https://rpc.blast.io']);
export const blastSepolia = viemChain(168587773, 'Ether', 'ETH', 756690, ['https://sepolia.blast.io']);
export const bsc = viemChain(56, 'BNB', 'BNB', 15921452, ['https://56.rpc.thirdweb.com']);
export const bscTestnet = viemChain(97, 'BNB', 'tBNB', 17422483, [
  'https://data-seed-prebsc-1-s1.bnbchain.org:8545',
]);
export const chiliz = viemChain(88888, 'CHZ', 'CHZ', 8080847, ['https://rpc.chiliz.com']);
export const cronos = viemChain(25, 'Cronos', 'CRO', 1963112, ['https://evm.cronos.org']);
export const fantom = viemChain(250, 'Fantom', 'FTM', 33001987, ['https://250.rpc.thirdweb.com']);
export const fantomTestnet = viemChain(4002, 'Fantom', 'FTM', 8328688, ['https://rpc.testnet.fantom.network']);
export const flowMainnet = viemChain(747, 'Flow', 'FLOW', 6205, ['https://mainnet.evm.nodes.onflow.org']);
export const flowTestnet = viemChain(545, 'Flow', 'FLOW', 137518, ['https://testnet.evm.nodes.onflow.org']);
export const gnosis = viemChain(100, 'xDAI', 'XDAI', 21022491, ['https://rpc.gnosischain.com']);
export const gnosisChiado = viemChain(10200, 'Gnosis', 'xDAI', 4967313, ['https://rpc.chiadochain.net']);
export const holesky = viemChain(17000, 'Holesky Ether', 'ETH', 77, [
  'https://ethereum-holesky-rpc.publicnode.com',
]);
export const hyperEvm = viemChain(999, 'HYPE', 'HYPE', 13051, ['https://rpc.hyperliquid.xyz/evm']);
export const linea = viemChain(59144, 'Linea Ether', 'ETH', 42, ['https://rpc.linea.build']);
export const lineaSepolia = viemChain(59141, 'Linea Ether', 'ETH', 227427, ['https://rpc.sepolia.linea.build']);
export const lisk = withMulticall3(
  viemChain(1135, 'Ether', 'ETH', 0, ['https://rpc.api.lisk.com']),
  '0xa9d71e1dd7ca26f26e656e66d6aa81ed7f745bf0',
);
export const liskSepolia = viemChain(4202, 'Sepolia Ether', 'ETH', 0, ['https://rpc.sepolia-api.lisk.com']);
export const mainnet = viemChain(1, 'Ether', 'ETH', 14353601, ['https://ethereum.reth.rs/rpc']);
export const mantle = viemChain(5000, 'MNT', 'MNT', 304717, ['https://rpc.mantle.xyz']);
export const mantleSepoliaTestnet = viemChain(5003, 'MNT', 'MNT', 4584012, ['https://rpc.sepolia.mantle.xyz']);
export const monad = viemChain(143, 'Monad', 'MON', 9248132, ['https://rpc.monad.xyz', 'https://rpc1.monad.xyz']);
export const moonbaseAlpha = viemChain(1287, 'DEV', 'DEV', 1850686, [
  'https://rpc.api.moonbase.moonbeam.network',
]);
export const moonbeam = viemChain(1284, 'Moonbeam', 'GLMR', 609002, ['https://rpc.api.moonbeam.network']);
export const moonriver = viemChain(1285, 'Moonriver', 'MOVR', 1597904, [
  'https://rpc.api.moonriver.moonbeam.network',
]);
export const opBNB = viemChain(204, 'BNB', 'BNB', 512881, ['https://opbnb-mainnet-rpc.bnbchain.org']);
export const optimism = viemChain(10, 'Ether', 'ETH', 4286263, ['https://mainnet.optimism.io']);
export const optimismSepolia = viemChain(11155420, 'Sepolia Ether', 'ETH', 1620204, [
  'https://sepolia.optimism.io',
]);
export const palm = viemChain(11297108109, 'PALM', 'PALM', 15429248, ['https://palm-mainnet.public.blastapi.io']);
export const polygon = viemChain(137, 'POL', 'POL', 25770160, ['https://polygon.drpc.org']);
export const polygonAmoy = viemChain(80002, 'POL', 'POL', 3127388, ['https://polygon-amoy.drpc.org']);
export const polygonZkEvm = viemChain(1101, 'Ether', 'ETH', 57746, ['https://zkevm-rpc.com']);
export const polygonZkEvmCardona = viemChain(2442, 'Ether', 'ETH', 114091, ['https://rpc.cardona.zkevm-rpc.com']);
export const pulsechain = viemChain(369, 'Pulse', 'PLS', 14353601, ['https://rpc.pulsechain.com']);
export const ronin = viemChain(2020, 'RON', 'RON', 26023535, ['https://api.roninchain.com/rpc']);
export const saigon = viemChain(202601, 'RON', 'RON', 18736871, ['https://saigon-testnet.roninchain.com/rpc']);
export const sei = viemChain(1329, 'Sei', 'SEI', 0, ['https://evm-rpc.sei-apis.com/']);
export const seiTestnet = viemChain(1328, 'Sei', 'SEI', 98697651, ['https://evm-rpc-testnet.sei-apis.com']);
export const sepolia = viemChain(11155111, 'Sepolia Ether', 'ETH', 751532, ['https://11155111.rpc.thirdweb.com']);
export const spicy = viemChain(88882, 'CHZ', 'CHZ', null, [
  'https://spicy-rpc.chiliz.com',
  'https://chiliz-spicy-rpc.publicnode.com',
]);
export const zetachain = viemChain(7000, 'Zeta', 'ZETA', 1632781, [
  'https://zetachain-evm.blockpi.network/v1/rpc/public',
]);
export const zetachainAthensTestnet = viemChain(7001, 'Zeta', 'aZETA', 2715217, [
  'https://zetachain-athens-evm.blockpi.network/v1/rpc/public',
]);
export const zkSync = withMulticall3(
  viemChain(324, 'Ether', 'ETH', 3908235, ['https://mainnet.era.zksync.io']),
  '0xf9cda624fbc7e059355ce98a31693d299facd963',
);
export const zkSyncSepoliaTestnet = withMulticall3(
  viemChain(300, 'Ether', 'ETH', 0, ['https://sepolia.era.zksync.dev']),
  '0xf9cda624fbc7e059355ce98a31693d299facd963',
);
