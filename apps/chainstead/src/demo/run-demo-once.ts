import { installDemoTools } from '@chainstead/testkit';
import type { CommandContext } from '../session/command-context.ts';
import { readComparisons } from './comparisons.ts';
import { startDemoChain } from './demo-chain.ts';
import { compareCoins, startDemoCoins } from './demo-coins.ts';
import { compareContract } from './demo-contract.ts';
import { startDemoProgram } from './demo-program.ts';
import { startDemoStream } from './demo-stream.ts';
import { awaitEquality } from './equality.ts';
import { watchWebhooks } from './watch-webhooks.ts';

/** One sale each: all kinds of sale occur. */
const ROUNDS_OF_HISTORY = 9;
const ROUNDS_AT_THE_HEAD = 4;
const REORG_DEPTH = 6;

/**
 * Runs the bounded demo: history, head and a reorg that removes a sale. Each is compared with the node, and so are the webhooks of a stream. Everything is stopped at the end.
 * @throws DemoMismatchError if the API and the node return different data
 */
export async function runDemoOnce(context: CommandContext): Promise<void> {
  await installDemoTools({ report: (line) => context.stderr.write(`${line}\n`) });
  const say = (text: string): unknown => context.stdout.write(`${text}\n`);
  const stop = new AbortController();
  const stopSignal = AbortSignal.any([context.stopSignal, stop.signal]);
  say('Starting a local node with ERC-20 tokens, NFT collections and a marketplace …');
  const chain = await startDemoChain();
  const coins = await startDemoCoins();
  try {
    await chain.makeTraffic(ROUNDS_OF_HISTORY);
    say('Starting Chainstead with an embedded Postgres …');
    const program = await startDemoProgram({ chain, coins }, { ...context, stopSignal }, 0);
    try {
      const compare = async (stage: string): Promise<void> => {
        const api = { address: program.address };
        const comparisons = [
          ...(await readComparisons(chain, api)),
          await compareContract(chain.devnet, chain.market, api),
          ...compareCoins(coins, api),
        ];
        await awaitEquality({ stage, comparisons, clock: context.clock, signal: stopSignal });
        say(`✓ ${stage}: the API and the node return the same data`);
        for (const { subject, expected } of comparisons) say(`    ${String(expected.length).padStart(4)} ${subject}`);
      };
      await compare('history');
      const stream = await startDemoStream(program.address, chain);
      try {
        const webhooks = await watchWebhooks(chain, stream, { clock: context.clock, signal: stopSignal });
        await chain.makeTraffic(ROUNDS_AT_THE_HEAD);
        await compare('head');
        await webhooks.beforeReorg();
        await chain.devnet.reorg(REORG_DEPTH);
        await chain.makeTraffic(1);
        await compare(`reorg of ${REORG_DEPTH} blocks`);
        for (const line of await webhooks.afterReorg()) say(line);
      } finally {
        await stream.close();
      }
    } finally {
      stop.abort();
      await program.ended;
    }
  } finally {
    await coins.fullnode.close();
    await chain.stop();
  }
}
