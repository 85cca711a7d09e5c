import { readFile } from 'node:fs/promises';
import { errorText } from '@chainstead/core';
import type { CommandContext } from '../session/command-context.ts';
import { DEMO_CHAIN_NAME, type DemoChain, startDemoChain } from './demo-chain.ts';
import { startDemoCoins } from './demo-coins.ts';
import {
  checkDemo,
  type DemoProgram,
  type DemoSources,
  ORDERS_LIST,
  ORDERS_PATH,
  ORDERS_VIEW,
  startDemoProgram,
} from './demo-program.ts';
import { createWebhookDisplay, type DemoStream, startDemoStream } from './demo-stream.ts';
import { installDemoTools } from './devnet/demo-tools.ts';
import type { ExpectedTrade } from './market/market-stall.ts';

const PAUSE_MS = 500;
const STORY_ROUNDS = 60;
const QUIET_PAUSE_MS = 30_000;
const CATCH_UP_MS_MAX = 60_000;

export interface DemoOptions {
  readonly listsWebhooks: boolean;
}

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
    await untilCaughtUp(program.address, chain, context);
    let invited = false;
    const { stdout: output, stopSignal: signal, clock } = context;
    const show = createWebhookDisplay({ output, clock, signal, listsAll: listsWebhooks });
    const stream = await startDemoStream(program.address, chain, (webhook) => {
      if (invited) show(webhook);
    });
    try {
      const key = program.adminKeyFile === null ? null : await readFile(program.adminKeyFile, 'utf8');
      const adminKey = key?.trim() ?? null;
      context.stdout.write(renderInvitation({ ...program, adminKey }, { chain, coins }, sale, stream));
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

/**
 * Waits for rows in the curl lines. Pools come last: proven after their blocks are stored. Supplies and collection
 * pictures are read once requested, so that the first responses a newcomer sees are whole.
 */
async function untilCaughtUp(
  address: string,
  { exchanges, market, wallets: [wallet] }: DemoChain,
  { clock, stopSignal }: CommandContext,
): Promise<void> {
  const url = (path: string): string => `${address}/api/v2.2/${path}?chain=${DEMO_CHAIN_NAME}`;
  const urls = [
    `${address}/synced`,
    url(`pairs/${exchanges.pools[0]?.pool}/swaps`),
    url(`${wallet}/erc20`),
    ...[market.cats, market.prints].map((collection) => url(`nft/${collection.address}/metadata`)),
  ];
  const unread = /"(total_supply|collection_logo)":null/;
  const deadline = clock.now() + CATCH_UP_MS_MAX;
  while (!stopSignal.aborted && clock.now() < deadline) {
    const whole = await Promise.all(
      urls.map(async (address) => {
        const response = await fetch(address);
        return response.ok && !unread.test(await response.text());
      }),
    );
    if (whole.every(Boolean)) return;
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
      stderr.write(`Traffic paused: ${errorText(error)}\n`);
      await clock.sleep(PAUSE_MS);
    }
  }
}

const NATIVE = `0x${'ee'.repeat(20)}`;

