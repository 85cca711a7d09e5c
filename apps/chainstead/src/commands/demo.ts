import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function demoCommand(context: CommandContext): Command {
  return new Command('demo')
    .description('Run everything against a local chain with sample tokens and NFT sales')
    .option('--webhooks', 'One line per received webhook, instead of the latest one in place')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { webhooks?: boolean }) => {
      // Imported here: the demo's node and compiler would slow down every other command.
      const { runDemo } = await import('../demo/run-demo.ts');
      await runDemo(context, { listsWebhooks: options.webhooks === true });
    });
}

const EXAMPLES = `
The demo needs no node, database or configuration. It uses its own database and deletes it at the end.
It respects PORT and LOG_LEVEL.

Examples:
  $ chainstead demo
  $ PORT=9000 chainstead demo
  $ chainstead demo --webhooks`;
