/** NFTs minted, moved and sold on a local node, and the real program over it. */
import {
  type Closable,
  closeOf,
  createMarketScript,
  createScratchDatabase,
  deployMarket,
  type Program,
  type ScratchDatabase,
  startDevnet,
  startProgram,
} from '@chainstead/testkit';
import { DEMO_CHAIN_NAME, type TradedChain } from 'chainstead/src/demo/demo-chain.ts';
import { readComparisons } from './demo/comparisons.ts';
import type { DemoApi } from './demo/demo-api.ts';
import { compareFacts } from './demo/equality.ts';
import { waitUntil } from './indexed-chain.ts';

export const NFT_STAGE_KEY = 'acceptance-key-0123456789';

/** The chain, before and while it is indexed. */
export interface NftStage extends TradedChain, Closable {
  readonly chainId: number;
  /** Starts the program over the chain, with a new database unless one is given. Both end with the stage. */
  index(environment?: Readonly<Record<string, string>>, database?: ScratchDatabase): Promise<IndexedNfts>;
}

/** The program at work. */
export interface IndexedNfts {
  readonly program: Program;
  readonly scratch: ScratchDatabase;
  readonly api: DemoApi;
  /** Until every list, price, collection and owner is served as the node has it. The chain must stand still. */
  untilServedAsTheNodeSays(): Promise<void>;
}

/** Every kind of sale once, and tokens that move without one. */
export async function createNftStage(chainId: number): Promise<NftStage> {
  await using parts = new AsyncDisposableStack();
  const devnet = parts.adopt(await startDevnet({ chainId }), (one) => one.stop());
  const market = await deployMarket(devnet);
  const script = createMarketScript(devnet, market);
  await script.answerEtherPrice(2_345.67);
  for (const kind of script.kinds) await script.sell(kind);
  await script.moveAround();
  await script.answerEtherPrice(3_000);
  const chain: TradedChain = { devnet, market, script, wallets: market.traders };
  const later = parts.use(new AsyncDisposableStack());
  return {
    ...chain,
    chainId,
    async index(environment = {}, database) {
      // A given database goes with the stage too.
      const scratch = later.adopt(database ?? (await createScratchDatabase()), (one) => one.drop());
      const program = later.adopt(
        startProgram(['start'], {
          environment: {
            DATABASE_URL: scratch.url,
            PORT: '0',
            API_KEYS: NFT_STAGE_KEY,
            CHAINS: DEMO_CHAIN_NAME,
            CHAIN_ID_DEVNET: String(chainId),
            RPC_URLS_DEVNET: devnet.url,
            START_BLOCK_DEVNET: '0',
            // Lists of wallets are compared whole, also of those without an earlier request.
            TRANSACTIONS_DEVNET: 'all',
            POLL_INTERVAL_MS: '50',
            MARKETPLACES_DEVNET: `seaport-1.6:${market.seaport.address}`,
            ETHER_FEED_DEVNET: market.etherFeed.address,
            BALANCE_MAX_AGE_MS: '0',
            LOG_LEVEL: 'warn',
            ...environment,
          },
        }),
        (one) => one.kill(),
      );
      const api = { address: await program.url, key: NFT_STAGE_KEY };
      const one = { program, scratch, api, untilServedAsTheNodeSays: () => untilEqual(chain, api, program) };
      return one;
    },
    ...closeOf(parts),
  };
}

async function untilEqual(chain: TradedChain, api: DemoApi, program: Program): Promise<void> {
  for (const { subject, expected, served } of await readComparisons(chain, api))
    await waitUntil(async () => {
      const difference = compareFacts(expected, await served());
      return difference === null ? null : `${subject}: ${difference}\n${program.output()}`;
    });
}
