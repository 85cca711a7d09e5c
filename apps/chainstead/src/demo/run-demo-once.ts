import type { CommandContext } from '../command-context.ts';
import { startDemoChain } from './demo-chain.ts';
import { startDemoProgram } from './demo-program.ts';
import { awaitEquality } from './equality.ts';

const ROUNDS_OF_HISTORY = 8;
const ROUNDS_AT_THE_HEAD = 4;
const REORG_DEPTH = 6;

/**
 * The bounded demo: history, head and a reorganisation, each compared with the node. Everything is stopped at the end.
 * @throws DemoMismatchError when something is served that the node does not say
 */
export async function runDemoOnce(context: CommandContext): Promise<void> {
  const say = (text: string): unknown => context.stdout.write(`${text}\n`);
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([context.stopSignal, stop.signal]);
  say('Starting a local node with three ERC-20 tokens …');
  const chain = await startDemoChain();
  try {
    await chain.makeTraffic(ROUNDS_OF_HISTORY);
    say('Starting Chainstead with an embedded Postgres …');
    const program = await startDemoProgram(chain.devnet.url, { ...context, stopSignal }, 0);
    try {
      const compare = async (stage: string): Promise<void> => {
        const { clock } = context;
        const count = await awaitEquality({ stage, chain, api: program.address, clock, signal: stopSignal });
        say(`✓ ${stage}: ${count} transfers of ${chain.wallets.length} wallets, equal to the node's`);
      };
      await compare('history');
      await chain.makeTraffic(ROUNDS_AT_THE_HEAD);
      await compare('head');
      await chain.devnet.reorg(REORG_DEPTH);
      await chain.makeTraffic(1);
      await compare(`reorganisation of ${REORG_DEPTH} blocks`);
    } finally {
      stop.abort();
      await program.ended;
    }
  } finally {
    await chain.stop();
  }
}
