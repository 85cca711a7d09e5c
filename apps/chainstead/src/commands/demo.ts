import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead demo` */
export function demoCommand(context: CommandContext): Command {
  return new Command('demo')
    .description(
      'run everything against a local chain with tokens and NFT sales; needs nothing installed or configured',
    )
    .option('--webhooks', 'a line for every webhook that arrives, instead of the newest one in place')
    .option('--once', 'bounded: compare what is served with what the node says, then exit (0 only when equal)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { once?: boolean; webhooks?: boolean }) => {
      // The development tools behind it (node, compiler) must not weigh on every other command.
      if (options.once === true) {
        const { runDemoOnce } = await import('../demo/run-demo-once.ts');
        await runDemoOnce(context);
      } else {
        const { runDemo } = await import('../demo/run-demo.ts');
        await runDemo(context, { listsWebhooks: options.webhooks === true });
      }
    });
}

const EXAMPLES = `
The demo's database is its own and is deleted at the end; PORT and LOG_LEVEL are respected.

Examples:
  $ chainstead demo
  $ PORT=9000 chainstead demo
  $ chainstead demo --webhooks
  $ chainstead demo --once`;
