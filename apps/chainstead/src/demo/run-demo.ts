import { errorText } from '@chainstead/core';
import type { CommandContext } from '../command-context.ts';
import { type DemoChain, startDemoChain } from './demo-chain.ts';
import { DEMO_CHAIN_NAME, startDemoProgram } from './demo-program.ts';

const PAUSE_MS = 500;
const CATCH_UP_MS_MAX = 20_000;

/** The demo that goes on until it is stopped: traffic, and curl lines to look at it. */
export async function runDemo(context: CommandContext): Promise<void> {
  context.stdout.write('Starting a local node with three ERC-20 tokens, and Chainstead with an embedded Postgres …\n');
  const chain = await startDemoChain();
  try {
    const program = await startDemoProgram(chain.devnet.url, context);
    const traffic = keepTrafficUp(chain, context);
    await untilCaughtUp(program.address, context);
    context.stdout.write(renderInvitation(program.address, chain));
    await program.ended;
    await traffic;
  } finally {
    await chain.stop();
  }
}

/** So that the first curl line already has something to show. */
async function untilCaughtUp(address: string, { clock, stopSignal }: CommandContext): Promise<void> {
  const deadline = clock.now() + CATCH_UP_MS_MAX;
  while (!stopSignal.aborted && clock.now() < deadline) {
    const { ok } = await fetch(`${address}/ready`);
    if (ok) return;
    await clock.sleep(PAUSE_MS);
  }
}

async function keepTrafficUp(chain: DemoChain, { clock, stopSignal, stderr }: CommandContext): Promise<void> {
  while (!stopSignal.aborted) {
    try {
      await chain.makeTraffic(1);
      await clock.sleep(PAUSE_MS, stopSignal);
    } catch (error) {
      if (stopSignal.aborted) return;
      stderr.write(`The traffic paused: ${errorText(error)}\n`);
      await clock.sleep(PAUSE_MS);
    }
  }
}

function renderInvitation(address: string, { wallets, tokens }: DemoChain): string {
  const [wallet] = wallets;
  const [token] = tokens;
  const transfers = `${address}/api/v2.2/${wallet}/erc20/transfers?chain=${DEMO_CHAIN_NAME}`;
  return `
Chainstead runs and indexes a local chain that never stands still.

  The newest transfers of a wallet:
    curl '${transfers}&limit=3'
  Oldest first, of one token:
    curl '${transfers}&limit=3&order=ASC&contract_addresses=${token}'
  Every route, to try out in a browser:
    ${address}/docs
  Is it caught up? What does it measure?
    curl ${address}/ready
    curl ${address}/metrics

Ctrl-C stops it and deletes its data.
`;
}
