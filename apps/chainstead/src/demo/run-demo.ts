import { errorText } from '@chainstead/core';
import { type ExpectedTrade, installDemoTools } from '@chainstead/testkit';
import type { CommandContext } from '../command-context.ts';
import { DEMO_CHAIN_NAME, type DemoChain, startDemoChain } from './demo-chain.ts';
import { startDemoCoins } from './demo-coins.ts';
import { checkDemo, type DemoProgram, startDemoProgram } from './demo-program.ts';
import { type DemoStream, startDemoStream } from './demo-stream.ts';
import { gatewayUrl } from './gateway-calls.ts';
import { createWebhookDisplay } from './webhook-display.ts';

const PAUSE_MS = 500;
/** So many rounds of traffic are the story; then the chain only shows that it goes on. */
const STORY_ROUNDS = 60;
const QUIET_PAUSE_MS = 30_000;
const CATCH_UP_MS_MAX = 20_000;

export interface DemoOptions {
  /** Every webhook gets a line; otherwise the newest one is shown in place. */
  readonly listsWebhooks: boolean;
}

/** The demo that goes on until it is stopped: traffic, and curl lines to look at it. */
export async function runDemo(context: CommandContext, { listsWebhooks }: DemoOptions): Promise<void> {
  await checkDemo(context);
  await installDemoTools({ report: (line) => context.stderr.write(`${line}\n`) });
  context.stdout.write(
    'Starting a local node with tokens, NFTs and a marketplace, and Chainstead with an embedded Postgres …\n',
  );
  const chain = await startDemoChain();
  const coins = await startDemoCoins();
  try {
    const [sale] = await chain.script.sell('listing');
    if (sale === undefined) throw new RangeError('A listing that is bought is one sale');
    const program = await startDemoProgram({ chain, coins }, context);
    const traffic = keepTrafficUp(chain, context);
    await untilCaughtUp(program.address, context);
    let invited = false;
    const { stdout: output, stopSignal: signal, clock } = context;
    const show = createWebhookDisplay({ output, clock, signal, listsAll: listsWebhooks });
    const stream = await startDemoStream(program.address, chain, (webhook) => {
      if (invited) show(webhook);
    });
    try {
      context.stdout.write(renderInvitation(program, chain, sale, stream));
      invited = true;
      await program.ended;
      await traffic;
    } finally {
      await stream.close();
    }
  } finally {
    await coins.fullnode.close();
    await chain.stop();
  }
}

/** So that the first curl line already has something to show. */
async function untilCaughtUp(address: string, { clock, stopSignal }: CommandContext): Promise<void> {
  const deadline = clock.now() + CATCH_UP_MS_MAX;
  while (!stopSignal.aborted && clock.now() < deadline) {
    const { ok } = await fetch(`${address}/synced`);
    if (ok) return;
    await clock.sleep(PAUSE_MS);
  }
}

async function keepTrafficUp(chain: DemoChain, { clock, stopSignal, stderr }: CommandContext): Promise<void> {
  for (let round = 1; !stopSignal.aborted; round += 1) {
    try {
      await chain.makeTraffic(1);
      await clock.sleep(round < STORY_ROUNDS ? PAUSE_MS : QUIET_PAUSE_MS, stopSignal);
    } catch (error) {
      if (stopSignal.aborted) return;
      stderr.write(`The traffic paused: ${errorText(error)}\n`);
      await clock.sleep(PAUSE_MS);
    }
  }
}

function renderInvitation(
  { address, adminKeyFile, dataDirectory }: DemoProgram,
  { wallets, tokens, market }: DemoChain,
  sale: ExpectedTrade,
  stream: DemoStream,
): string {
  const [wallet] = wallets;
  const [token] = tokens;
  const url = (path: string, query = ''): string => `'${address}/api/v2.2/${path}?chain=${DEMO_CHAIN_NAME}${query}'`;
  const collection = `nft/${market.cats.address}`;
  const sold = `nft/${sale.token}/${sale.tokenIds[0]}`;
  return `
Chainstead runs and indexes a local chain: busy for a minute, then with a round of traffic every 30 s.

  What a wallet holds of tokens, and of NFTs; who holds a token, and a collection:
    curl ${url(`${wallet}/erc20`)}
    curl ${url(`${wallet}/nft`, '&limit=3')}
    curl ${url(`erc20/${token}/owners`, '&limit=3')}
    curl ${url(`${collection}/owners`, '&limit=3')}
  The newest token transfers of a wallet; oldest first, of one token:
    curl ${url(`${wallet}/erc20/transfers`, '&limit=3')}
    curl ${url(`${wallet}/erc20/transfers`, `&limit=3&order=ASC&contract_addresses=${token}`)}
  The newest NFT trades of a collection; those of one token, and what it was sold for:
    curl ${url(`${collection}/trades`, '&limit=3')}
    curl ${url(`${sold}/trades`)}
    curl ${url(`${sold}/price`)}
  The NFT collections of a wallet; what a collection says of itself:
    curl ${url(`${wallet}/nft/collections`, '&token_counts=true')}
    curl ${url(`${collection}/metadata`)}
  What a wallet did, and its transactions; one of them with what its call and logs say, and its block:
    curl ${url(`wallets/${wallet}/history`, '&limit=3')}
    curl ${url(wallet ?? '', '&limit=3')}
    curl ${url(`transaction/${sale.transactionHash}/verbose`)}
    curl ${url(`block/${sale.blockNumber}`)}
  What a contract emitted; what a wallet did all in all, and on which chains:
    curl ${url(`${token}/logs`, '&limit=3')}
    curl '${address}/api/v2.2/wallets/${wallet}/insight?chains=${DEMO_CHAIN_NAME}'
    curl '${address}/api/v2.2/wallets/${wallet}/chains?chains=${DEMO_CHAIN_NAME}'
  A stream that watches ${stream.wallet} for transfers; what it delivered; every attempt:
    curl '${address}/streams/evm?limit=10'
    curl '${address}/stats'
    curl '${address}/history/logs?limit=5'
  The node itself, through the JSON-RPC gateway:
    curl '${gatewayUrl({ address })}' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
  The newest coins of a small Aptos ledger:
    curl '${address}/coins/latest?limit=3'
  Every route, to try out in a browser:
    ${address}/docs
  The console, in a browser; it asks for the key ${adminKeyFile === null ? 'that `chainstead keys create --scope admin` makes' : `in ${adminKeyFile}`}:
    ${address}/console
  Is it caught up? What does it measure?
    curl ${address}/synced
    curl ${address}/metrics
  Where it stands, what is covered, and how far that is proven (in another terminal):
    DATA_DIR=${dataDirectory} npx chainstead status
    DATA_DIR=${dataDirectory} npx chainstead gaps

Ctrl-C stops it and deletes its data. The webhooks that arrive at the stream's receiver (a line for each: --webhooks):
`;
}