function renderInvitation(
  { address, adminKey, configurationFile, databaseUrl }: DemoProgram & { readonly adminKey: string | null },
  { chain: { wallets, tokens, market, exchanges }, coins }: DemoSources,
  sale: ExpectedTrade,
  stream: DemoStream,
): string {
  const [wallet] = wallets;
  const [token, ether] = tokens;
  const [pair] = exchanges.pools;
  const [trader] = exchanges.traders;
  const url = (path: string, query = ''): string =>
    `'${address}/api/v2.2/${path}?chain=${DEMO_CHAIN_NAME}${query}'`;
  const collection = `nft/${market.cats.address}`;
  const sold = `nft/${sale.token}/${sale.tokenIds[0]}`;
  return `
Chainstead indexes a local chain. The chain is busy for a minute, then has traffic every 30 s.

  Tokens and NFTs of a wallet; owners of a token and of a collection:
    curl ${url(`${wallet}/erc20`)}
    curl ${url(`${wallet}/nft`, '&limit=3')}
    curl ${url(`erc20/${token}/owners`, '&limit=3')}
    curl ${url(`${collection}/owners`, '&limit=3')}
  Latest token transfers of a wallet; transfers of one token, oldest first:
    curl ${url(`${wallet}/erc20/transfers`, '&limit=3')}
    curl ${url(`${wallet}/erc20/transfers`, `&limit=3&order=ASC&contract_addresses=${token}`)}
  Latest NFT trades of a collection; trades and sale price of one NFT:
    curl ${url(`${collection}/trades`, '&limit=3')}
    curl ${url(`${sold}/trades`)}
    curl ${url(`${sold}/price`)}
  NFT collections of a wallet; metadata of a collection:
    curl ${url(`${wallet}/nft/collections`, '&token_counts=true')}
    curl ${url(`${collection}/metadata`)}
  Swaps of a Uniswap pair, its candlesticks and reserves, and swaps of a wallet:
    curl ${url(`pairs/${pair?.pool}/swaps`, '&limit=3')}
    curl ${url(`pairs/${pair?.pool}/ohlcv`, '&timeframe=1min&fromDate=2020-01-01&toDate=2100-01-01')}
    curl ${url(`${pair?.pool}/reserves`)}
    curl ${url(`wallets/${trader}/swaps`, '&limit=3')}
  Price of ether, by the feed of the chain; price of a token, by its pool with a dollar token:
    curl ${url(`erc20/${NATIVE}/price`)}
    curl ${url(`erc20/${ether}/price`, '&explain=true')}
  The same price with its proof, checked offline; the output lists proven facts and assumptions:
    curl -f --retry 5 ${url(`erc20/${ether}/price`, '&proof=true')} > price.json && npx chainstead verify-price price.json
  Statistics of the pair; buys and sells of the token; tokens by name:
    curl ${url(`pairs/${pair?.pool}/stats`)}
    curl ${url(`erc20/${ether}/pairs`)}
    curl ${url(`tokens/${ether}/analytics`)}
    curl '${address}/api/v2.2/tokens/search?chains=${DEMO_CHAIN_NAME}&query=${ether}'
  Net worth of a wallet that trades; realized profit of one that bought low and sold high; top gainers of the token:
    curl '${address}/api/v2.2/wallets/${trader}/net-worth?chains=${DEMO_CHAIN_NAME}'
    curl ${url(`wallets/${exchanges.gainer}/profitability`)}
    curl ${url(`erc20/${ether}/top-gainers`)}
  History and transactions of a wallet; a decoded transaction, and its block:
    curl ${url(`wallets/${wallet}/history`, '&limit=3')}
    curl ${url(wallet ?? '', '&limit=3')}
    curl ${url(`transaction/${sale.transactionHash}/verbose`)}
    curl ${url(`block/${sale.blockNumber}`)}
  Orders of the marketplace, added as a contract of your own: all, by seller, and in SQL:
    curl ${url(ORDERS_PATH, '&limit=3')}
    curl ${url(ORDERS_PATH, `&limit=3&offerer=${sale.seller}`)}
    psql '${databaseUrl}' -c 'SELECT offerer, count(*) FROM ${ORDERS_VIEW} GROUP BY offerer'
  The same orders in GraphQL; GraphiQL is at this address in a browser:
    curl '${address}/graphql' -H 'content-type: application/json' -d '{"query":"{ ${ORDERS_LIST}(chain: \\"${DEMO_CHAIN_NAME}\\", first: 3) { totalCount { count } nodes { offerer block_number } } }"}'
  Event logs of a contract; summary and active chains of a wallet:
    curl ${url(`${token}/logs`, '&limit=3')}
    curl '${address}/api/v2.2/wallets/${wallet}/insight?chains=${DEMO_CHAIN_NAME}'
    curl '${address}/api/v2.2/wallets/${wallet}/chains?chains=${DEMO_CHAIN_NAME}'
  A stream of transfers of ${stream.wallet}; delivery statistics; delivery attempts:
    curl '${address}/streams/evm?limit=10'
    curl '${address}/stats'
    curl '${address}/history/logs?limit=5'
  The local node, through the JSON-RPC gateway:
    curl '${address}/${DEMO_CHAIN_NAME}/any-key' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
  Latest coins of a small Aptos ledger; transfers and top holders of one of them:
    curl '${address}/coins/latest?limit=3'
    curl '${address}/coins/transfers/${coins.traded.type}?limit=3'
    curl '${address}/coins/owners/${coins.traded.hash}/top-holders?limit=3'
  All routes, in a browser:
    ${address}/docs
  The console, in a browser. ${adminKey === null ? 'Sign in with the key from `chainstead keys create --scope admin`' : 'The link has its key'}:
    ${address}/console${adminKey === null ? '' : `/sign-in#key=${adminKey}`}
  Sync check and metrics:
    curl ${address}/synced
    curl ${address}/metrics
  Sync progress, indexed ranges with proof levels, and how a price is decided (in another terminal):
    npx chainstead --config ${configurationFile} status
    npx chainstead --config ${configurationFile} gaps
    npx chainstead --config ${configurationFile} explain-price --chain ${DEMO_CHAIN_NAME} --token ${ether}

Press Ctrl-C to stop the demo and delete its data. Webhooks received from the stream (--webhooks shows one line each):
`;
}
