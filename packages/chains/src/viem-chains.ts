/** What viem says of a chain, as far as it is used here. */
export interface ViemChain {
  readonly id: number;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  /** Public endpoints. */
  readonly rpcUrls: readonly string[];
  readonly multicall3: { readonly address: string; readonly blockCreated: number } | null;
}

// Copied, since `viem/chains` loads its 700 chains for any one of them: a fifth of the work of starting a process, and 40 MB.
export const arbitrum: ViemChain = {
  id: 42161,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://arb1.arbitrum.io/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 7654707 },
};
export const arbitrumSepolia: ViemChain = {
  id: 421614,
  nativeCurrency: { name: 'Arbitrum Sepolia Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://sepolia-rollup.arbitrum.io/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 81930 },
};
export const avalanche: ViemChain = {
  id: 43114,
  nativeCurrency: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
  rpcUrls: ['https://api.avax.network/ext/bc/C/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 11907934 },
};
export const base: ViemChain = {
  id: 8453,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://mainnet.base.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 5022 },
};
export const baseSepolia: ViemChain = {
  id: 84532,
  nativeCurrency: { name: 'Sepolia Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://sepolia.base.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 1059647 },
};
export const blast: ViemChain = {
  id: 81457,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.blast.io'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 212929 },
};
export const blastSepolia: ViemChain = {
  id: 168587773,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://sepolia.blast.io'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 756690 },
};
export const bsc: ViemChain = {
  id: 56,
  nativeCurrency: { name: 'BNB', symbol: 'BNB', decimals: 18 },
  rpcUrls: ['https://56.rpc.thirdweb.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 15921452 },
};
export const bscTestnet: ViemChain = {
  id: 97,
  nativeCurrency: { name: 'BNB', symbol: 'tBNB', decimals: 18 },
  rpcUrls: ['https://data-seed-prebsc-1-s1.bnbchain.org:8545'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 17422483 },
};
export const chiliz: ViemChain = {
  id: 88888,
  nativeCurrency: { name: 'CHZ', symbol: 'CHZ', decimals: 18 },
  rpcUrls: ['https://rpc.chiliz.com'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 8080847 },
};
export const cronos: ViemChain = {
  id: 25,
  nativeCurrency: { name: 'Cronos', symbol: 'CRO', decimals: 18 },
  rpcUrls: ['https://evm.cronos.org'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 1963112 },
};
export const fantom: ViemChain = {
  id: 250,
  nativeCurrency: { name: 'Fantom', symbol: 'FTM', decimals: 18 },
  rpcUrls: ['https://250.rpc.thirdweb.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 33001987 },
};
export const fantomTestnet: ViemChain = {
  id: 4002,
  nativeCurrency: { name: 'Fantom', symbol: 'FTM', decimals: 18 },
  rpcUrls: ['https://rpc.testnet.fantom.network'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 8328688 },
};
export const flowMainnet: ViemChain = {
  id: 747,
  nativeCurrency: { name: 'Flow', symbol: 'FLOW', decimals: 18 },
  rpcUrls: ['https://mainnet.evm.nodes.onflow.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 6205 },
};
export const flowTestnet: ViemChain = {
  id: 545,
  nativeCurrency: { name: 'Flow', symbol: 'FLOW', decimals: 18 },
  rpcUrls: ['https://testnet.evm.nodes.onflow.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 137518 },
};
export const gnosis: ViemChain = {
  id: 100,
  nativeCurrency: { name: 'xDAI', symbol: 'XDAI', decimals: 18 },
  rpcUrls: ['https://rpc.gnosischain.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 21022491 },
};
export const gnosisChiado: ViemChain = {
  id: 10200,
  nativeCurrency: { name: 'Gnosis', symbol: 'xDAI', decimals: 18 },
  rpcUrls: ['https://rpc.chiadochain.net'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 4967313 },
};
export const holesky: ViemChain = {
  id: 17000,
  nativeCurrency: { name: 'Holesky Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://ethereum-holesky-rpc.publicnode.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 77 },
};
export const hyperEvm: ViemChain = {
  id: 999,
  nativeCurrency: { name: 'HYPE', symbol: 'HYPE', decimals: 18 },
  rpcUrls: ['https://rpc.hyperliquid.xyz/evm'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 13051 },
};
export const linea: ViemChain = {
  id: 59144,
  nativeCurrency: { name: 'Linea Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.linea.build'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 42 },
};
export const lineaSepolia: ViemChain = {
  id: 59141,
  nativeCurrency: { name: 'Linea Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.sepolia.linea.build'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 227427 },
};
export const lisk: ViemChain = {
  id: 1135,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.api.lisk.com'],
  multicall3: { address: '0xA9d71E1dd7ca26F26e656E66d6AA81ed7f745bf0', blockCreated: 0 },
};
export const liskSepolia: ViemChain = {
  id: 4202,
  nativeCurrency: { name: 'Sepolia Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.sepolia-api.lisk.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 0 },
};
export const mainnet: ViemChain = {
  id: 1,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://ethereum.reth.rs/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 14353601 },
};
export const mantle: ViemChain = {
  id: 5000,
  nativeCurrency: { name: 'MNT', symbol: 'MNT', decimals: 18 },
  rpcUrls: ['https://rpc.mantle.xyz'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 304717 },
};
export const mantleSepoliaTestnet: ViemChain = {
  id: 5003,
  nativeCurrency: { name: 'MNT', symbol: 'MNT', decimals: 18 },
  rpcUrls: ['https://rpc.sepolia.mantle.xyz'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 4584012 },
};
export const monad: ViemChain = {
  id: 143,
  nativeCurrency: { name: 'Monad', symbol: 'MON', decimals: 18 },
  rpcUrls: ['https://rpc.monad.xyz', 'https://rpc1.monad.xyz'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 9248132 },
};
export const moonbaseAlpha: ViemChain = {
  id: 1287,
  nativeCurrency: { name: 'DEV', symbol: 'DEV', decimals: 18 },
  rpcUrls: ['https://rpc.api.moonbase.moonbeam.network'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 1850686 },
};
export const moonbeam: ViemChain = {
  id: 1284,
  nativeCurrency: { name: 'Moonbeam', symbol: 'GLMR', decimals: 18 },
  rpcUrls: ['https://rpc.api.moonbeam.network'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 609002 },
};
export const moonriver: ViemChain = {
  id: 1285,
  nativeCurrency: { name: 'Moonriver', symbol: 'MOVR', decimals: 18 },
  rpcUrls: ['https://rpc.api.moonriver.moonbeam.network'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 1597904 },
};
export const opBNB: ViemChain = {
  id: 204,
  nativeCurrency: { name: 'BNB', symbol: 'BNB', decimals: 18 },
  rpcUrls: ['https://opbnb-mainnet-rpc.bnbchain.org'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 512881 },
};
export const optimism: ViemChain = {
  id: 10,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://mainnet.optimism.io'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 4286263 },
};
export const optimismSepolia: ViemChain = {
  id: 11155420,
  nativeCurrency: { name: 'Sepolia Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://sepolia.optimism.io'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 1620204 },
};
export const palm: ViemChain = {
  id: 11297108109,
  nativeCurrency: { name: 'PALM', symbol: 'PALM', decimals: 18 },
  rpcUrls: ['https://palm-mainnet.public.blastapi.io'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 15429248 },
};
export const polygon: ViemChain = {
  id: 137,
  nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
  rpcUrls: ['https://polygon.drpc.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 25770160 },
};
export const polygonAmoy: ViemChain = {
  id: 80002,
  nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
  rpcUrls: ['https://polygon-amoy.drpc.org'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 3127388 },
};
export const polygonZkEvm: ViemChain = {
  id: 1101,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://zkevm-rpc.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 57746 },
};
export const polygonZkEvmCardona: ViemChain = {
  id: 2442,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.cardona.zkevm-rpc.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 114091 },
};
export const pulsechain: ViemChain = {
  id: 369,
  nativeCurrency: { name: 'Pulse', symbol: 'PLS', decimals: 18 },
  rpcUrls: ['https://rpc.pulsechain.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 14353601 },
};
export const ronin: ViemChain = {
  id: 2020,
  nativeCurrency: { name: 'RON', symbol: 'RON', decimals: 18 },
  rpcUrls: ['https://api.roninchain.com/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 26023535 },
};
export const saigon: ViemChain = {
  id: 202601,
  nativeCurrency: { name: 'RON', symbol: 'RON', decimals: 18 },
  rpcUrls: ['https://saigon-testnet.roninchain.com/rpc'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 18736871 },
};
export const sei: ViemChain = {
  id: 1329,
  nativeCurrency: { name: 'Sei', symbol: 'SEI', decimals: 18 },
  rpcUrls: ['https://evm-rpc.sei-apis.com/'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 0 },
};
export const seiTestnet: ViemChain = {
  id: 1328,
  nativeCurrency: { name: 'Sei', symbol: 'SEI', decimals: 18 },
  rpcUrls: ['https://evm-rpc-testnet.sei-apis.com'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 98697651 },
};
export const sepolia: ViemChain = {
  id: 11155111,
  nativeCurrency: { name: 'Sepolia Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://11155111.rpc.thirdweb.com'],
  multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11', blockCreated: 751532 },
};
export const spicy: ViemChain = {
  id: 88882,
  nativeCurrency: { name: 'CHZ', symbol: 'CHZ', decimals: 18 },
  rpcUrls: ['https://spicy-rpc.chiliz.com', 'https://chiliz-spicy-rpc.publicnode.com'],
  multicall3: null,
};
export const zetachain: ViemChain = {
  id: 7000,
  nativeCurrency: { name: 'Zeta', symbol: 'ZETA', decimals: 18 },
  rpcUrls: ['https://zetachain-evm.blockpi.network/v1/rpc/public'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 1632781 },
};
export const zetachainAthensTestnet: ViemChain = {
  id: 7001,
  nativeCurrency: { name: 'Zeta', symbol: 'aZETA', decimals: 18 },
  rpcUrls: ['https://zetachain-athens-evm.blockpi.network/v1/rpc/public'],
  multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11', blockCreated: 2715217 },
};
export const zkSync: ViemChain = {
  id: 324,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://mainnet.era.zksync.io'],
  multicall3: { address: '0xF9cda624FBC7e059355ce98a31693d299FACd963', blockCreated: 3908235 },
};
export const zkSyncSepoliaTestnet: ViemChain = {
  id: 300,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://sepolia.era.zksync.dev'],
  multicall3: { address: '0xF9cda624FBC7e059355ce98a31693d299FACd963', blockCreated: 0 },
};
